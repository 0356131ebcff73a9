"""The ranking of quasi-identifiers, compared with counts by hand."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.flow.draft import ranking
from shoal.flow.draft.draft import propose
from shoal.flow.draft.ranking import (
    columns_to_leave,
    rank_columns,
    unique_alone,
    unique_people,
    unique_with,
)
from tests.cli.test_console import printed
from tests.flow.draft.test_dependencies import facts, people


def naive_unique(rows: list[tuple], persons: list[int]) -> int:
    found = defaultdict(set)
    for row, person in zip(rows, persons, strict=True):
        found[row].add(person)
    return len({next(iter(some)) for some in found.values() if len(some) == 1})


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 5)), min_size=1))
def test_unique_people_are_those_of_the_naive_twin(rows):
    codes = np.array([row[:2] for row in rows], np.int32)
    persons = np.array([row[2] for row in rows])
    expected = naive_unique([row[:2] for row in rows], persons.tolist())
    assert unique_people(codes, persons) == expected


def test_distinction_separation_and_gain():
    columns = [facts("a", [1, 1, 2, 2]), facts("b", [1, 2, 3, 3]), facts("c", [7, 7, 7, 7])]
    found = rank_columns(columns, None)
    assert (found.unique, found.people, found.sampled) == (2, 4, False)
    assert [rank.column for rank in found.ranks] == ["b", "a", "c"]
    by_name = {rank.column: rank for rank in found.ranks}
    assert by_name["b"].distinction == 75
    assert by_name["b"].separation == pytest.approx(100 * 5 / 6)  # 5 of 6 pairs differ
    assert by_name["b"].unique_without == 0
    assert by_name["a"].unique_without == 2
    assert by_name["b"].gain(found.unique) == 2


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 4)), min_size=2))
def test_columns_alone_and_with_others_are_those_of_the_naive_twin(rows):
    columns = [facts(name, [row[i] for row in rows]) for i, name in enumerate("ab")]
    persons = [row[2] for row in rows]
    _, whose = np.unique(persons, return_inverse=True)
    alone = [naive_unique([row[i : i + 1] for row in rows], persons) for i in range(2)]
    assert unique_alone(columns, whose) == alone
    both = naive_unique([row[:2] for row in rows], persons)
    assert unique_with(columns[:1], columns[1:], whose) == [both]
    assert unique_with([], columns, whose) == alone


def test_missing_values_count_as_a_value():
    (rank,) = rank_columns([facts("a", [1, None, None, 2])], None).ranks
    assert rank.separation == pytest.approx(100 * 5 / 6)


def test_a_sample_is_named_and_has_whole_people(monkeypatch):
    monkeypatch.setattr(ranking, "SAMPLE", 100)
    persons = np.repeat(np.arange(200), 2)
    found = rank_columns([facts("a", (np.arange(400) // 2).tolist())], persons)
    assert found.sampled
    assert found.unique == found.people == 50  # 2 records each: nobody lost one of them
    assert "a sample of 50 people" in found.basis


def test_the_plan_has_the_ranking_as_comments(tmp_path):
    proposed = propose(people())
    proposed.plan.save(tmp_path / "plan.toml")
    lines = (tmp_path / "plan.toml").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if "single people out" in line)
    assert lines[at + 1].split()[1:3] == ["column", "values"]
    assert [line.split()[1] for line in lines[at + 2 : at + 5]] == [
        rank.column for rank in proposed.ranking.ranks
    ]
    assert proposed.ranking.ranks[0].column == "Age"
    assert shoal.Plan.load(tmp_path / "plan.toml").columns.keys() == proposed.plan.columns.keys()


def test_the_screen_has_the_ranking():
    from shoal.cli.plan_table import show_ranking

    shown = printed(show_ranking, propose(people()).ranking, width=120)
    assert "are unique by all of them" in shown
    assert shown.index("Age") < shown.index("county") < shown.index("sex")


def test_the_columns_to_leave_are_those_that_protect_most():
    rng = np.random.default_rng(5)
    columns = [
        facts("two", rng.integers(0, 2, 500).tolist()),
        facts("many", rng.integers(0, 200, 500).tolist()),
        facts("some", rng.integers(0, 30, 500).tolist()),
    ]
    assert columns_to_leave(columns, None, 1) == ["many", "some"]
    assert columns_to_leave(columns, None, 3) == []
    rows = list(zip(*(one.codes.tolist() for one in columns), strict=True))
    without = {
        i: sum(n == 1 for n in Counter(row[:i] + row[i + 1 :] for row in rows).values())
        for i in range(3)
    }
    assert min(without, key=without.__getitem__) == 1


def test_too_many_quasi_identifiers_are_named_with_those_to_leave():
    rng = np.random.default_rng(6)
    wide = {f"answer{i}": rng.choice(["a", "b", "c"], 300) for i in range(16)}
    plan = shoal.draft(pa.table({**wide, "town": rng.integers(0, 100, 300).astype(str)}))
    (remark,) = plan.remarks
    assert remark.startswith("17 quasi-identifiers are many")
    assert "fewest people are unique: town, answer" in remark
