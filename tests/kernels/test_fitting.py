"""Rows that fit each other, against comparing every pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels import fitting
from shoal.kernels.fitting import count_fitting
from shoal.kernels.group import group_rows
from tests.naive import sharing

WIDE = [-1, 0, 1, 2**31 - 1]  # 32 bits each: three columns need two words


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda q: st.lists(st.tuples(*[st.sampled_from(WIDE)] * q), min_size=1, max_size=40)
    ),
    st.randoms(use_true_random=False),
)
def test_sums_of_rows_that_fit_each_other(rows, random):
    rows = [*dict.fromkeys(rows)]
    count = [random.randint(1, 9) for _ in rows]
    worth = [float(random.randint(1, 9)) for _ in rows]
    many, total = count_fitting(np.array(rows, np.int32), np.array(count), np.array(worth))
    assert many.tolist() == sharing.counts_with_any(rows, count)[1]
    assert total.tolist() == sharing.counts_with_any(rows, worth)[1]


@pytest.mark.parametrize("few", [1, 50_000_000])
def test_many_rows_that_lack_different_columns(monkeypatch, few):
    """Parts of different sizes, joined at once and one by one."""
    monkeypatch.setattr(fitting, "AT_A_TIME", few)
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 4, (600, 5)).astype(np.int32)
    rows[rng.random((600, 5)) < 0.2] = -1
    _, first, size = group_rows(rows)
    rows = rows[first]
    many, total = count_fitting(rows, size, size / 2)
    own = sharing.counts_with_any(rows.tolist(), size.tolist())[1]
    assert many.tolist() == own
    assert (2 * total).tolist() == own
