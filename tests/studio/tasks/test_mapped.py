"""A large table is kept in a file without a name: it is the same table, and takes no memory."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shoal import Plan
from shoal.base.progress import silent
from shoal.studio.tasks import _mapped, rank, sample
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import Overview, run

ROWS = 20_000
JOBS = ("cook", "nurse", "")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    rows = [
        f"p{i:06},{18 + i * 7 % 70},{JOBS[i % 3]},{i % 28 + 1:02}.03.19{i % 90 + 10}"
        for i in range(ROWS)
    ]
    path.write_text("\n".join(["id,age,job,born", *rows]) + "\n", encoding="utf-8")
    return path


def opened(table: Path, folder: Path | None) -> tuple[Held, Overview]:
    held, source = Held(), {"kind": "file", "path": str(table)}
    where = None if folder is None else str(folder)
    overview = run(held, silent, source=source, reading={}, folder=where)
    held.catch_up()  # as a process does when the overview was sent
    return held, overview


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mapped, "LARGE", 1)


@pytest.mark.skipif(os.name != "posix", reason="files that are used keep their names elsewhere")
@pytest.mark.usefixtures("everything_is_large")
def test_the_table_is_in_no_memory_and_in_no_folder(table: Path, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    gc.collect()
    before = pa.total_allocated_bytes()
    held, _ = opened(table, folder)
    gc.collect()
    assert held["frame"].native.nbytes > 500_000
    assert pa.total_allocated_bytes() - before < 100_000
    assert all(not one.codes.flags.owndata for one in held["examined"].facts.values())
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("everything_is_large")
def test_every_task_finds_the_same_in_it(table: Path, tmp_path: Path) -> None:
    found = []
    for folder in (None, tmp_path):
        held, overview = opened(table, folder)
        plan = tmp_path / "plan.toml"
        plan.write_text(overview.plan, encoding="utf-8")
        roles = {name: one.role for name, one in Plan.load(plan).columns.items()}
        ranked = rank.run(held, silent, roles, {})
        target = tmp_path / "sample.arrow"
        sample.run(held, silent, str(plan), str(target))
        facts = held["examined"].facts.values()
        values = [(one.values, one.texts, one.counts.tolist()) for one in facts]
        found.append((overview, ranked, values, target.read_bytes()))
    assert found[0] == found[1]


@pytest.mark.usefixtures("everything_is_large")
def test_a_disk_without_room_keeps_it_in_memory(table: Path, tmp_path: Path) -> None:
    held, overview = opened(table, tmp_path / "there is no such folder")
    assert overview == opened(table, None)[1]
    assert np.bincount(held["examined"].facts["job"].codes + 1).tolist() == [6666, 6667, 6667]


def test_a_small_table_stays_in_memory(table: Path, tmp_path: Path) -> None:
    held, _ = opened(table, tmp_path)
    assert held["examined"].facts["age"].codes.flags.owndata
