"""Equal rows are grouped in the order of their first appearance, in parts and on threads too."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.base.threads import limited
from shoal.kernels import group

WIDE = 2**31 - 1  # three such columns do not fit into one key


def naive(codes: np.ndarray) -> tuple[list[int], list[int], list[int]]:
    """The same with a dictionary."""
    groups: dict[tuple[int, ...], int] = {}
    label = [groups.setdefault(tuple(row), len(groups)) for row in codes.tolist()]
    first = [label.index(g) for g in range(len(groups))]
    return label, first, [label.count(g) for g in range(len(groups))]


def rows(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    if kind == "equal":
        return np.full((n, 3), 7, np.int32)
    if kind == "wide":  # values at both ends, so that keys are hashes
        return rng.choice(np.array([-WIDE, -1, 0, WIDE], np.int32), (n, 3))
    if kind == "distinct":
        return np.stack([np.arange(n), -np.arange(n)], axis=1).astype(np.int32)
    return rng.integers(-1, 6, (n, 4)).astype(np.int32)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("kind", ["few", "equal", "wide", "distinct"])
@pytest.mark.parametrize("n", [1, 2, 700])
def test_parts_against_a_dictionary(
    monkeypatch: pytest.MonkeyPatch, n: int, kind: str, threads: int
) -> None:
    codes = rows(kind, n)
    alone = group.group_rows(codes)
    monkeypatch.setattr(group, "LONG", 1)
    monkeypatch.setattr(group, "PART", 16)
    monkeypatch.setattr(group, "AT_A_TIME", 999)
    with limited(threads):
        found = group.group_rows(codes)
    assert [one.tolist() for one in found] == list(naive(codes))
    assert [one.tolist() for one in alone] == list(naive(codes))
    assert [one.dtype for one in found] == [one.dtype for one in alone]


def test_equal_hashes_are_not_equal_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where keys are hashes, the rows themselves decide."""

    def one_key(codes, begin, stop, low, shift, exact, down, key, counts) -> None:
        key[begin:stop] = 5
        counts[0] += stop - begin

    codes = rows("wide", 60)
    monkeypatch.setattr(group, "make_keys", one_key)
    monkeypatch.setattr(group, "LONG", 1)
    assert [one.tolist() for one in group.group_rows(codes)] == list(naive(codes))


def test_no_rows() -> None:
    assert [len(one) for one in group.group_rows(np.zeros((0, 2), np.int32))] == [0, 0, 0]
