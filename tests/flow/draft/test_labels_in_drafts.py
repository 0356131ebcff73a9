"""Labels of files, and codes that stand for missing values, in a draft."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.flow.draft.draft import propose
from shoal.io.labels import Labels, labelled

rng = np.random.default_rng(1)
ROWS = 300


def survey() -> pa.Table:
    return pa.table(
        {
            "v1": rng.integers(1, 5, ROWS),
            "v2": [99 if one == 60 else int(one) for one in rng.integers(20, 61, ROWS)],
            "v3": rng.choice(["17", "18", "19", "25", "N", "?"], ROWS),
            "v4": rng.choice(["N", "Y", "?"], ROWS),
        }
    )


def test_labels_of_the_file_are_shown_and_make_codes():
    table = labelled(
        survey(),
        {
            "v1": Labels("Marital status", {"1": "single", "2": "married", "3": "x", "4": "y"}),
            "v2": Labels("Age of the person", {}, ("99",)),
        },
    )
    proposed = propose(table)
    plan = proposed.plan
    assert proposed.facts["v1"].labels["2"] == "married"
    assert plan.notes["v1"].startswith("Marital status: 4 codes")
    assert plan.notes["v1"].endswith("; 1 single, 2 married, 3 x, 4 y")
    assert any("v1 (Marital status)  " in line for line in plan.comments)
    assert plan.columns["v1"].hierarchy is None
    assert plan.columns["v2"].missing_values == ["99"]
    assert plan.columns["v2"].hierarchy.setting() == {"ranges": [5, 10, 20]}
    assert shoal.draft(survey()).columns["v1"].hierarchy.setting() == {"ranges": [2], "start": 1}


def test_the_measure_of_the_file_decides():
    nominal = labelled(survey(), {"v1": Labels("", {}, (), "nominal")})
    assert shoal.draft(nominal).columns["v1"].hierarchy is None
    scale = labelled(survey(), {"v1": Labels("", {"1": "one", "2": "two"}, (), "scale")})
    assert shoal.draft(scale).columns["v1"].hierarchy is not None


def test_missing_codes_are_those_of_their_column(tmp_path):
    plan = shoal.draft(survey())
    assert plan.missing_values == ["", "?"]
    assert plan.columns["v3"].missing_values == ["?", "N"]
    assert plan.columns["v4"].missing_values is None  # N is an answer there
    assert plan.columns["v3"].hierarchy.setting()["ranges"]
    assert plan.notes["v2"].endswith("99 taken as missing")
    plan.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").columns["v3"].missing_values == ["?", "N"]


def test_a_draft_with_missing_codes_runs_as_it_is():
    release = shoal.anonymize(survey(), shoal.draft(survey()))
    assert release.smallest_class >= 5


@pytest.mark.parametrize("role", ["drop", "identifier"])
def test_columns_that_are_not_published_need_no_missing_codes(role, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(f"column,role\nv2,{role}\n")
    plan = shoal.draft(survey(), path)
    assert plan.columns["v2"].missing_values is None
    assert "taken as missing" not in plan.notes["v2"]
