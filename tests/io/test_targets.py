"""Targets: files appear whole or not at all, and bad targets are refused first."""

import os

import pytest

from shoal.base.errors import BadFile, BadTable
from shoal.io.frames import atomic, check_target, read, write
from tests.io.tables import ODD_TEXT, as_read, file, values


def test_atomic_gives_a_path_next_to_the_target_and_renames_it(tmp_path):
    target = tmp_path / "release.v1.csv.gz"
    with atomic(str(target)) as beside:
        assert beside.parent == tmp_path
        assert beside.name.endswith(".csv.gz")
        assert not target.exists()
        write(as_read(ODD_TEXT), beside)
    assert values(read(target)) == ODD_TEXT
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, BadTable])
@pytest.mark.parametrize("before", [None, "old"])
def test_atomic_leaves_nothing_half_written(error, before, tmp_path):
    target = tmp_path / "release.csv"
    if before:
        target.write_text(before)
    with pytest.raises(error), atomic(target) as beside:  # noqa: PT012
        beside.write_text("half")
        raise error
    assert [path.read_text() for path in tmp_path.iterdir()] == [before] * bool(before)


def test_atomic_names_the_target_when_the_disk_is_full(tmp_path):
    target = tmp_path / "release.csv"
    with pytest.raises(BadFile, match=r"release\.csv: No space"), atomic(target) as beside:  # noqa: PT012
        beside.write_text("half")
        raise OSError(28, "No space left on device")
    assert not list(tmp_path.iterdir())


def test_atomic_follows_links_and_serves_any_ending(tmp_path):
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    link.symlink_to(real)
    with atomic(link) as beside:
        beside.write_text("<p>")
    assert link.is_symlink()
    assert real.read_text() == "<p>"


@pytest.mark.parametrize("check", [check_target, lambda path: atomic(path).__enter__()])
def test_targets_that_cannot_be_written_are_refused_before_any_work(check, tmp_path, monkeypatch):
    blocker = file(tmp_path, "", "plain")
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for path, message in [
        (tmp_path / "nowhere" / "x.csv", "no directory .*nowhere; make it first"),
        (blocker / "x.csv", "plain is not a directory"),
        (tmp_path / "folder.csv", "it is a directory"),
        (tmp_path / "pipe.csv", "not a regular file"),
    ]:
        with pytest.raises(BadFile, match=message):
            check(path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    with pytest.raises(BadFile, match="no permission to write in the directory"):
        check(tmp_path / "x.csv")


def test_a_good_target_is_left_alone(tmp_path, monkeypatch):
    check_target(tmp_path / "x.csv")
    check_target(file(tmp_path, "old", "old.parquet"))
    monkeypatch.chdir(tmp_path)
    check_target("x.tsv.zst")
    assert [path.name for path in tmp_path.iterdir()] == ["old.parquet"]
