"""Files of a run that was too large for memory: there is only the file of its release."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from shoal.base.progress import silent
from shoal.io.files import read_table
from shoal.plan import Plan
from shoal.studio.exports.settings import Settings, writable
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.exports.files import run

PLAN = """
engine = "duckdb"
seed = 1
[columns]
age = { role = "quasi", hierarchy = { ranges = [5, 10, 40] } }
disease = "sensitive"
[[models]]
name = "k-anonymity"
k = 3
"""


def test_other_formats_are_made_of_its_file(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    lines = [f"{20 + i % 30},{'flu' if i % 3 else 'gout'}" for i in range(90)]
    (tmp_path / "people.csv").write_text("\n".join(["age,disease", *lines]) + "\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    release = shoal.anonymize(tmp_path / "people.csv", tmp_path / "plan.toml")
    assert release.frame is None
    release.save(tmp_path / "release.csv")
    for ending in (".parquet", ".tsv"):
        target = tmp_path / f"other{ending}"
        made = run(Held(), silent, "release", str(tmp_path), str(target), "release.csv")
        assert made is not None
        assert read_table(target).equals(read_table(tmp_path / "release.csv"))
        assert target.stat().st_mode & 0o777 == 0o600


def test_only_what_the_engine_could_write_is_offered(tmp_path: Path) -> None:
    assert set(writable(large=True)) == {"csv", "tsv", "parquet"}
    (tmp_path / "plan.toml").write_text(PLAN)
    plan = Plan.load(tmp_path / "plan.toml")
    with pytest.raises(shoal.BadFile, match="xlsx"):
        Settings.read({"ending": ".xlsx"}, ".csv", plan, large=True)
    with pytest.raises(shoal.BadPlan, match="too large"):
        Settings.read({"ranges": "bounds"}, ".csv", plan, large=True)
    assert Settings.read({"ranges": "bounds"}, ".csv", plan).writing.ranges == "bounds"
