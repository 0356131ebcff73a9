"""Weights of groups that are possible."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.search.cell_groups import use_others, use_room
from tests.algorithms._shared.relaxation.test_relaxation import pricing_of
from tests.strategies import examples, tables

groups_of = st.lists(
    st.dictionaries(st.integers(0, 4), st.integers(1, 3), min_size=1, max_size=3),
    min_size=1,
    max_size=6,
)
NOTHING = 1e-9


@settings(max_examples=examples(100), deadline=None)
@given(groups=groups_of, data=st.data())
def test_groups_get_what_their_members_have_room_for(groups, data):
    start = np.append(0, np.cumsum([len(group) for group in groups]))
    member = np.array([x for group in groups for x in group])
    rows = [many / sum(group.values()) for group in groups for many in group.values()]
    share, order = np.array(rows), np.array(data.draw(st.permutations(range(len(groups)))))
    some = st.floats(0, 20)
    size = np.array(data.draw(st.lists(some, min_size=5, max_size=5)))
    wanted = np.array(data.draw(st.lists(some, min_size=len(groups), max_size=len(groups))))
    weight, room = np.zeros(len(groups)), size.copy()

    use_room(start, member, share, order, weight, wanted, room)
    used = np.bincount(member, share * np.repeat(weight, np.diff(start)), 5)
    assert (weight <= wanted + NOTHING).all()
    assert (used <= size + NOTHING).all()
    assert room == pytest.approx(size - used, abs=1e-6)
    first, members = order[0], groups[order[0]]
    most = min(size[x] / (many / sum(members.values())) for x, many in members.items())
    assert weight[first] == pytest.approx(min(wanted[first], most))

    use_room(start, member, share, order, weight, np.full(len(groups), np.inf), room)
    used = np.bincount(member, share * np.repeat(weight, np.diff(start)), 5)
    assert (used <= size + 1e-6).all()
    for group in groups:  # none has room left
        assert min(room[x] for x in group) <= 1e-6


@settings(max_examples=examples(100), deadline=None)
@given(data=st.data(), table=tables(most_rows=14, most_columns=3), k=st.integers(2, 5))
def test_others_give_as_many_rows_as_are_counted(data, table, k):
    """One tuple for each group, which stands for its cell: the tuple's own values."""
    pricing, _ = pricing_of(table, k)
    tuples, size, n = pricing.tuples, pricing.size, len(pricing.size)
    share = st.floats(0, 1)
    room = np.array(data.draw(st.lists(share, min_size=n, max_size=n))) * size
    lacking = np.array(data.draw(st.lists(st.floats(0, 6), min_size=3, max_size=3)))
    pairs = data.draw(
        st.lists(st.lists(st.integers(0, n - 1), min_size=2, max_size=2), min_size=3, max_size=3)
    )
    start, member = np.array([0, 2, 4, 6]), np.array(pairs).ravel()
    q = tuples.vector.shape[1]
    scratch = np.empty((q, 2), np.int64), np.empty(n, np.int64), np.empty(q, np.int32)
    for g in range(3):
        before, wanted = room.copy(), lacking.copy()
        use_others(
            tuples, pricing.trees, start, member, np.array([g]), lacking, size, k, room, *scratch
        )
        got, given = wanted[g] - lacking[g], before - room
        assert (room >= 0).all()
        assert given.sum() == pytest.approx(got, abs=1e-6)
        assert (given <= got * np.minimum(size, k) / k + 1e-6).all()
