"""The list of folders and tables: nothing above the first folder, whatever is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.base.errors import BadFile
from shoal.studio.sources import folder_list
from shoal.studio.sources.folder_list import listed


@pytest.fixture
def start(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    (top / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    for name in ("b.csv", "A.parquet", "clinic.db", "note.docx", ".hidden.csv", "noending"):
        (top / name).write_text("x")
    (top / "sub" / "c.xlsx").write_text("xy")
    (tmp_path / "secret" / "s.csv").write_text("x")
    (top / "out").symlink_to(tmp_path / "secret")
    (top / "out.csv").symlink_to(tmp_path / "secret" / "s.csv")
    (top / "in.csv").symlink_to(top / "b.csv")
    (top / "loop").symlink_to(top / "loop")
    return top


def test_folders_and_tables_are_listed(start: Path) -> None:
    found = listed(start, "")
    assert found.folders == (("sub", "sub"),)
    assert [one.name for one in found.files] == ["A.parquet", "b.csv", "clinic.db", "in.csv"]
    assert found.above == ()
    inside = listed(start, "sub")
    assert inside.folders == (("deep", "sub/deep"),)
    assert [(one.path, one.size) for one in inside.files] == [("sub/c.xlsx", 2)]
    assert listed(start, "sub/deep").above == (("sub", "sub"), ("deep", "sub/deep"))


@pytest.mark.parametrize(
    "path",
    ["..", "../secret", "sub/../..", "/", "/etc", "out", "loop", "b.csv", "nothing", "a\0b", "~"],
)
def test_no_way_leads_out(start: Path, path: str) -> None:
    with pytest.raises(BadFile, match="this folder is not there"):
        listed(start, path)


def test_long_lists_are_cut(start: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_list, "MOST", 2)
    found = listed(start, "")
    assert (len(found.files), found.more) == (2, 2)
