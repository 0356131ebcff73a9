"""Attacks on two tables of an anatomy against naive twins, on tables that nobody made safe."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.io.frames import Frame
from shoal.measures.anatomy.anatomy_attacks import MOST_RULED_OUT, attack
from shoal.measures.anatomy.two_tables import TwoTables
from tests.naive.anatomy import ruled_out

records = st.tuples(st.integers(1, 3), st.integers(0, 2), st.sampled_from("abcd"))


def two_tables(rows):
    """The two tables of records with a group, a quasi-identifier and a sensitive value."""
    pairs = sorted({(group, value) for group, _, value in rows})
    count = [sum((g, v) == pair for g, _, v in rows) for pair in pairs]
    first = pa.table({"group": [g for g, _, _ in rows], "age": [a for _, a, _ in rows]})
    groups, values = ([one[i] for one in pairs] for i in (0, 1))
    return first, pa.table({"group": groups, "disease": values, "count": count})


@given(rows=st.lists(records, min_size=1, max_size=25))
def test_attacks_agree_with_the_definition(rows):
    first, second = two_tables(rows)
    found = attack(TwoTables.of(Frame(first), Frame(second), "disease"))
    inside = {g: [v for h, _, v in rows if h == g] for g, _, _ in rows}
    ages = [age for _, age, _ in rows]
    assert found.linkage == pytest.approx(sum(1 / ages.count(age) for age in ages) / len(ages))
    assert found.unique == pytest.approx(sum(ages.count(age) == 1 for age in ages) / len(ages))
    alone = sum(len(set(inside[g])) == 1 for g, _, _ in rows)
    assert found.homogeneous == pytest.approx(alone / len(rows))
    assert found.values_to_certainty == min(len(set(values)) for values in inside.values()) - 1
    assert len(found.ruled_out) == found.values_to_certainty + 1 <= MOST_RULED_OUT
    for known, sure in enumerate(found.ruled_out):
        assert sure == pytest.approx(ruled_out(second, known))
    assert found.ruled_out[-1] == 1
    assert found.surest <= found.ruled_out[0] + 1e-12
