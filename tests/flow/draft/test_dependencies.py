"""Functional dependencies: exact, and never by chance."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.flow.draft.dependencies import dependencies
from shoal.flow.draft.facts import Facts
from shoal.table.coding import value_codes


def facts(name: str, values: list) -> Facts:
    return Facts(name, "", *value_codes(pa.array(values)), {})


def people(rows: int = 600) -> pa.Table:
    rng = np.random.default_rng(1)
    age = rng.integers(18, 90, rows)
    return pa.table(
        {
            "Age": age,
            "AgeRecode27": [f"{a // 5 * 5}-{a // 5 * 5 + 4}" for a in age],
            "sex": rng.choice(["f", "m"], rows),
            "county": (county := rng.choice(["A", "B", "C", "D", "E"], rows)),
            "region": np.where(np.isin(county, ["A", "B"]), "north", "south"),
        }
    )


def test_a_recode_is_dropped_and_says_what_it_gives_back():
    plan = shoal.draft(people())
    assert plan.columns["Age"].role == plan.columns["county"].role == "quasi"
    assert plan.columns["AgeRecode27"].role == "drop"
    assert plan.notes["AgeRecode27"] == "follows from Age: drop it or it gives Age back"
    assert plan.columns["region"].role == "drop"
    assert plan.columns["sex"].role == "quasi"


def test_one_exception_is_no_dependency():
    table = people()
    region = table["region"].to_pylist()
    region[300] = "south" if region[300] == "north" else "north"
    place = table.column_names.index("region")
    table = table.set_column(place, "region", pa.array(region))
    assert shoal.draft(table).columns["region"].role == "quasi"


def test_the_later_of_two_names_for_the_same_is_dropped():
    rng = np.random.default_rng(2)
    code = rng.integers(1, 8, 300)
    table = pa.table(
        {
            "level": [f"level {c}" for c in code],
            "number": code,
            "x": code % 2 + rng.integers(0, 2, 300),
        }
    )
    plan = shoal.draft(table)
    assert [plan.columns[name].role for name in table.column_names] == ["quasi", "drop", "quasi"]
    assert plan.notes["number"].startswith("same as level, written differently")


def test_what_is_published_unchanged_does_not_give_a_quasi_identifier_back():
    """A count that only the holder knows, and from which the age follows."""
    table = people()
    visits = [10 * age for age in table["Age"].to_pylist()]
    plan = shoal.draft(table.append_column("number of visits", pa.array(visits)))
    assert plan.columns["number of visits"].role == "drop"
    free = np.random.default_rng(3).integers(0, 9, table.num_rows)
    plan = shoal.draft(table.append_column("number of visits", pa.array(free)))
    assert plan.columns["number of visits"].role == "other"


def test_chance_is_no_dependency():
    """Nearly every record has a value of its own, or the other column has hardly a second value."""
    rng = np.random.default_rng(4)
    sparse = facts("sparse", rng.integers(0, 100_000, 400).tolist())
    rare = facts("rare", ["yes"] + ["no"] * 399)
    sex = facts("sex", rng.choice(["f", "m"], 400).tolist())
    half = facts("half", (np.arange(400) // 2).tolist())
    assert dependencies([sparse, rare, sex, half]) == []


def test_an_age_follows_from_nearly_unique_birth_dates():
    """Each is that of one or two people; pairs by chance would differ in age."""
    rng = np.random.default_rng(7)
    days = rng.choice(20_000, 900, replace=False)
    days = np.append(days, days[:100])
    born, age = facts("born", days.tolist()), facts("age", (days // 365).tolist())
    other = facts("other", rng.integers(0, 50, 1000).tolist())
    assert [(one.of, one.column) for one in dependencies([born, age, other])] == [("born", "age")]


def test_few_records_show_nothing():
    short = [facts("a", [1, 2, 3, 4] * 20), facts("b", [1, 2] * 40)]
    assert dependencies(short) == []
    long = [facts("a", [1, 2, 3, 4] * 30), facts("b", [1, 2] * 60)]
    assert [(one.of, one.column) for one in dependencies(long)] == [("a", "b")]


@pytest.mark.parametrize("missing", [False, True])
def test_missing_is_a_value(missing):
    a = [1, 2, 3, 4] * 50
    b = [None if one == 4 else one % 2 for one in a]
    if missing:  # now one value of a has both
        b[3] = 1
    found = dependencies([facts("a", a), facts("b", b)])
    assert bool(found) is not missing


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=8))
def test_only_true_dependencies_are_found(pairs):
    pairs = pairs * (150 // len(pairs) + 1)
    a, b = ([str(x) for x in column] for column in zip(*pairs, strict=True))
    for one in dependencies([facts("a", a), facts("b", b)]):
        first, second = (a, b) if one.of == "a" else (b, a)
        assert len(set(zip(first, second, strict=True))) == len(set(first))
