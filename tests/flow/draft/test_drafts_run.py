"""Drafted plans of real tables run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from tests.flow.draft.real_tables import INSTALLED, ROLES, real_table

# Counts of these tables would be published unchanged. Whether they reveal anything is tried on the
# table that a plan is drafted for, and may be different in a part of it.
TRIED = {"diabetes"}


def check(name: str, shared: Path, rows: int) -> None:
    """The draft of the whole table, on its first records."""
    table = real_table(name, shared)
    release = shoal.anonymize(table.slice(0, rows), shoal.draft(table).with_seed(1))
    assert release.smallest_class >= 5
    assert all(check.holds for check in release.checks)


@pytest.mark.parametrize("name", sorted(INSTALLED))
def test_drafts_of_installed_tables_run(name):
    check(name, Path(), 1500)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ROLES.keys() - INSTALLED.keys() - TRIED))
def test_drafts_of_real_tables_run(name, shared):
    check(name, shared, 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [5_000, 20_000, None])
@pytest.mark.parametrize("name", sorted(TRIED))
def test_drafts_that_are_tried_run_on_their_own_table(name, rows, shared):
    table = real_table(name, shared).slice(0, rows)
    plan = shoal.draft(table)
    assert any(column.role == "other" for column in plan.columns.values())
    release = shoal.anonymize(table, plan.with_seed(1))
    assert release.smallest_class >= 5
    assert release.dependency.by_other == 0
