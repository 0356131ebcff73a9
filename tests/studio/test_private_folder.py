"""The private folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.base.errors import BadFile
from shoal.studio.private_folder import PrivateFolder


def test_only_its_owner_can_enter(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path / "a" / "b")
    assert folder.path.stat().st_mode & 0o777 == 0o700
    written = folder.write("x.json", b"{}")
    assert written.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "a/b", "a\\b", ".hidden", "", "c:", "\0"])
def test_no_name_leads_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadFile):
        PrivateFolder(tmp_path / "kept").inside(name)


def test_a_damaged_file_counts_as_none(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path / "kept")
    folder.write("x.json", b"{")
    assert folder.read_json("x.json", 7) == 7
    folder.write_json("x.json", {"a": "ä"})
    assert folder.read_json("x.json", 7) == {"a": "ä"}


def test_it_can_be_wiped(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path / "kept")
    folder.folder("inside").write("x", b"1")
    folder.wipe()
    assert not folder.path.exists()
