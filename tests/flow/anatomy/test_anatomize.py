"""Anatomy: groups, both published tables, what they disclose and lose, against naive twins."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import audit_anatomy
from shoal.base.errors import BadPlan, BadTable, CannotReach, NotHeld
from shoal.flow.anatomy.anatomize import anatomize
from shoal.flow.anatomy.form_groups import form_groups
from shoal.io.frames import Frame, read
from shoal.measures.anatomy.two_tables import TwoTables
from tests.naive.anatomy import COLUMNS, people, plan


@given(
    values=st.lists(st.integers(0, 5), min_size=2, max_size=40),
    size=st.integers(2, 4),
    seed=st.integers(0, 99),
)
def test_groups_have_different_values(values, size, seed):
    codes = np.unique(values, return_inverse=True)[1].astype(np.int64)
    group = form_groups(codes, size, np.random.default_rng(seed))
    possible = max(Counter(values).values()) * size <= len(values)  # eligible, as the paper says
    assert (group is not None) == possible
    if group is None:
        return
    inside = {}
    for value, one in zip(codes.tolist(), group.tolist(), strict=True):
        inside.setdefault(one, []).append(value)
    assert sorted(inside) == list(range(len(values) // size))
    assert all(len(one) >= size and len(one) == len(set(one)) for one in inside.values())


def test_a_plan_may_name_it_and_anonymize_names_the_command():
    table = people(["flu", "cough", "ulcer"] * 8)
    asked = plan(3, algorithm="anatomy")
    made = anatomize(table, asked, compare=True)
    assert made.holds
    assert made.generalized.algorithm == "peel"
    with pytest.raises(BadPlan, match=r"publishes two tables.*use shoal anatomy"):
        shoal.anonymize(table, asked)
    assert "anatomy" not in shoal.catalog.algorithms.decided
    assert "anatomy" in shoal.catalog.algorithms


def naive(first, second, table):
    """From the two tables alone: the belief of each person, and the error of each record."""
    of_group = {}
    for row in second.to_pylist():
        of_group.setdefault(row["group"], {})[row["disease"]] = row["count"]
    rows = first.to_pylist()
    size = Counter(row["group"] for row in rows)
    assert size == {one: sum(found.values()) for one, found in of_group.items()}
    beliefs = []
    for mine in rows:
        alike = [r for r in rows if (r["age"], r["sex"]) == (mine["age"], mine["sex"])]
        belief = Counter()
        for other in alike:
            for value, many in of_group[other["group"]].items():
                belief[value] += Fraction(many, size[other["group"]] * len(alike))
        beliefs.append((max(belief.values()), len(alike)))
    errors = []
    for one, found in of_group.items():
        for value, many in found.items():
            rest = sum(Fraction(c, size[one]) ** 2 for v, c in found.items() if v != value)
            errors += [(1 - Fraction(many, size[one])) ** 2 + rest] * many
    whole = sorted(zip(table["age"].to_pylist(), table["sex"].to_pylist(), strict=True))
    assert sorted((row["age"], row["sex"]) for row in rows) == whole
    counted = Counter()
    for row in second.to_pylist():
        counted[row["disease"]] += row["count"]
    assert counted == Counter(table["disease"].to_pylist())
    n = len(rows)
    return (
        float(max(b for b, _ in beliefs)),
        float(sum(b for b, _ in beliefs) / n),
        sum(alike == 1 for _, alike in beliefs) / n,
        float(sum(errors) / n),
    )


@given(
    diseases=st.lists(st.sampled_from(["flu", "ulcer", "cough", None, "cold"]), min_size=4),
    size=st.integers(2, 3),
    seed=st.integers(0, 99),
)
def test_both_tables_disclose_what_was_measured(diseases, size, seed):
    table = people(pa.array(diseases, pa.string()), seed)
    most = max(Counter(diseases).values())
    if most * size > len(diseases):
        with pytest.raises(CannotReach, match=f"l = {len(diseases) // most} is the most"):
            anatomize(table, plan(size, seed=seed))
        return
    made = anatomize(table, plan(size, seed=seed))
    found = naive(made.quasi_identifiers, made.sensitive, table)
    attacks = made.attacks
    assert (attacks.surest, attacks.average, attacks.unique) == pytest.approx(found[:3])
    assert made.reconstruction_error == pytest.approx(found[3])
    assert made.reconstruction_error >= made.lowest_error - 1e-12
    assert attacks.surest <= 1 / size + 1e-12
    assert made.checks[0].holds
    assert attacks.homogeneous == 0
    again = anatomize(table, plan(size, seed=seed))
    assert again.quasi_identifiers == made.quasi_identifiers
    assert again.sensitive == made.sensitive


@pytest.mark.parametrize(
    "name",
    ["frequency-l-diversity", "distinct-l-diversity", "entropy-l-diversity", "p-sensitivity"],
)
def test_models_that_follow_from_groups_of_different_values(name):
    made = anatomize(people(list("abcabcabcd")), plan(3, name))
    assert made.checks[0].holds
    assert made.checks[0].model == name
    assert made.groups == 3
    assert json.dumps(made.as_dict(), allow_nan=False)


def test_files(tmp_path):
    table = people(list("abcabcabcd") * 4)
    made = anatomize(table, plan(3))
    made.save(tmp_path / "people.csv", tmp_path / "diseases.csv")
    first, second = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("people", "diseases"))
    assert list(first.columns) == ["group", "age", "sex"]  # no name
    assert list(second.columns) == ["group", "disease", "count"]
    worst = second.groupby("group")["count"].max() / second.groupby("group")["count"].sum()
    assert worst.max() <= 1 / 3
    assert first.groupby("group").size().tolist() == second.groupby("group")["count"].sum().tolist()
    with pytest.raises(BadTable, match="two different names"):
        made.save(tmp_path / "one.csv", tmp_path / "one.csv")


def test_spellings_of_a_value_are_one_value():
    """In both: when groups are formed, and when the published tables are read."""
    table = people(["1", "1.0", "2", "3", "4", "5"])
    made = anatomize(table, plan(3))
    for one in range(1, made.groups + 1):
        rows = [row for row in made.sensitive.to_pylist() if row["group"] == one]
        assert len({float(row["disease"]) for row in rows}) == len(rows)
    twice = made.sensitive.set_column(1, "disease", pa.array(["1", "1.0", "1"] * 2))
    seen = TwoTables.of(Frame(made.quasi_identifiers), Frame(twice), "disease")
    assert not seen.check(made.plan.models, "disease")[0].holds


def test_the_command(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from shoal.cli.main import app

    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(people(list("abcabcabcd") * 4), "people.csv")
    plan(3).save("plan.toml")
    words = ["anatomy", "people.csv", "--plan", "plan.toml", "--out", "first.csv"]
    done = CliRunner().invoke(app, [*words, "--out-sensitive", "second.csv", "--json", "all.json"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "all.json").read_text())
    assert found["groups"] == 13
    assert found["attacks"]["surest"] <= 1 / 3 + 1e-12
    assert found["checks"][0]["holds"]
    assert list(pd.read_csv("first.csv").columns) == ["group", "age", "sex"]
    done = CliRunner().invoke(app, [*words, "--out-sensitive", "first.csv"])
    assert done.exit_code != 0


def test_tables_that_do_not_fit_or_hold_are_refused(tmp_path):
    made = anatomize(people(list("abcabcabcd")), plan(3))
    made.save(tmp_path / "people.csv", tmp_path / "diseases.csv")
    text = (tmp_path / "diseases.csv").read_text().splitlines()
    (tmp_path / "less.csv").write_text("\n".join(text[:-1]) + "\n")
    pair = [read(tmp_path / name) for name in ("people.csv", "less.csv")]
    with pytest.raises(NotHeld, match="do not fit together: in group"):
        TwoTables.of(*pair, "disease")
    same = made.sensitive.set_column(1, "disease", pa.array(["a"] * made.sensitive.num_rows))
    seen = TwoTables.of(Frame(made.quasi_identifiers), Frame(same), "disease")
    assert not seen.check(made.plan.models, "disease")[0].holds


def test_plans_that_anatomy_does_not_serve():
    table = people(list("aabb"))
    with pytest.raises(BadPlan, match="does not support k-anonymity, as it publishes exact"):
        anatomize(table, plan(models=[{"name": "k-anonymity", "k": 2}]))
    with pytest.raises(BadPlan, match="needs one sensitive column, and the plan has 0"):
        anatomize(table, plan(columns={**COLUMNS, "disease": "quasi"}))
    with pytest.raises(BadPlan, match="does not support the role other"):
        anatomize(table, plan(columns={**COLUMNS, "sex": "other"}))
    with pytest.raises(BadPlan, match="does not support the role person"):
        anatomize(table, plan(columns={**COLUMNS, "name": "person"}))
    with pytest.raises(BadPlan, match=r"does not measure limits \('highest_risk'\)"):
        anatomize(table, plan(limits={"highest_risk": 0.2}))
    with pytest.raises(BadPlan, match="does not support several attackers"):
        anatomize(table, plan(attackers=[{"knows": ["age", "sex"]}]))
    with pytest.raises(BadPlan, match="writes a column 'group'"):
        anatomize(table, plan(columns={**COLUMNS, "group": "quasi"}))
    with pytest.raises(CannotReach, match="3 of 4 records have the same value"):
        anatomize(people(list("aaab")), plan(2))


def test_notes_say_what_the_tables_do_not_protect_from():
    columns = {**COLUMNS, "age": {"role": "quasi", "top": 31}}
    made = anatomize(people(list("abcabc")), plan(columns=columns))
    assert max(made.quasi_identifiers["age"].to_pylist()) == 31
    notes = "\n".join(made.notes)
    assert "which sensitive values go with which quasi-identifiers" in notes
    assert "make the final release without a seed" in notes
    assert "31 stands for 31 or more" in notes
    assert "seed" not in "\n".join(anatomize(people(list("abcabc")), plan(seed=None)).notes)
    assert "[population]" not in notes
    made = anatomize(people(list("abcabc")), plan(population={"fraction": 0.1}))
    assert any("[population] has no effect here" in one for one in made.notes)


@pytest.mark.parametrize("missing", ["value", "empty", "root"])
def test_missing_quasi_identifiers_are_published_as_such(missing):
    """Whatever a plan says about them: nothing is generalized."""
    table = people(["flu", "ulcer", "cough", "gout"] * 3)
    sex = [None, "?", *table["sex"].to_pylist()[2:]]
    table = table.set_column(table.column_names.index("sex"), "sex", [sex])
    asked = plan(missing=missing, missing_values=["?", ""])
    made = anatomize(table, asked)
    assert sorted(map(str, made.quasi_identifiers["sex"].to_pylist())) == sorted(map(str, sex))
    assert made.answers.number > 0
    audited = audit_anatomy(made.quasi_identifiers, made.sensitive, asked, original=table)
    assert audited.holds
    assert audited.answers == made.answers
