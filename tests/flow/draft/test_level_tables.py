"""Level tables to fill in: they have all values, and can be used as they are."""

from __future__ import annotations

import csv

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as pa_csv

import shoal
from shoal import Plan

TOWNS = ["Aalborg", "Bergen", 'C"adiz', "De;lphi", "Essen, Ruhr", "Faro, Algarve, Portugal"]


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "town": rng.choice(TOWNS, 150),
            "a/b": rng.choice(["x", "y", "z", "w"], 150),
            "a b": rng.choice(["10", "9", "-", "w"], 150),
            "age": rng.integers(20, 60, 150),
            "sex": rng.choice(["f", "m"], 150),
        }
    )
    pa_csv.write_csv(table, tmp_path / "people.csv")
    return table


def rows(path):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines(), delimiter=";"))


def test_they_have_all_values_and_run_as_they_are(run, people, tmp_path):
    assert run("draft", "people.csv", "-o", "plan.toml", "--levels", "levels")[0] == 0
    assert sorted(path.name for path in (tmp_path / "levels").iterdir()) == [
        "a_b.csv", "a_b_2.csv", "town.csv",
    ]  # fmt: skip
    assert rows(tmp_path / "levels" / "town.csv") == [[town, town, "*"] for town in TOWNS]
    assert [row[0] for row in rows(tmp_path / "levels" / "a_b_2.csv")] == ["9", "10", "-", "w"]
    assert "levels/town.csv" in (tmp_path / "plan.toml").read_text()
    plan = Plan.load(tmp_path / "plan.toml")
    assert shoal.anonymize(tmp_path / "people.csv", plan).smallest_class >= 5


def test_groups_of_the_user_are_not_overwritten(run, people, tmp_path):
    assert run("draft", "people.csv", "-o", "plan.toml", "--levels", "levels")[0] == 0
    (tmp_path / "levels" / "town.csv").write_text("Aalborg;North;*\n")
    status, _, err = run("draft", "people.csv", "-o", "other.toml", "--levels", "levels")
    assert status == 2
    assert "--force" in err
    assert not (tmp_path / "other.toml").exists()
    assert (tmp_path / "levels" / "town.csv").read_text() == "Aalborg;North;*\n"


def test_codes_have_their_labels_as_groups(run, people, tmp_path):
    (tmp_path / "d.csv").write_text("column,codes\na/b,x=left;y=left;z=right;w=right\n")
    words = (
        "draft",
        "people.csv",
        "-o",
        "plan.toml",
        "--levels",
        "levels",
        "--dictionary",
        "d.csv",
    )
    assert run(*words)[0] == 0
    found = rows(tmp_path / "levels" / "a_b.csv")
    assert found == [
        ["w", "right", "*"],
        ["x", "left", "*"],
        ["y", "left", "*"],
        ["z", "right", "*"],
    ]


def test_values_that_a_table_cannot_tell_apart_stay_without(run, tmp_path):
    table = pa.table(
        {"t": ["a", " a", "b", "c", "d"] * 30, "age": [str(20 + i % 40) for i in range(150)]}
    )
    pa_csv.write_csv(table, tmp_path / "people.csv")
    assert run("draft", "people.csv", "-o", "plan.toml", "--levels", "levels")[0] == 0
    assert list((tmp_path / "levels").iterdir()) == []
    assert Plan.load(tmp_path / "plan.toml").columns["t"].hierarchy is None
