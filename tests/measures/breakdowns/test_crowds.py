"""Among how many people everybody is hidden: counted again on lists."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

import shoal
from shoal.measures.breakdowns.crowds import crowd_facts, middle
from tests.measures.verdicts.test_verdict import people, plan


@pytest.mark.parametrize("role", ["identifier", "person"])
@pytest.mark.parametrize("seed", range(3))
def test_it_counts_what_naive_code_counts(role, seed):
    table = people(seed=seed)
    release = shoal.anonymize(table, plan(role))
    after = release.frame
    after = after.assign(who=range(len(after))) if role == "identifier" else after
    before = table.assign(who=range(len(table))) if role == "identifier" else table
    assert dict(release.after.crowds) == naive(after)
    assert dict(release.before.crowds) == naive(before)


def naive(table):
    classes = {}
    for row in table.to_dict("records"):
        classes.setdefault(row["who"], set()).add((row["age"], row["city"]))
    return Counter(
        sum(1 for other in classes.values() if mine <= other) for mine in classes.values()
    )


def test_steps_cover_everybody_once_and_begin_at_k():
    before = tuple((size, size + 1) for size in range(1, 230))
    after = ((13, 26), (120, 120))
    for k in (1, 2, 5, 12, 99, 100, 500):
        found = crowd_facts(before, after, k)
        assert sum(one.before for one in found) == sum(many for _, many in before)
        assert sum(one.after for one in found) == 146
        assert (k in {one.fewest for one in found}) == (k <= 100)
        for one, following in pairwise(found):
            assert one.most + 1 == following.fewest
        assert found[-1].most is None


def test_the_middle_is_that_of_people():
    assert middle(((1, 1), (2, 2), (9, 9))) == 9
    assert middle(((1, 10), (2, 2), (9, 9))) == 2
    with pytest.raises(ValueError, match="no people"):
        middle(())
