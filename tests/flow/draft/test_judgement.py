"""Drafts of real tables, judged by roles written by hand before; the counts are in the docs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import shoal
from tests.flow.draft.real_tables import INSTALLED, ROLES, judge, real_table

PAGE = Path(__file__).parents[3] / "docs" / "drafts.md"
# Published unchanged, where an expert says that outsiders know it: the mistake that harms people.
UNCHANGED = {"sensitive", "other"}


def counts_in_docs() -> dict[str, tuple[int, ...]]:
    """The table of the docs: right, unsure and wrong per table."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| (\d+) \| (\d+) \| (\d+) \|", PAGE.read_text(), re.M)
    return {name: tuple(map(int, counts)) for name, *counts in rows}


def test_the_docs_judge_every_table():
    found = counts_in_docs()
    assert found.keys() == ROLES.keys()
    for name, counts in found.items():
        assert sum(counts) == len(ROLES[name])


def check(name: str, shared: Path) -> None:
    table, experts = real_table(name, shared), ROLES[name]
    plan = shoal.draft(table)
    judged = {column: judge(plan.columns[column].role, experts[column]) for column in experts}
    counts = Counter(judged.values())
    assert (counts["right"], counts["unsure"], counts["wrong"]) == counts_in_docs()[name], judged
    harmful = [
        column for column, role in experts.items()
        if judged[column] == "wrong" and role == "quasi" and plan.columns[column].role in UNCHANGED
    ]  # fmt: skip
    assert not harmful


@pytest.mark.parametrize("name", sorted(INSTALLED))
def test_drafts_of_installed_tables_are_as_the_docs_say(name):
    check(name, Path())


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ROLES.keys() - INSTALLED.keys()))
def test_drafts_of_real_tables_are_as_the_docs_say(name, shared):
    check(name, shared)
