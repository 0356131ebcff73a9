"""Data dictionaries: what the user says is kept."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, BadPlan
from shoal.flow.draft.dictionary import read_dictionary
from shoal.flow.draft.draft import propose


def table() -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "v1": rng.integers(1, 4, 200),
            "v2": rng.integers(1000, 9000, 200),
            "v3": rng.integers(0, 90, 200),
            "v4": rng.integers(0, 9, 200),
        }
    )


def described(tmp_path, *lines):
    path = tmp_path / "dictionary.csv"
    path.write_text("\n".join(["column,label,role,codes", *lines]) + "\n")
    return path


def test_roles_labels_and_codes_are_kept(tmp_path):
    path = described(
        tmp_path,
        "v1,Marital status,,1=single; 2=married; 3=widowed",
        "v2,Monthly income,,",
        "v3,Age in years,quasi,",
        "v4,Interviewer,drop,",
    )
    plan = shoal.draft(table(), path)
    roles = [plan.columns[name].role for name in ("v1", "v2", "v3", "v4")]
    assert roles == ["quasi", "sensitive", "quasi", "drop"]  # v2: by its label
    assert plan.columns["v1"].hierarchy is None  # codes, as they have labels
    assert plan.columns["v3"].hierarchy.setting() == {"ranges": [5, 10, 20]}
    assert plan.notes["v1"].startswith("Marital status: 3 codes")
    assert plan.notes["v4"] == "Interviewer: role of the dictionary"


def test_a_given_role_is_not_changed_by_a_dependency(tmp_path):
    both = table().append_column("v5", pa.array([v // 10 for v in table()["v3"].to_pylist()]))
    assert shoal.draft(both).columns["v5"].role == "drop"
    plan = shoal.draft(both, described(tmp_path, "v5,,quasi,"))
    assert plan.columns["v5"].role == "quasi"
    assert "follows from v3" in plan.notes["v5"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["v9,,quasi,"], "lacks: 'v9'"),
        (["v1,,quazi,"], "did you mean 'quasi'"),
        (["v1,,quasi,", "v1,,other,"], "'v1' twice"),
        (["v1,,,1 male"], "1=male; 2=female"),
    ],
)
def test_mistakes_are_named(lines, said, tmp_path):
    with pytest.raises(BadFile, match=said):
        shoal.draft(table(), described(tmp_path, *lines))


def test_a_dictionary_needs_names_of_columns(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("name,role\nv1,quasi\n")
    with pytest.raises(BadFile, match="no column 'column'"):
        read_dictionary(path)


def test_two_people_columns_are_an_error(tmp_path):
    with pytest.raises(BadPlan, match="one person column"):
        shoal.draft(table(), described(tmp_path, "v2,,person,", "v3,,person,"))


def test_labels_with_line_breaks_do_not_break_the_plan(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text('column,label\nv1,"x\n[columns]\nv1 = ""other"""\n')
    proposed = propose(table(), path)
    proposed.plan.save(tmp_path / "plan.toml")
    assert shoal.Plan.load(tmp_path / "plan.toml").columns["v1"].role == "quasi"


def test_names_with_line_breaks_do_not_break_the_plan(tmp_path):
    rng = np.random.default_rng(2)
    age = rng.integers(18, 90, 300)
    odd = pa.table({"a\nge": age, "re\ncode": age // 10, "sex": rng.choice(["f", "m"], 300)})
    shoal.draft(odd).save(tmp_path / "plan.toml")
    assert shoal.Plan.load(tmp_path / "plan.toml").columns["re\ncode"].role == "drop"
