"""Files that are dropped: stored whole and private, or not at all."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import pytest

from shoal.base.errors import BadFile
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.sources import uploads
from shoal.studio.sources.uploads import NoSpace, TooLarge, ending_of, received


async def parts(
    content: Iterable[bytes], error: BaseException | None = None
) -> AsyncIterator[bytes]:
    for part in content:
        yield part
    if error is not None:
        raise error


def receive(
    tmp_path: Path, content: Iterable[bytes], stated: int | None = None, most: int = 100,
    title: str = "people.csv", error: BaseException | None = None,
) -> Path:  # fmt: skip
    folder = PrivateFolder(tmp_path / "uploads")
    return asyncio.run(received(folder, title, stated, parts(content, error), most))


def left(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "uploads").iterdir())


def test_a_file_is_stored_as_it_comes_and_is_private(tmp_path: Path) -> None:
    path = receive(tmp_path, [b"a,b\n", b"1,2\n"], stated=8)
    assert path.read_bytes() == b"a,b\n1,2\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.suffix == ".csv"
    assert "people" not in path.name  # the name may be that of a person


def test_a_file_that_is_too_large_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match=r"people\.csv has more than"):
        receive(tmp_path, [b"x" * 60, b"x" * 60])
    assert left(tmp_path) == []


def test_a_file_that_says_so_is_refused_before_it_comes(tmp_path: Path) -> None:
    def unread() -> Iterable[bytes]:
        raise AssertionError("nothing should be read")
        yield b""

    with pytest.raises(TooLarge):
        receive(tmp_path, unread(), stated=101)


@pytest.mark.parametrize("error", [ConnectionError("gone"), asyncio.CancelledError()])
def test_a_lost_connection_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        receive(tmp_path, [b"a,b\n"], error=error)
    assert left(tmp_path) == []


def test_a_file_that_is_cut_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="did not arrive whole"):
        receive(tmp_path, [b"a,b\n"], stated=9)
    assert left(tmp_path) == []
    with pytest.raises(BadFile, match="is empty"):
        receive(tmp_path, [])
    assert left(tmp_path) == []


def test_a_full_disk_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, path: Path) -> None:
            path.touch()

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            return

        def write(self, part: bytes) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(uploads, "private", Full)
    with pytest.raises(NoSpace, match=r"no space for people\.csv"):
        receive(tmp_path, [b"a"])
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("title", "ending"),
    [
        ("people.csv", ".csv"),
        ("People v1.2.CSV", ".csv"),
        ("people.2024.tsv.GZ", ".tsv.gz"),
        ("C:\\data\\people.sav", ".sav"),
        ("../../etc/people.parquet", ".parquet"),
        ("clinic.db", ".db"),
        ("x.duckdb", ".duckdb"),
        ("ä.ö.xlsx", ".xlsx"),
    ],
)
def test_the_ending_says_what_it_is(title: str, ending: str) -> None:
    assert ending_of(title) == ending


@pytest.mark.parametrize("title", ["people", "people.docx", "", ".csv", "a.csv/..", "people.gz"])
def test_other_files_are_refused(title: str) -> None:
    with pytest.raises(BadFile, match="cannot tell the format"):
        ending_of(title)
