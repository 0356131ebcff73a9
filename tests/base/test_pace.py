"""Kernels stop after few pieces of work, so that progress and Ctrl-C get their turn."""

from __future__ import annotations

import numpy as np
import pytest

from shoal import catalog
from shoal.algorithms._shared import indexed
from shoal.base import pace
from shoal.base.pace import INTERVAL, Pace
from shoal.hierarchies.base import Hierarchy
from shoal.losses.ncp import NCP
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table

K = 50
ROWS = 200


def test_begins_small_and_grows_while_calls_are_quick():
    one = Pace()
    given = []
    for _ in range(4):
        given.append(one.begin())
        one.adapt(0.0)
    assert given == [1, 2, 4, 8]


def test_one_long_call_is_enough_to_shrink():
    one = Pace(1000)
    one.adapt(10 * INTERVAL)
    assert one.pieces == 100
    one.adapt(1e6)
    assert one.pieces == 1


@pytest.mark.parametrize("name", ["k-member", "mdav"])
def test_a_cluster_of_many_can_be_interrupted(name, monkeypatch):
    """With one look a call, progress is told about every person, not every cluster."""
    monkeypatch.setattr(pace, "GROWTH", 1)
    monkeypatch.setattr(indexed, "Pace", lambda _: Pace(1))
    tree = Hierarchy.ranges([4, 16]).tree(range(60))
    leaves = np.flatnonzero(tree.end == np.arange(tree.size) + 1)
    rng = np.random.default_rng(0)
    codes = rng.choice(leaves, (ROWS, 2)).astype(np.int32)
    table = Table(("a", "b"), (tree, tree), codes, None, (True, True))
    told = []
    catalog.algorithms[name]().recode(
        table, [KAnonymity(k=K)], NCP(), rng, lambda stage, share: told.append((stage, share))
    )
    shares = [share for stage, share in told if stage == "filling clusters"]
    assert len(shares) >= ROWS - 2 * K
    assert max(np.diff(shares)) <= 2 / ROWS
    assert shares == sorted(shares)


def test_short_work_does_not_make_later_parts_long(monkeypatch):
    """Parts that had few pieces were quick because of that, and show nothing about more of them."""
    monkeypatch.setattr(pace, "perf_counter", lambda: 0.0)
    one = Pace(4)
    for _ in range(100):
        assert list(pace.parts(3, one)) == [(0, 3)]
    begin, stop = next(pace.parts(1_000_000, one))
    assert (begin, stop) == (0, 6)


def test_a_short_part_that_took_long_shrinks_to_what_would_have_fit(monkeypatch):
    now = iter([0.0, 0.0, 4 * INTERVAL])
    monkeypatch.setattr(pace, "perf_counter", lambda: next(now))
    one = Pace(1_000)
    assert list(pace.parts(40, one)) == [(0, 40)]
    assert one.pieces == 10
