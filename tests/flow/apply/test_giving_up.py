"""Models about the whole table, when a recoding is applied: nothing is suppressed needlessly."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import Fitted, NotHeld, Plan
from shoal.models.average_risk import AverageRisk
from shoal.models.share_at_risk import ShareAtRisk
from tests.strategies import examples

SIZES = st.lists(st.integers(1, 6), min_size=1, max_size=8)
AVERAGE = st.sampled_from([0.2, 0.25, 0.3, 0.5, 0.8])
AT_RISK = st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5]), st.sampled_from([0.2, 0.25, 0.34, 0.5]))


def fitted(models, vectors):
    """A recoding of the columns x and y with these published values."""
    hierarchy = {"levels": [[f"c{i}", "all"] for i in range(8)]}
    columns = {"x": {"role": "quasi", "hierarchy": hierarchy}}
    return Fitted(Plan(columns=columns, models=models), tuple(vectors))


def table_of(sizes):
    return pa.table({"x": [f"c{i}" for i, size in enumerate(sizes) for _ in range(size)]})


def fewest_suppressed(model, sizes):
    """Brute force: over all sets of classes that stay, the fewest records suppressed, or None."""
    found = []
    for many in range(1, len(sizes) + 1):
        for stay in combinations(sizes, many):
            people = np.array(stay)
            if model.holds(float((people * model.risk(people)).sum() / people.sum())):
                found.append(sum(sizes) - sum(stay))
    return min(found, default=None)


def suppressed(model, sizes, vectors):
    try:
        release = fitted([model], vectors).apply(table_of(sizes))
    except NotHeld:
        return None
    assert release.checks[0].holds
    return release.applied.left_out


ONLY = [(f"c{i}",) for i in range(8)]  # no record can move


@settings(max_examples=examples(60))
@given(SIZES, AVERAGE)
def test_no_choice_of_classes_suppresses_fewer_for_average_risk(sizes, r):
    model = AverageRisk(r=r)
    assert suppressed(model, sizes, ONLY) == fewest_suppressed(model, sizes)


@settings(max_examples=examples(60))
@given(SIZES, AT_RISK)
def test_share_at_risk_suppresses_less_than_one_class_in_excess(sizes, asked):
    model = ShareAtRisk(share=asked[0], threshold=asked[1])
    least, found = fewest_suppressed(model, sizes), suppressed(model, sizes, ONLY)
    assert (least is None) == (found is None)
    if found is not None:
        assert least <= found <= least + max(0, model.sufficient_people - 2)


@settings(max_examples=examples(40))
@given(SIZES, AVERAGE)
def test_records_move_rather_than_being_suppressed(sizes, r):
    """A class that covers everyone takes the records of the small ones; it never costs people."""
    model = AverageRisk(r=r)
    least = fewest_suppressed(model, sizes)
    found = suppressed(model, sizes, [*ONLY, ("all",)])
    if least is not None:
        assert found is not None
        assert found <= least
    small = [size for size in sizes if 1 / size > r]
    if sum(small) >= model.sufficient_people:
        assert found == 0


def test_just_enough_is_given_up():
    """40 classes of one record and one of 760 at an average of at most 0.05: two records go."""
    hierarchy = {"levels": [[f"c{i:02}", "all"] for i in range(41)]}
    columns = {"x": {"role": "quasi", "hierarchy": hierarchy}}
    plan = Plan(columns=columns, models=[{"name": "average-risk", "r": 0.05}])
    table = pa.table({"x": [f"c{i:02}" for i in range(40)] + ["c40"] * 760})
    release = Fitted(plan, tuple((f"c{i:02}",) for i in range(41))).apply(table)
    assert release.applied.left_out == 2  # 39 classes of 798 are 0.0489; 40 of 799 are 0.0501
    assert release.checks[0].reached == pytest.approx(39 / 798)


def test_the_words_are_about_the_table_and_not_about_k():
    release = fitted([AverageRisk(r=0.5)], ONLY).apply(table_of([1, 1, 1, 2]))
    notes = " ".join(release.notes)
    assert "suppressed: 3 records with which this table would exceed average-risk" in notes
    assert "whose class would violate" not in notes
    with pytest.raises(NotHeld) as error:
        fitted([AverageRisk(r=0.5)], ONLY).apply(table_of([1, 1, 1, 2]), most_left_out=0.01)
    assert "larger k" not in str(error.value)
    assert "stricter requirements" in str(error.value)
    with pytest.raises(NotHeld, match="this table would exceed average-risk") as error:
        fitted([AverageRisk(r=0.2)], ONLY).apply(table_of([1, 1, 1, 2]))
    assert "no class of the recoding satisfies" not in str(error.value)
