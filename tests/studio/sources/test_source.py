"""Where tables come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.base.errors import BadFile
from shoal.studio.sources.source import (
    file_of_source,
    has_layout,
    is_gone,
    of_database,
    of_file,
    of_invented,
    restored,
    same,
    where,
)
from shoal.studio.tasks.open import source_of


def test_a_file_of_a_database_needs_a_table_later(tmp_path: Path) -> None:
    source = of_file(tmp_path / "clinic.db", uploaded=True)
    assert source["kind"] == "database"
    assert source["table"] is None
    assert file_of_source(source) == tmp_path / "clinic.db"
    assert has_layout(source) == {"table"}


def test_a_path_is_stored_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a b.db").touch()
    monkeypatch.chdir(tmp_path)
    source = of_database("sqlite:///a%20b.db", "people", None)
    monkeypatch.chdir("/")
    assert source_of(source).file == tmp_path / "a b.db"
    monkeypatch.chdir(tmp_path)
    source = of_database("a b.db", "people", None)
    monkeypatch.chdir("/")
    assert source_of(source).file == tmp_path / "a b.db"


@pytest.mark.parametrize(
    "address",
    ["postgresql://ann:secret@host/clinic", "postgresql://ann@host/clinic?password=secret",
     "host=a user=b password=secret"],
)  # fmt: skip
def test_a_password_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(BadFile) as caught:
        of_database(address, "people", None)
    assert "secret" not in str(caught.value)


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="there is no file"):
        of_database(f"sqlite:///{tmp_path}/nothing.db", "people", None)
    assert of_database("postgresql://ann@host/clinic", "people", None)["table"] == "people"


def test_a_copy_that_was_removed_is_missed_unless_it_can_be_made_again(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    assert is_gone(of_file(path, uploaded=True))
    assert not is_gone(of_file(path))  # of the user: reading it says what is wrong
    invented = of_invented(path)
    restored(invented)
    first = path.read_bytes()
    path.unlink()
    restored(invented)
    assert path.read_bytes() == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert not is_gone(invented)


def test_the_same_table_is_recognized(tmp_path: Path) -> None:
    one = of_database("postgresql://ann@host/clinic", "people", None)
    assert same(one, {**one, "uploaded": True})
    assert not same(one, {**one, "table": "visits"})
    assert not same(one, of_file(tmp_path / "x.csv"))


def test_where_it_is(tmp_path: Path) -> None:
    assert where(of_file(tmp_path / "x.csv")) == str(tmp_path)
    assert where(of_file(tmp_path / "x.csv", uploaded=True)) == ""
    assert where(of_database("postgresql://ann@host/clinic", "people", None)).endswith("people")


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("x.csv", {"encoding", "delimiter", "quote", "header", "comment"}),
        ("x.tsv.gz", {"encoding", "delimiter", "quote", "header", "comment"}),
        ("x.ods", {"sheet", "header", "header_row", "last_row"}),
        ("x.sav", {"encoding"}),
        ("x.parquet", set()),
        ("x.jsonl", set()),
    ],
)
def test_settings_that_matter(name: str, layout: set[str]) -> None:
    assert has_layout(of_file(Path(name))) == layout
