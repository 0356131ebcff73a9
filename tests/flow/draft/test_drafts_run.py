"""Drafted plans of real tables run as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from tests.flow.draft.real_tables import INSTALLED, ROLES, real_table


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
@pytest.mark.parametrize("name", sorted(ROLES.keys() - INSTALLED.keys()))
def test_drafts_of_real_tables_run(name, shared):
    check(name, shared, 20_000)
