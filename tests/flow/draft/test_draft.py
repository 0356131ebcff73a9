"""Drafts: guesses on the safe side."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import shoal
from shoal import BadTable, Plan
from shoal.base.progress import STAGES, silent
from shoal.cli.plan_table import show_roles
from shoal.datasets import adult, hospital
from shoal.flow.draft.draft import _tried, examine, propose
from shoal.report.plan_facts import plan_file
from shoal.table.roles import Column
from tests.cli.test_console import printed


def test_the_hospital_table():
    plan = shoal.draft(hospital(2000))
    roles = {name: column.role for name, column in plan.columns.items()}
    assert roles["name"] == "identifier"
    assert roles["patient"] == "person"
    assert roles["diagnosis"] == "sensitive"
    assert {roles[c] for c in ("birth date", "sex", "postcode", "job", "admission")} == {"quasi"}
    assert plan.columns["postcode"].hierarchy.setting() == {"prefixes": True}
    assert "dates" in plan.columns["birth date"].hierarchy.setting()
    assert plan.notes["patient"]


def test_adult():
    plan = shoal.draft(adult())
    assert plan.columns["age"].hierarchy.setting() == {"ranges": [5, 10, 20]}
    assert plan.columns["sex"].role == "quasi"
    assert shoal.anonymize(adult().slice(0, 500), plan).smallest_class >= 5


def test_guesses_by_value():
    rows = 40
    table = pa.table(
        {
            "mail of": [f"p{i}@example.org" for i in range(rows)],
            "code": [f"X{i:05}" for i in range(rows)],
            "remark": [f"a long remark that somebody typed about person {i}" for i in range(rows)],
            "day": [f"2024-01-{1 + i % 28:02}" for i in range(rows)],
            "born": [dt.date(1990, 1, 1 + i % 28) for i in range(rows)],
            "flag": [i % 2 == 0 for i in range(rows)],
            "empty": pa.array([None] * rows, pa.string()),
            "temperature": [36 + i / 10 for i in range(rows)],
            "town": ["A-town", "B-town"] * (rows // 2),
        }
    )
    plan = shoal.draft(table)
    roles = {name: column.role for name, column in plan.columns.items()}
    assert roles == {
        "mail of": "identifier", "code": "identifier", "remark": "identifier", "day": "quasi",
        "born": "quasi", "flag": "quasi", "empty": "other", "temperature": "quasi", "town": "quasi",
    }  # fmt: skip


def test_the_draft_runs_as_it_is(tmp_path):
    table = hospital(400, seed=3)
    shoal.draft(table).save(tmp_path / "plan.toml")
    text = (tmp_path / "plan.toml").read_text(encoding="utf-8")
    assert "# names of people" in text
    assert shoal.anonymize(table, Plan.load(tmp_path / "plan.toml")).smallest_class >= 5


def test_nothing_to_guess_from():
    with pytest.raises(BadTable, match="no rows"):
        shoal.draft(pa.table({"a": pa.array([], pa.string())}))
    with pytest.raises(BadTable, match="quasi-identifier"):
        shoal.draft(pa.table({"name": ["a", "b"]}))


def test_markers_of_missing_values_are_seen():
    table = pa.table(
        {
            "age": ["31", "NA", "47", "52", "60"] * 8,
            "race": ["w", "?", "b", "w"] * 10,
            "x": ["a"] * 40,
        }
    )
    plan = shoal.draft(table)
    assert plan.missing_values == ["", "NA", "?"]
    assert plan.columns["age"].hierarchy.setting() == {"ranges": [5, 10, 20]}


def test_names_that_suggest_a_role():
    rows = 60
    table = pa.table(
        {
            "DUPERSID": [f"{10_000_000 + i // 2}" for i in range(rows)],
            "Date of Birth": [f"{1 + i % 28:02}/0{1 + i % 9}/{1940 + i}" for i in range(rows)],
            "Postcode": [f"{i:05}" for i in range(rows)],
            "admission_type_id": [1 + i % 8 for i in range(rows)],
            "month": [1 + i % 12 for i in range(rows)],
            "citizenship": ["Foreign born, no citizen of the country at all", "Native"] * 30,
        }
    )
    plan = shoal.draft(table)
    roles = {name: column.role for name, column in plan.columns.items()}
    assert roles == {
        "DUPERSID": "person", "Date of Birth": "quasi", "Postcode": "quasi",
        "admission_type_id": "quasi", "month": "quasi", "citizenship": "quasi",
    }  # fmt: skip
    assert plan.columns["admission_type_id"].hierarchy is None
    assert plan.columns["month"].hierarchy.setting()["start"] == 1


def test_many_quasi_identifiers_are_reported_on_top_of_the_plan(tmp_path):
    wide = pa.table({f"town{i}": ["a", "b", "c"] * 10 for i in range(16)})
    plan = shoal.draft(wide)
    plan.save(tmp_path / "plan.toml")
    first = (tmp_path / "plan.toml").read_text().splitlines()[0]
    assert first.startswith("# 16 quasi-identifiers are many")
    assert not any("are many" in note for note in plan.notes.values())
    assert plan.with_seed(3).remarks == plan.remarks
    assert "16 quasi-identifiers are many" in printed(show_roles, plan)
    assert "are many" not in plan_file(plan).toml
    assert not shoal.draft(wide.select(["town1", "town2"])).remarks


def test_a_draft_leaves_the_algorithm_open(tmp_path):
    """Free ranges and sets in the place of what was guessed, and nothing else edited."""
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": rng.integers(20, 70, 60),
            "town": rng.choice(["Aalborg", "Bergen", "Cadiz", "Delphi", "Essen"], 60),
        }
    )
    plan = shoal.draft(table)
    assert plan.notes["age"] == "35 numbers, in ranges"
    assert plan.notes["town"].endswith(
        "a hierarchy that groups them would lose less (draft --levels)"
    )
    plan.save(tmp_path / "plan.toml")
    written = (tmp_path / "plan.toml").read_text()
    assert "\n[algorithm]" not in written
    assert "# [algorithm]" in written
    assert "freeform with the model k-belief usually loses less than concealment" in written
    assert shoal.anonymize(table, Plan.load(tmp_path / "plan.toml")).plan.algorithm.name == "peel"
    columns = {
        "age": Column(role="quasi", hierarchy={"free_ranges": True}),
        "town": Column(role="quasi", hierarchy={"free_sets": True}),
    }
    lines = [
        f'{line.split(" = ")[0]} = {{ role = "quasi", hierarchy = {{ {free} = true }} }}'
        if (free := {"age": "free_ranges", "town": "free_sets"}.get(line.split(" = ")[0]))
        else line
        for line in written.split("\n")
    ]
    (tmp_path / "plan.toml").write_text("\n".join(lines))
    for edited in (Plan.load(tmp_path / "plan.toml"), plan.changed(columns=columns)):
        assert shoal.anonymize(table, edited).plan.algorithm.name == "gaa"
    named = written.replace("# [algorithm]", "[algorithm]").replace(
        '# name = "auto"', 'name = "mdav"'
    )
    (tmp_path / "plan.toml").write_text(named)
    assert Plan.load(tmp_path / "plan.toml").algorithm.name == "mdav"
    assert plan.changed(algorithm="gaa").algorithm.name == "gaa"
    plan.changed(algorithm="gaa").save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").algorithm.name == "gaa"


def test_counts_are_written_as_people_read_them():
    days = [dt.date(2000, 1, 1) + dt.timedelta(days=day) for day in range(1200)] * 2
    plan = shoal.draft(
        pa.table(
            {
                "patient": [f"P{row % 2000}" for row in range(2400)],
                "day": days,
                "weight": [50 + row / 100 for row in range(2400)],
            }
        )
    )
    assert plan.notes["patient"] == "2,000 people with 2,400 records"
    assert plan.notes["day"] == "1,200 dates"
    assert plan.notes["weight"].startswith("2,400 numbers, in ranges")


def test_a_draft_reports_what_it_does(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "wide.csv"
    csv.write_csv(pa.table({f"town{i}": rng.choice(list("abc"), 200) for i in range(18)}), path)
    told = []
    propose(path, progress=lambda *one: told.append(one))
    stages = list(dict.fromkeys(stage for stage, _ in told))
    assert stages == ["read", "examine", "rank"]
    for stage in stages:
        shares = [share for one, share in told if one == stage]
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] <= 1
        assert stage in STAGES
    assert len([share for stage, share in told if stage == "rank"]) == 18 + 3


def surveyed(**more) -> pa.Table:
    """600 people of 200 households, with weights that are equal within each."""
    rng = np.random.default_rng(4)
    home = np.arange(600) // 3
    return pa.table(
        {
            "hhid": home,
            "age": rng.integers(18, 60, 600),
            "region": np.array(["north", "south"])[home % 2],
            "wgt": (rng.integers(100, 900, 200) / 7)[home],
            **more,
        }
    )


def test_weights_and_households_get_their_roles(tmp_path):
    plan = shoal.draft(surveyed())
    assert {name: one.role for name, one in plan.columns.items()} == {
        "hhid": "household", "age": "quasi", "region": "quasi", "wgt": "weight",
    }  # fmt: skip
    assert not plan.columns["hhid"].publish
    assert not plan.columns["hhid"].together
    assert [one.name for one in plan.models] == ["k-anonymity", "household-k-anonymity"]
    assert not plan.columns["wgt"].publish
    plan.save(tmp_path / "plan.toml")
    release = shoal.anonymize(surveyed(), shoal.Plan.load(tmp_path / "plan.toml"))
    assert release.frame.column_names == ["age", "region"]
    numbers = release.sample.as_dict()
    assert numbers["population"] == pytest.approx(sum(surveyed()["wgt"].to_pylist()))
    assert numbers["individual_risk"]["household"]["households"] == 200


def test_columns_that_link_members_are_left_out(tmp_path):
    """Their values do the work of the household number; roles that are given are only noted."""
    home = [one for one in range(300) for _ in range(one % 3 + 1)]
    rows = {
        "hhid": home,
        "age": [18 + 7 * i % 60 for i in range(len(home))],
        "region": ["nsew"[one % 4] for one in home],
        "rooms": [f"flat {one}" for one in home],
    }
    for role, expected in (("", "drop"), ("other", "other"), ("sensitive", "sensitive")):
        described = f"column,role\nhhid,\nrooms,{role}\n"
        (tmp_path / "dictionary.csv").write_text(described)
        if not role:  # a guess that the column is harmless
            guesses = examine(pa.table(rows), tried=False)
            changed = {**guesses.guesses, "rooms": replace(guesses.guesses["rooms"], role="other")}
            found = _tried(replace(guesses, guesses=changed), silent)
            note = found.guesses["rooms"].note
            assert found.guesses["rooms"].role == "drop"
        else:
            plan = shoal.draft(pa.table(rows), dictionary=tmp_path / "dictionary.csv")
            note = plan.notes["rooms"]
            assert plan.columns["rooms"].role == expected
        assert "members of 200 of 200 households with two or more members could be linked" in note
        assert 'accept = ["rooms"]' in note


def test_a_second_weight_is_dropped_and_a_second_household_is_an_identifier():
    table = surveyed(second_wgt=np.arange(3, 1203, 2), dwelling=np.arange(600) // 2)
    plan = shoal.draft(table)
    assert plan.columns["wgt"].role == "weight"
    assert plan.columns["second_wgt"].role == "drop"
    assert plan.columns["dwelling"].role == "identifier"


def test_weights_that_are_missing_or_zero_are_dropped_with_the_reason():
    weights = surveyed()["wgt"].to_pylist()
    plan = shoal.draft(surveyed(wgt=[None, *weights[1:]]))
    assert plan.columns["wgt"].role == "drop"
    assert "missing, zero or negative" in plan.notes["wgt"]


def test_weights_with_decimal_commas_are_read_as_such():
    """The plan said nothing of the comma, and could not run."""
    texts = [f"{weight:.2f}".replace(".", ",") for weight in surveyed()["wgt"].to_pylist()]
    plan = shoal.draft(surveyed(wgt=texts))
    assert (plan.columns["wgt"].role, plan.columns["wgt"].decimal) == ("weight", ",")
    assert shoal.anonymize(surveyed(wgt=texts), plan).sample.basis == "weights"


def test_people_in_several_households_are_in_none():
    """Such a plan could not be run."""
    person = np.arange(600) % 150
    plan = shoal.draft(surveyed(person_id=person))
    assert plan.columns["person_id"].role == "person"
    assert plan.columns["hhid"].role == "identifier"
    assert "several of them" in plan.notes["hhid"]
    release = shoal.anonymize(surveyed(person_id=person), plan)
    assert all(check.holds for check in release.checks)


def test_a_role_of_the_dictionary_is_kept_as_it_is(tmp_path):
    (tmp_path / "dictionary.csv").write_text("column,role\nwgt,weight\n", encoding="utf-8")
    plan = shoal.draft(surveyed(), tmp_path / "dictionary.csv")
    assert plan.columns["wgt"].publish
