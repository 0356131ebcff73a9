"""File formats: their interface, and the format of a file by its name.

The formats are in the folder `formats`, one per file. None of these modules imports a heavy
library, as the help of the command line lists the endings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from filecmp import cmp
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from shoal.base.errors import BadFile, ShoalError
from shoal.base.folder_registry import FolderRegistry

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.io.reading import Reading

Progress: TypeAlias = Callable[[int, int], None]  # bytes read so far, size of the file
# Names in a file: the column of the plan that each is of, and what is added to its name.
FileNames: TypeAlias = Mapping[str, tuple[str, str]]
DAMAGED = "it is damaged, incomplete, or not of the format that its name says"


class FirstRows(NamedTuple):
    """The first rows of a file, as a look at it before it is read."""

    names: list[str]
    rows: list[list[str | None]]  # None: nothing is in the cell
    faults: tuple[str, ...] = ()  # why the file cannot be read like this, as far as it shows
    encoding: str = ""  # of a text file
    delimiter: str = ""
    lines: tuple[str, ...] = ()  # of a text file or a sheet, as they are


class Format(ABC):
    """A file format: how its files are named, read and written."""

    name: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]  # of file names, in lower case: ".csv"
    reads_only: ClassVar[tuple[str, ...]] = ()  # those of the endings that cannot be written
    packings: ClassVar[tuple[str, ...]] = ()  # endings of compressed files, which follow the others
    keeps_types: ClassVar[bool]  # whether files store the types of columns
    compressed: ClassVar[bool] = False  # whether all of its files are
    streams: ClassVar[bool] = False  # whether files are read and written part by part

    @classmethod
    def summary(cls) -> str:
        """What it is, in one line: the first line of the docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0]

    def check_installed(self) -> None:  # noqa: B027
        """Raise an error if a library is missing: what is written is read back."""

    def check_names(self, names: FileNames) -> None:  # noqa: B027
        """Raise an error if a file cannot store columns of these names."""

    @abstractmethod
    def read(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> pa.Table:
        """Read a file into an arrow table; `reading` is what the plan states about its files.

        Errors must not contain cells. Errors of the operating system and of arrow may pass: the
        caller replaces their messages.
        """

    def read_packed(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> pa.Table:
        """The same; columns of text may be packed (see `packed_texts`), where that is faster."""
        return self.read(path, progress, reading)

    @abstractmethod
    def write(self, table: pa.Table, path: Path, reading: Reading | None = None) -> None:
        """Write a table to exactly this path; the same table always gives the same bytes.

        `reading` is how the file will be read again.
        """

    def read_between(
        self, path: Path, progress: Progress | None, reading: Reading | None, top: int, height: int
    ) -> pa.Table:
        """Read so many records after the first `top` ones, which are none, and no others."""
        return self.read(path, progress, reading).slice(top, height)

    def with_rows(self, path: Path, reading: Reading) -> Reading:
        """The same with the rows of the table, if they are not stated and the file has others."""
        return reading

    def first_names(self, path: Path, reading: Reading) -> list[str]:
        """The names in the first row, whatever row is stated; none if that does not matter."""
        return []

    def schema(self, path: Path, reading: Reading | None = None) -> pa.Schema:
        """Names and types of the columns, as `read` has them."""
        return self.read(path, None, reading).schema

    def batches(
        self, path: Path, progress: Progress | None, reading: Reading | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read a file part by part; errors as in `read`, some of them only at the end."""
        yield from self.read(path, progress, reading).to_batches()

    def first_rows(self, path: Path, most: int, reading: Reading | None = None) -> FirstRows:
        """The first rows; formats that need not read the whole file for them do not."""
        return first_of(self.batches(path, None, reading), most)

    def sheets(self, path: Path) -> list[str]:
        """The names of the tables that a file has, if it can have several."""
        return []

    def coded_batches(
        self,
        path: Path,
        coded: Sequence[str],
        reading: Reading | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Read a file part by part, these columns of text as dictionaries if it stores them so."""
        yield from self.batches(path, None, reading)

    def write_parts(
        self,
        schema: pa.Schema,
        parts: Iterable[pa.Table],
        path: Path,
        reading: Reading | None = None,
    ) -> str | None:
        """Write a table that comes part by part.

        Returns what `check_parts` needs to check the bytes of the file.
        """
        import pyarrow as pa

        self.write(pa.concat_tables([schema.empty_table(), *parts]), path, reading)
        return None

    def check_parts(
        self,
        path: Path,
        written: str | None,
        reading: Reading | None = None,
    ) -> None:
        """Raise an error unless a file that `write_parts` wrote contains only its cells."""
        self.check_bytes(path, self.read(path, None, reading), reading)

    def check_bytes(self, path: Path, table: pa.Table, reading: Reading | None = None) -> None:
        """Raise an error unless the file of this table contains only its cells.

        By default what is stored is written again and must give exactly the bytes of the file.
        """
        with TemporaryDirectory() as folder:
            again = Path(folder, path.name)
            self.write(self.stored(table), again, reading)
            if not cmp(path, again, shallow=False):
                raise holds_more("bytes that do not follow from them")

    def stored(self, table: pa.Table) -> pa.Table:
        """What a file stores of a table: the cells, and nothing else."""
        from shoal.io.arrow_tables import compact_table  # needs pyarrow

        return compact_table(table)


def first_of(parts: Iterable[pa.RecordBatch], most: int) -> FirstRows:
    """The first rows of a table that comes part by part; no more parts are read than needed."""
    from shoal.io.native.values import cell_values, text  # needs pyarrow

    names: list[str] = []
    rows: list[list[str | None]] = []
    for part in parts:
        names = list(part.schema.names)
        cells = [cell_values(one) for one in part.slice(0, most - len(rows)).columns]
        rows += [
            [None if value is None else text(value) for value in row]
            for row in zip(*cells, strict=True)
        ]
        if len(rows) >= most:
            break
    return FirstRows(names, rows)


formats = FolderRegistry("shoal.io.formats", Format)  # type: ignore[type-abstract]


def format_of(path: Path) -> Format:
    """The format of a file by its name.

    >>> format_of(Path("people.2024.TSV.gz")).name
    'tsv'
    """
    packing = packing_of(path)
    endings = [ending.lower() for ending in path.suffixes]
    ending = "".join(endings[-2:-1] if packing else endings[-1:])
    for kind in formats.values():
        if ending in kind.endings and (not packing or packing in kind.packings):
            return kind()
    raise BadFile(f"cannot tell the format of {path} from its name; use {known_endings()}")


def check_writes(path: Path) -> None:
    """Raise an error unless files of this name can be written."""
    form, ending = format_of(path), path.suffix.lower()
    if ending in form.reads_only:
        able = [one for kind in formats.values() for one in kind.endings]
        kept = [one for one in able if not any(one in kind.reads_only for kind in formats.values())]
        raise BadFile(
            f"cannot write {path}: files that end in {ending} can be read but not written; use "
            f"{', '.join(kept[:-1])} or {kept[-1]}"
        )


class NotInstalled(BadFile):
    """A format needs a library that is not installed."""


def not_installed(what: str, library: str, extra: str) -> NotInstalled:
    """The error for a format whose library is not installed."""
    return NotInstalled(
        f"{what} needs {library}, which is not installed: pip install 'shoal[{extra}]'"
    )


def packing_of(path: Path) -> str:
    """The ending of a compressed file; "" for others."""
    ending = path.suffix.lower()
    return ending if any(ending in kind.packings for kind in formats.values()) else ""


def known_endings() -> str:
    """The endings of all formats, for messages.

    >>> known_endings().split(" or ")[0]
    '.csv, .txt, .jsonl, .ndjson, .tsv, .tab (also followed by .gz, .xz, .zst)'
    """
    alike: dict[tuple[str, ...], list[str]] = {}  # by packings
    for kind in formats.values():
        alike.setdefault(kind.packings, []).extend(kind.endings)
    return " or ".join(
        ", ".join(endings) + (f" (also followed by {', '.join(packings)})" if packings else "")
        for packings, endings in alike.items()
    )


def holds_more(what: str) -> ShoalError:
    """The error for a written file that contains more than its table."""
    return ShoalError(
        f"the file that was written contains more than the cells of its table: {what}; this is a "
        "bug in shoal, and nothing is released"
    )
