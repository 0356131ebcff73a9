"""How many columns are looked at together."""

from __future__ import annotations

import pytest

from shoal.measures.samples.uniques_before_after import _size


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [(100, 9, 3), (100, 2, 2), (100, 1, 1), (1_000_000, 9, 2), (300_000, 9, 3), (10**8, 60, 1)],
)
def test_large_tables_are_looked_at_by_fewer_columns(rows, columns, expected):
    assert _size(rows, columns) == expected
