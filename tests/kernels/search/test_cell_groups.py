"""Weights of groups that are possible."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.search.cell_groups import use_room
from tests.strategies import examples

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
