"""Rows are sorted by all columns, however many bits their values take."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.sorting import by_group, packed_keys, sort_rows


@pytest.mark.parametrize("high", [2, 1_000, 2**31 - 1])
@pytest.mark.parametrize("seed", range(3))
def test_sorting_against_lexsort(seed: int, high: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.integers(-high, high, (5, 400), dtype=np.int32)
    columns[:, 200:] = columns[:, :200]  # equal rows stay in their order
    major = rng.integers(0, 9, 400).astype(np.uint64)
    assert (sort_rows(columns) == np.lexsort(columns[::-1])).all()
    assert (sort_rows(columns, major) == np.lexsort((*columns[::-1], major))).all()


def test_few_values_need_one_key() -> None:
    columns = np.random.default_rng(0).integers(0, 50, (9, 30), dtype=np.int32)
    assert len(packed_keys(columns)) == 1
    assert len(packed_keys(columns * 1_000_000)) > 1


def test_no_rows() -> None:
    assert sort_rows(np.zeros((2, 0), np.int32)).tolist() == []


@pytest.mark.parametrize(("n", "many"), [(0, 1), (1, 1), (30, 1), (30, 4), (30, 100)])
@pytest.mark.parametrize("seed", range(3))
def test_sorts_by_group(seed: int, n: int, many: int) -> None:
    rng = np.random.default_rng(seed)
    group, order = rng.integers(many, size=n), rng.permutation(n)[: rng.integers(n + 1)]
    assert by_group(group, many).tolist() == np.argsort(group, kind="stable").tolist()
    expected = sorted(order.tolist(), key=lambda number: group[number])
    assert by_group(group.astype(np.int32), many, order).tolist() == expected
