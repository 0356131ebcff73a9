"""The sample of previews: all records of a household or of a person, or none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from shoal import Plan
from shoal.base.progress import silent
from shoal.io.frames import open_frame
from shoal.studio.tasks import sample
from shoal.studio.tasks._serving import Held

MOST = 200
HOMES = np.repeat(np.arange(400), np.random.default_rng(2).integers(1, 7, 400))
TABLE = pa.table(
    {
        "home": [f"h{n}" for n in HOMES],
        "who": [f"p{n // 2}" for n in range(len(HOMES))],
        "age": np.arange(len(HOMES)) % 90,
    }
)
APART = {"role": "household", "publish": False, "together": False}


@pytest.mark.parametrize(
    ("roles", "whole"),
    [
        ({"home": "household"}, "home"),
        ({"home": APART}, "home"),
        ({"home": "drop", "who": "person"}, "who"),
    ],
    ids=["together", "apart", "people"],
)
def test_whole_households_or_people_are_drawn(roles: dict, whole: str) -> None:
    columns = {"home": "drop", "who": "drop", "age": "quasi", **roles}
    models = [{"name": "household-k-anonymity", "k": 2}] if APART in roles.values() else []
    plan = Plan(columns=columns, models=models)
    rows = sample.sampled_rows(open_frame(TABLE), plan, MOST)
    names = np.array(TABLE[whole].to_pylist())
    drawn = set(names[rows])
    assert sorted(rows) == [i for i, name in enumerate(names) if name in drawn]
    assert MOST - 6 < len(rows) <= MOST  # the next household would be too much
    assert drawn != set(names[: len(rows)])  # not the first ones


def test_records_are_drawn_where_nothing_links_them() -> None:
    plan = Plan(columns={"home": "drop", "who": "drop", "age": "quasi"})
    rows = sample.sampled_rows(open_frame(TABLE), plan, MOST)
    assert len(set(rows)) == MOST
    homes = HOMES[rows]
    assert any((home == HOMES).sum() > (homes == home).sum() for home in homes)


def test_the_file_has_these_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(columns={"home": "household", "who": "drop", "age": "quasi"})
    plan.save(tmp_path / "plan.toml")
    frame = open_frame(TABLE)
    held = Held()
    held["frame"] = frame
    monkeypatch.setattr(sample.sampled_rows, "__defaults__", (MOST,))
    target = tmp_path / "sample.arrow"
    many = sample.run(held, silent, str(tmp_path / "plan.toml"), str(target))
    with pa.ipc.open_file(str(target)) as file:
        found = file.read_all()
    rows = sample.sampled_rows(frame, plan, MOST)
    assert many == len(rows)
    assert found["age"].to_pylist() == TABLE["age"].take(pa.array(rows)).to_pylist()
    assert target.stat().st_mode & 0o077 == 0
