"""Where a table is cut: part numbers, samples, cuts between classes, parts that are united."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms._shared.parts import cuts as module
from shoal.algorithms._shared.parts.cuts import (
    Cuts,
    Parting,
    as_classes,
    choose_cuts,
    memory_for,
    part_of,
    sampled,
    taken,
    united,
)
from shoal.algorithms.peel import Peel
from shoal.hierarchies.base import Hierarchy
from shoal.losses.ncp import NCP
from shoal.models.delta_disclosure import DeltaDisclosure
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.table.encode import Table
from shoal.table.sensitive import Sensitive

# Codes below 4 of column 0 go to part 2; the others by column 1 to parts 0 and 1.
TREE = Cuts((0, 1), (4, 2), (-3, -1), (1, -2))


def table(codes, values=None, weight=None, sizes=(9, 9)):
    """A table of numbers with flat hierarchies; the code of a number is one more."""
    trees = tuple(Hierarchy.flat().tree([str(i) for i in range(size)]) for size in sizes)
    codes = np.asarray(codes, np.int32)
    secret = ()
    if values is not None:
        secret = (Sensitive.of("s", np.asarray(values, np.int32), list("abcdefg")),)
    names = tuple(f"q{j}" for j in range(len(sizes)))
    weight = None if weight is None else np.asarray(weight)
    return Table(names, trees, codes, None, (True,) * len(sizes), secret, weight)


def chosen(given, parts=1, limit=None, tuples=None):
    tuples = len(given.codes) if tuples is None else tuples
    rng = np.random.default_rng(0)
    return choose_cuts(given, tuples, Parting(parts, limit), Peel(), [KAnonymity(k=2)], NCP(), rng)


@pytest.fixture
def small(monkeypatch):
    """Parts of small tables have enough people, too."""
    monkeypatch.setattr(module, "FEWEST", 1)


def test_the_part_of_a_tuple_is_that_of_its_leaf():
    codes = np.random.default_rng(1).integers(0, 9, (300, 2)).astype(np.int32)

    def naive(row):
        at = 0
        while at >= 0:
            side = TREE.low if row[TREE.column[at]] < TREE.code[at] else TREE.high
            at = side[at]
        return -1 - at

    assert part_of(TREE, codes).tolist() == [naive(row) for row in codes.tolist()]
    assert part_of(Cuts(), codes).tolist() == [0] * 300
    assert (TREE.parts, Cuts().parts) == (3, 1)


def test_a_cut_is_where_no_class_is_on_both_sides(small):
    """Two groups far apart in column 1, mixed in column 0."""
    rng = np.random.default_rng(2)
    codes = np.stack([rng.integers(1, 9, 200), np.repeat([2, 7], 100)], axis=1)
    cuts = chosen(table(codes), parts=2)
    assert cuts.column == (1,)
    assert 2 < cuts.code[0] <= 7
    assert np.bincount(part_of(cuts, codes)).tolist() == [100, 100]


@pytest.mark.parametrize("limit", [10, 40, 100])
def test_no_part_has_more_tuples_than_the_limit(small, limit):
    codes = np.unique(np.random.default_rng(3).integers(1, 9, (400, 2)), axis=0)
    cuts = chosen(table(codes), limit=limit)
    size = np.bincount(part_of(cuts, codes))
    assert size.max() <= limit
    assert size.min() > 0
    assert (cuts.parts > 1) == (limit < len(codes))


def test_a_part_has_enough_people():
    """One value of 300 has 3 people: k = 2 would be enough for classes, not for a part."""
    codes = np.stack([np.repeat([1, 5], [297, 3]), np.arange(300) % 8 + 1], axis=1)
    for parts in (2, 3, 50):
        cuts = chosen(table(codes), parts=parts)
        assert np.bincount(part_of(cuts, codes)).min() >= module.FEWEST * 2


def test_values_that_cannot_be_cut_stay_one_part(small):
    assert chosen(table(np.ones((30, 2))), parts=8) == Cuts()
    assert chosen(table(np.ones((1, 2))), parts=8) == Cuts()


def test_a_sample_depends_on_values_alone():
    codes = np.unique(np.random.default_rng(4).integers(1, 9, (60, 2)), axis=0)
    order = np.random.default_rng(5).permutation(len(codes))
    some = sampled(table(codes), 20).codes
    assert len(some) == 20
    assert sorted(some.tolist()) == sorted(sampled(table(codes[order]), 20).codes.tolist())
    assert sampled(table(codes), 99).codes.tolist() == codes.tolist()


def test_cuts_of_a_sample_are_scaled_to_the_table(small):
    """The limit is about the tuples of the table, of which the sample has a tenth."""
    codes = np.unique(np.random.default_rng(6).integers(1, 9, (40, 2)), axis=0)
    alone = chosen(table(codes), limit=20)
    assert alone.parts > 1
    assert chosen(table(codes), limit=200, tuples=10 * len(codes)) == alone


def test_models_compare_a_part_with_the_whole_table():
    values = [0, 0, 1, 1, 2, 2]
    whole = table([[1, 1]] * 6, values, weight=[1, 2, 3, 4, 5, 6])
    part = taken(whole, np.array([0, 1]))
    histogram = part.tally(True).histograms["s"]
    assert histogram.total.tolist() == [3, 7, 11, 0, 0, 0, 0]
    assert taken(part, np.array([1])).tally(True).histograms["s"].total.tolist()[:3] == [3, 7, 11]
    assert part.sensitive[0].in_order().total.tolist()[:3] == [3, 7, 11]
    assert TCloseness(column="s", t=1.0).levels(part.as_one_class())[0] == pytest.approx(18 / 21)
    assert part.domains is whole.domains


FOUR = Cuts((0, 0, 0), (5, 3, 7), (1, -1, -3), (2, -2, -4))  # a balanced tree of four parts


def four(values):
    """Ten records in each of four parts, with these sensitive values."""
    codes = np.repeat([[1, 1], [3, 1], [5, 1], [7, 1]], 10, axis=0)
    return table(codes, np.concatenate(values))


@pytest.mark.parametrize(
    ("models", "parts"),
    [
        ([KAnonymity(k=10)], [0, 1, 2, 3]),
        ([KAnonymity(k=11)], [0, 0, 1, 1]),
        ([KAnonymity(k=21)], [0, 0, 0, 0]),
        ([KAnonymity(k=2), DistinctLDiversity(column="s", l=2)], [0, 1, 2, 2]),
        ([KAnonymity(k=2), DistinctLDiversity(column="s", l=3)], [0, 0, 0, 0]),
        ([DeltaDisclosure(column="s", delta=50.0)], [0, 0, 0, 0]),
    ],
)
def test_parts_that_violate_a_model_are_united(models, parts):
    rest = np.repeat([0, 1], 5)
    given = four([rest, rest, rest, np.full(10, 2)])
    number = part_of(FOUR, given.codes)
    cuts = united(FOUR, as_classes(given, number, 4), models)
    assert part_of(cuts, given.codes)[::10].tolist() == parts
    assert cuts.parts == max(parts) + 1


def test_classes_of_parts_are_in_their_order():
    given = four([np.full(10, 3), np.full(10, 1), np.full(10, 0), np.full(10, 2)])
    order = np.random.default_rng(7).permutation(40)
    mixed = taken(given, order)
    classes = as_classes(mixed, part_of(FOUR, mixed.codes), 4)
    assert classes.people.tolist() == [10] * 4
    assert classes.histograms["s"].value.tolist() == [3, 1, 0, 2]


def test_the_memory_sets_the_limit():
    need = memory_for(1_000_000)
    assert Parting(memory=need).within(1_000_000) == Parting()
    half = memory_for(1_000_000, 2)  # half of the tuples are recoded at once
    assert Parting(memory=half).within(1_000_000) == Parting(limit=500_000)
    assert Parting(memory=half - 1).within(1_000_000).limit == 499_999
    assert Parting(3, memory=need).within(1_000_000) == Parting(3)
    assert Parting(memory=1).within(10_000).limit == 10_000 // module.MOST_PARTS


def test_a_large_table_is_cut_for_threads_if_there_is_enough_memory():
    large, need = module.LARGE + 1, memory_for(module.LARGE + 1)
    found = Parting(memory=need, shared=True).within(large)
    assert found == Parting(limit=module.SHARED, shared=True)
    assert Parting(memory=need, shared=True).within(large - 1) == Parting()
    assert not Parting(memory=need - 1, shared=True).within(large).shared
    assert Parting(3, shared=True).within(large) == Parting(3)
    assert Parting(memory=need).within(large) == Parting()


@pytest.mark.usefixtures("small")
def test_threads_share_parts_only_where_hardly_a_class_is_cut(monkeypatch):
    """No class has both values of the first column, but all values of the second are in one."""
    given = table([[1 + first, 1 + second] for first in range(2) for second in range(8)])

    def shared(crossing):
        monkeypatch.setattr(module, "CROSSING", crossing)
        rng = np.random.default_rng(0)
        parting = Parting(limit=4, shared=True)
        return choose_cuts(given, 16, parting, Peel(), [KAnonymity(k=2)], NCP(), rng)

    few, many = shared(0.0), shared(1.0)
    assert many == chosen(given, limit=4)
    assert many.parts > 2
    assert few == Cuts((0,), (2,), (-1,), (-2,))
