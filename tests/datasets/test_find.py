from __future__ import annotations

import gzip
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from shoal.base.errors import BadFile
from shoal.datasets import _find
from shoal.datasets._find import Copy, File

CONTENT = b"1, red\n22, ?\n"
COLOURS = File(
    folder="colours",
    names=("colours.data", "colours.csv"),
    columns=("number", "colour"),
    numbers=frozenset({"number"}),
    rows=2,
    sha256=_find.sha256(CONTENT),
    copies=(
        Copy("shoal_no_such_package", "colours.dat", "colour-pack"),
        Copy("shoal_fake_package", "data/colours.dat", "other-pack==2"),
    ),
)
ROWS = {"number": [1, 22], "colour": ["red", None]}


class Site:
    """A web site on this machine, and the requests that it got."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "colours" / "colours.data"
        self.file.parent.mkdir(parents=True)
        self.requests: list[str] = []
        self.delay = 0.0
        self.promised: int | None = None  # a content length that is a lie


class Handler(SimpleHTTPRequestHandler):
    def __init__(self, *args: object, site: Site, **options: object) -> None:
        self.site = site
        super().__init__(*args, directory=str(site.file.parent.parent), **options)  # type: ignore[arg-type]

    def log_message(self, *args: object) -> None:
        self.site.requests.append(self.path)

    def send_header(self, keyword: str, value: str) -> None:
        if keyword == "Content-Length" and self.site.promised is not None:
            value = str(self.site.promised)
        super().send_header(keyword, value)

    def do_GET(self) -> None:
        time.sleep(self.site.delay)
        with suppress(OSError):  # who asked may have gone away
            super().do_GET()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("SHOAL_CACHE", str(folder))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(_find, "UCI", (tmp_path / "nowhere").as_uri())
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site(tmp_path / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, site=site)) as server:
        monkeypatch.setattr(_find, "UCI", f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield site
        server.shutdown()
        thread.join()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "packages" / "shoal_fake_package"
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('nobody should import this')")
    monkeypatch.syspath_prepend(folder.parent)
    return folder / "data" / "colours.dat"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


# Downloads


def test_a_download_is_kept_and_not_fetched_again(site: Site, cache: Path) -> None:
    site.file.write_bytes(CONTENT)
    assert _find.load(COLOURS).to_pydict() == ROWS
    assert files(cache) == ["colours.data"]
    assert (cache / "colours" / "colours.data").read_bytes() == CONTENT
    assert _find.load(COLOURS).to_pydict() == ROWS
    assert len(site.requests) == 1


def test_other_line_ends_are_the_same_content(site: Site) -> None:
    site.file.write_bytes(b"1, red\r\n22, ?  \r\n\r\n")
    assert _find.load(COLOURS).to_pydict() == ROWS


def test_another_content_is_refused_and_not_kept(site: Site, cache: Path) -> None:
    site.file.write_bytes(b"1, blue\n22, ?\n")
    with pytest.raises(
        BadFile, match=r"is not colours\.data: its SHA-256 is .* expected .*"
    ) as got:
        _find.load(COLOURS)
    assert "pip install" in str(got.value)
    assert files(cache) == []


def test_a_missing_page_names_a_way_out(site: Site) -> None:
    with pytest.raises(BadFile, match="404") as got:
        _find.load(COLOURS)
    assert "give the path of a copy of colours.data" in str(got.value)
    assert "pip install --no-deps colour-pack or other-pack==2" in str(got.value)


def test_no_network_names_a_way_out(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        port = server.server_port  # free again once the server is closed
    monkeypatch.setattr(_find, "UCI", f"http://127.0.0.1:{port}")
    with pytest.raises(BadFile, match=r"cannot download .*colours\.data: .*; give the path"):
        _find.load(COLOURS)
    assert not cache.exists()


def test_half_a_download_is_refused(site: Site, cache: Path) -> None:
    site.file.write_bytes(CONTENT)
    site.promised = 1000
    with pytest.raises(BadFile, match="cannot download"):
        _find.load(COLOURS)
    assert files(cache) == []


def test_a_site_that_hangs_is_left(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.file.write_bytes(CONTENT)
    site.delay = 0.5
    monkeypatch.setattr(_find, "TIMEOUT", 0.05)
    with pytest.raises(BadFile, match="timed out"):
        _find.load(COLOURS)


# Cache


@pytest.mark.parametrize("broken", [b"", b"1, red\n", b"\x1f\x8b no gzip"])
def test_a_damaged_cache_is_repaired(site: Site, cache: Path, broken: bytes) -> None:
    site.file.write_bytes(CONTENT)
    _find.keep(broken, cache / "colours" / "colours.data")
    assert _find.load(COLOURS).to_pydict() == ROWS
    assert (cache / "colours" / "colours.data").read_bytes() == CONTENT
    assert len(site.requests) == 1


def test_a_damaged_cache_is_never_used(cache: Path) -> None:
    _find.keep(b"1, blue\n22, ?\n", cache / "colours" / "colours.data")
    with pytest.raises(BadFile, match="cannot download"):
        _find.load(COLOURS)


def test_a_cache_that_cannot_be_written_is_harmless(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.file.write_bytes(CONTENT)
    (tmp_path / "a file").touch()
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "a file"))
    assert _find.load(COLOURS).to_pydict() == ROWS


def test_a_file_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "taken" / "by a folder").mkdir(parents=True)
    with pytest.raises(OSError, match="taken"):
        _find.keep(CONTENT, tmp_path / "taken")
    assert files(tmp_path) == []


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "own"))
    assert _find.cache() == tmp_path / "own"
    monkeypatch.delenv("SHOAL_CACHE")
    assert _find.cache() == tmp_path / "xdg" / "shoal"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert _find.cache() == tmp_path / "home" / ".cache" / "shoal"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert _find.cache() == tmp_path / "home" / ".cache" / "shoal"


# Packages


def test_a_package_is_looked_into_and_not_imported(package: Path) -> None:
    package.write_bytes(b"@relation colours\r\n@data\r\n1,red\r\n22,?\r\n")
    assert _find.load(COLOURS).to_pydict() == ROWS
    assert "shoal_fake_package" not in sys.modules


@pytest.mark.parametrize("other", [b"1,red\n", b"1\n22\n", b"one,red\n22,?\n", b"\x1f\x8b", b""])
def test_a_package_with_other_content_is_passed_over(
    package: Path, site: Site, other: bytes
) -> None:
    package.write_bytes(other)
    site.file.write_bytes(CONTENT)
    assert _find.load(COLOURS).to_pydict() == ROWS
    assert len(site.requests) == 1


# The user's own path


@pytest.mark.parametrize("name", ["any.txt", "colours.data", "colours.csv"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_path_is_the_file(tmp_path: Path, name: str, packed: bool) -> None:
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(CONTENT) if packed else CONTENT)
    assert _find.load(COLOURS, path).to_pydict() == ROWS


@pytest.mark.parametrize("below", ["", "colours"])
@pytest.mark.parametrize("name", ["colours.data", "colours.csv", "colours.data.gz"])
def test_a_path_is_a_folder_with_the_file(tmp_path: Path, below: str, name: str) -> None:
    folder = tmp_path / "data" / below
    folder.mkdir(parents=True)
    (folder / name).write_bytes(gzip.compress(CONTENT) if name.endswith("gz") else CONTENT)
    assert _find.load(COLOURS, str(tmp_path / "data")).to_pydict() == ROWS


def test_a_path_goes_before_all_else_and_may_hold_anything(tmp_path: Path, package: Path) -> None:
    package.write_bytes(CONTENT)
    (tmp_path / "own.csv").write_bytes(b"7,green\n")
    table = _find.load(COLOURS, tmp_path / "own.csv")
    assert table.to_pydict() == {"number": [7], "colour": ["green"]}


def test_a_path_without_the_file_is_an_error_even_with_a_package(
    tmp_path: Path, package: Path
) -> None:
    package.write_bytes(CONTENT)
    with pytest.raises(BadFile, match="no file or folder"):
        _find.load(COLOURS, tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFile, match=r"contains none of 'colours\.data', 'colours\.data\.gz'"):
        _find.load(COLOURS, tmp_path / "empty")


@pytest.mark.parametrize("header", ["number,colour\n", '"Number","Colour"\n', "@data\n", "|note\n"])
def test_headers_are_no_rows(tmp_path: Path, header: str) -> None:
    (tmp_path / "colours.csv").write_bytes(header.encode() + CONTENT)
    assert _find.load(COLOURS, tmp_path).to_pydict() == ROWS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no rows"),
        (b"@data\n\n", "has no rows"),
        (b"1;red\n", "is not a table of the 2 columns number, colour"),
        (b"1,red,x\n", "is not a table of the 2 columns number, colour"),
        (b"1,red\n2\n", "is not a table of the 2 columns number, colour"),
        (b"1,\xff\n", "is not a table of the 2 columns number, colour"),
        (b"one,red\n1.5,red\n3,red\n", r"column 'number' .* but has 'one', '1\.5'"),
        (b"\x1f\x8b no gzip", "cannot read"),
    ],
)
def test_what_is_no_such_table_is_an_error(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "colours.csv").write_bytes(content)
    with pytest.raises(BadFile, match=message) as got:
        _find.load(COLOURS, tmp_path)
    assert "colours.csv" in str(got.value)


def test_item_13_the_cache_needs_no_home(monkeypatch):
    for variable in ("SHOAL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)

    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert _find.cache().name == "shoal"
