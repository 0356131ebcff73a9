"""Compiled kernels are kept where only their user can write."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from shoal.base.kernel_files import code_folder
from shoal.base.kernel_files.code_folder import FOLDER
from tests.base.kernel_files.tiny_kernel import (
    SOURCE,
    environment,
    posix,
    run,
    words,
)


@pytest.mark.slow
@posix
def test_item_13_where_nothing_can_be_written_a_private_temporary_folder_serves(package, tmp_path):
    """A service account: neither the package nor HOME is writable."""
    temporary, home = tmp_path / "tmp", tmp_path / "home"
    temporary.mkdir()
    temporary.chmod(0o1777)
    home.mkdir()
    home.chmod(0o555)
    package.chmod(0o555)
    value, compiled, folder, said = run(package, home=home, power=False, TMPDIR=str(temporary))
    assert (value, compiled) == ("42", True)
    assert folder.parent == temporary / f"shoal-{os.geteuid()}"
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert "set SHOAL_CACHE" in said
    again = run(package, home=home, power=False, TMPDIR=str(temporary))
    assert again == ("42", False, folder, "")
    chosen = tmp_path / "chosen"
    chosen.mkdir(mode=0o755)
    found = run(package, home=home, power=False, SHOAL_CACHE=str(chosen))
    assert found == ("42", True, chosen / FOLDER, "")


@posix
def test_item_13_the_whole_command_line_starts_there(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o555)
    copy = tmp_path / "site" / "shoal"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *copy.rglob("*/")]:
        folder.chmod(0o555)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    places = {"PYTHONPATH": str(copy.parent), "TMPDIR": str(temporary)}
    for line in (["list", "losses"], ["--help"]):
        done = subprocess.run(
            [*words(False), "-m", "shoal", *line],
            env=environment(home, **places),
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
    assert (temporary / f"shoal-{os.geteuid()}").is_dir()


def folder_of(package: Path) -> Path | None:
    return code_folder.folder(package)


@pytest.fixture
def nowhere(package, tmp_path, monkeypatch):
    """A package, a home and temporary files that are plain files: no folder can be made there."""
    (package / "__pycache__").write_text("")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    for variable in (*code_folder.VARIABLES, "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return package


def test_item_13_without_any_folder_kernels_are_compiled_each_time(nowhere, caplog):
    assert folder_of(nowhere) is None
    assert "every run compiles all it needs" in caplog.text


def test_item_13_a_user_without_a_home(nowhere, tmp_path, monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = folder_of(nowhere)
    assert found is not None
    assert found.parent.parent == tmp_path


@posix
def test_item_13_no_folder_that_somebody_else_could_have_written(nowhere, tmp_path, monkeypatch):
    """Links, folders that others may write to, and folders of other users."""
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setenv("SHOAL_CACHE", str(open_to_all))
    assert folder_of(nowhere) is None
    open_to_all.chmod(0o755)
    mine = folder_of(nowhere)
    assert mine == open_to_all / FOLDER
    (mine / "planted.code").write_text("")
    mine.chmod(0o775)  # others may have written to it: it is created again
    assert folder_of(nowhere) == mine
    assert not list(mine.iterdir())
    mine.rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    mine.symlink_to(elsewhere)
    assert folder_of(nowhere) is None
    mine.unlink()
    if os.geteuid() == 0:
        mine.mkdir(mode=0o755)
        os.chown(mine, 12345, 12345)
        assert folder_of(nowhere) is None
        mine.rmdir()
        os.chown(open_to_all, 12345, 12345)
        assert folder_of(nowhere) is None
