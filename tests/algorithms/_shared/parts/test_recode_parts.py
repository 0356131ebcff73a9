"""A table recoded part by part: what its parts are, and what is exchanged between them."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.parts import cuts as cutting
from shoal.algorithms._shared.parts import recode_parts as module
from shoal.algorithms._shared.parts.borders import Borders
from shoal.algorithms._shared.parts.cuts import Parting, part_of, taken
from shoal.algorithms._shared.parts.joined import Joined
from shoal.algorithms.gaa import GAA
from shoal.algorithms.mdav import MDAV
from shoal.algorithms.mondrian import Mondrian
from shoal.algorithms.peel import Peel
from shoal.base.progress import silent
from shoal.hierarchies.base import Hierarchy
from shoal.losses._alterations import alterations
from shoal.losses.nllm import NLLM
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding, check_covers

MODELS = [KAnonymity(k=3)]


@pytest.fixture
def small(monkeypatch):
    """Parts of small tables have enough people, too."""
    monkeypatch.setattr(cutting, "FEWEST", 1)


def table(seed=0, rows=240, free=False):
    """Distinct tuples with weights, around a few centres."""
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, 5, rows)
    both = np.stack([centre * 7 + rng.geometric(0.3, rows), rng.geometric(0.2, rows)], axis=1)
    codes, weight = np.unique(np.minimum(both, 40), axis=0, return_counts=True)
    numbers = [str(i) for i in range(1, 41)]
    trees = [Hierarchy.ranges([2, 4, 8, 16]).tree(numbers), Hierarchy.flat().tree(numbers)]
    if free:
        trees = [Hierarchy.free_ranges().tree(numbers), Hierarchy.free_sets().tree(numbers)]
    nodes = [
        [tree.node(str(value)) for value in codes[:, j].tolist()] for j, tree in enumerate(trees)
    ]
    cells = np.ascontiguousarray(np.array(nodes, np.int32).T)
    return Table(("a", "b"), tuple(trees), cells, None, (True, True), (), weight)


def recoded(given, parts, algorithm=None, models=MODELS, progress=silent):
    algorithm = Peel() if algorithm is None else algorithm
    rng = np.random.default_rng(1)
    return module.recode_in_parts(algorithm, given, models, NLLM(), rng, progress, Parting(parts))


def lost(given, recoding):
    return alterations(given, recoding, [NLLM()])[0]


def people(given, recoding):
    return np.bincount(recoding.record, given.weight)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("parts", [2, 5, 1_000])
@pytest.mark.parametrize("algorithm", [Peel(), GAA(), Mondrian()], ids=lambda one: one.name)
def test_all_classes_are_large_enough(algorithm, parts, free):
    given = table(free=free)
    if free and not algorithm.free:
        return
    found = recoded(given, parts, algorithm)
    check_covers(given, found)
    assert people(given, found).min() >= 3
    assert found.parts == parts or (parts == 1_000 and found.parts > 5)


@pytest.mark.usefixtures("small")
def test_a_class_size_that_no_part_has_needs_the_whole_table():
    given = table()
    size = int(given.weight.sum())
    found = recoded(given, 4, models=[KAnonymity(k=size)])
    assert found.parts == 1
    assert people(given, found).tolist() == [size]


@pytest.mark.usefixtures("small")
def test_algorithms_that_need_single_records_work_in_parts():
    given = table()
    rows = np.repeat(np.arange(len(given.codes)), given.weight)
    single = Table(given.names, given.trees, given.codes[rows], None, given.exact)
    found = recoded(single, 4, MDAV())
    assert found.parts == 4
    assert np.bincount(found.record).min() >= 3


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(3))
def test_exchange_between_parts_loses_less_and_never_more(seed, monkeypatch):
    given = table(seed, rows=600)
    together = recoded(given, 12)
    monkeypatch.setattr(Borders, "exchange", lambda *_: False)
    apart = recoded(given, 12)
    assert together.parts == apart.parts == 12
    assert lost(given, together) <= lost(given, apart)
    assert seed or lost(given, together) < lost(given, apart)


class Recorded(Algorithm):
    """Peeling that writes down how many tuples it is given."""

    name = "recorded"

    def serves(self, model):
        return True

    def recode(self, table, models, loss, rng, progress=silent):
        SIZES.append(len(table.codes))
        return Peel().recode(table, models, loss, rng, progress)


SIZES: list[int] = []


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("limit", [20, 60])
def test_nothing_but_the_sample_has_more_tuples_than_the_limit(monkeypatch, limit):
    monkeypatch.setattr(cutting, "SAMPLE", 50)
    given = table(rows=900)
    SIZES.clear()
    rng = np.random.default_rng(1)
    found = module.recode_in_parts(
        Recorded(), given, MODELS, NLLM(), rng, silent, Parting(limit=limit)
    )
    # A part is estimated from the sample, and one that cannot be cut further may be larger.
    sample, *rest = SIZES
    assert sample <= 50
    assert len(rest) > found.parts > 2
    assert sorted(rest)[len(rest) // 2] <= limit
    assert max(rest[found.parts :]) <= limit  # of exchange, which is exact


@pytest.mark.usefixtures("small")
def test_a_worse_recoding_is_not_taken():
    """Classes of two parts as one class: everything would be lost."""
    given = table()
    number = part_of(module.cuts_of(Peel(), given, MODELS, NLLM(), 1, silent, Parting(2)),
                     given.codes)  # fmt: skip
    joined = Joined(given)
    for part in range(2):
        rows = np.flatnonzero(number == part)
        joined.add_part(rows, Peel().recode(taken(given, rows), MODELS, NLLM(), None))
    before = joined.recoding()

    class Roots(Recorded):
        def recode(self, table, models, loss, rng, progress=silent):
            return Recoding(np.zeros((1, 2), np.int32), np.zeros(len(table.codes), np.int64))

    borders = Borders(Roots(), given, MODELS, NLLM(), joined)
    assert not borders.exchange(np.arange(len(number)), 10**6, None, silent)
    assert np.array_equal(joined.recoding().codes(), before.codes())
    borders = Borders(Peel(), given, MODELS, NLLM(), joined)
    assert (borders.lost >= 0).all()
    assert (borders.lost[(before.codes() == given.codes).all(axis=1)] == 0).all()


def test_recodings_are_joined_by_their_values():
    """Free values have other codes in each part; equal vectors are one class."""
    given = table(free=True)
    joined, parts = Joined(given), np.array_split(np.arange(len(given.codes)), 3)
    expected = np.empty((len(given.codes), 2), object)
    for rows in parts:
        found = GAA().recode(taken(given, rows), MODELS, NLLM(), None)
        joined.add_part(rows, found)
        for j in range(2):
            labels = np.array(found.covers[j].labels(), object)
            expected[rows, j] = labels[found.codes()[:, j]]
    whole = joined.recoding()
    labels = [np.array(covers.labels(), object) for covers in whole.covers]
    shown = np.stack([labels[j][whole.codes()[:, j]] for j in range(2)], axis=1)
    assert shown.tolist() == expected.tolist()
    assert len(whole.vectors) == len({tuple(row) for row in expected.tolist()})
    nobody = Recoding(given.codes[:1], np.full(len(parts[0]), SUPPRESSED))
    joined.add(parts[0], nobody)
    assert joined.recoding().suppressed == len(parts[0])


@pytest.mark.usefixtures("small")
def test_progress_rises_through_all_parts():
    seen = []
    recoded(table(), 6, progress=lambda stage, share: seen.append((stage, share)))
    stages = list(dict.fromkeys(stage for stage, _ in seen))
    assert stages == ["choosing cuts", "recoding parts", "exchanging between parts"]
    for name in stages[1:]:
        shares = [share for stage, share in seen if stage == name]
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


def test_remarks_of_parts_are_repeated_a_few_times():
    given = table()
    joined = Joined(given)
    for rows in np.array_split(np.arange(len(given.codes)), 5):
        each = np.arange(len(rows))
        joined.add_part(rows, Recoding(given.codes[rows], each, notes=("slow",)))
    notes = joined.recoding().notes
    assert notes[0] == "part 1 of 5: slow"
    assert notes[-1] == "and 2 more such remarks on parts"
    assert len(notes) == 4
