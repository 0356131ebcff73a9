"""Where to cut a table: between values that few classes have in common.

A cut costs nothing if no class has tuples on both sides of it. So a sample is recoded, and each
part that is too large is cut where the fewest records of the sample are in such classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.requirements import all_satisfied
from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.progress import Progress, silent
from shoal.losses import Loss
from shoal.models import Model, min_class_size
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.person_order import mixed
from shoal.table.recoding import SUPPRESSED

# Bytes per distinct tuple in all, and without recoding it. With nine columns, 224,123 tuples took
# 694 bytes each for peeling, in 16 parts 175 bytes. Values, measures and attacks of 2,911,230
# tuples took up to 368 bytes each, next to the process itself, and 490 after DuckDB and recoding,
# of which allocators keep some. The rest is a margin for more columns, which were not measured.
PER_TUPLE, HELD = 1_350, 650
MOST_PARTS = 64  # into which a table is cut because of its memory: more save nothing
SAMPLE = 20_000  # tuples of the sample, at the most
SECONDS = 10.0  # of the algorithm on the sample, by its own estimate, at the most
FEWEST = 20  # people of a part, at the least, as a multiple of the class size
ROOM = 0.9  # share of the limit that a part of the sample may fill: it is an estimate
SMALL = 0.01  # share of crossing records below which an even cut counts more
# A table of more than LARGE tuples is cut into parts of up to SHARED tuples, which threads recode
# at the same time, if each cut goes through the classes of at most CROSSING of the sampled records
# and no part has more than EVEN of all tuples (`benchmarks/parts.py`: what that loses).
LARGE, SHARED, CROSSING, EVEN = 100_000, 50_000, 0.01, 0.5
# The sample then has one of EACH tuples, but at least LEAST, and PER_PERSON for each person that a
# class needs: classes of a small sample are wider than those of the table, and cuts look worse.
EACH, LEAST, PER_PERSON = 25, 8_000, 200


@dataclass(frozen=True)
class Parting:
    """Into how many parts a table is cut."""

    parts: int = 1  # at least, if the values and the models allow it
    limit: int | None = None  # tuples of a part, at the most; None: any number
    memory: int | None = None  # bytes in which the table must be recoded; None: any number
    shared: bool = False  # cut a large table where that costs little: threads share the parts
    # Recodes the parts elsewhere (`part_task.MapParts`), with the same result; None: here.
    elsewhere: Callable[..., Any] | None = field(default=None, compare=False)

    def within(self, tuples: int) -> Parting:
        """The same for a table of so many tuples: with a limit if the memory requires one.

        The number of threads does not matter, so that the release does not depend on it.
        """
        limit = self.limit
        if self.memory is not None and tuples * PER_TUPLE > self.memory:
            room = (self.memory - tuples * HELD) // (PER_TUPLE - HELD)
            limit = min(limit or tuples, max(room, tuples // MOST_PARTS, 1))
        if limit is not None and tuples <= limit:
            limit = None
        shared = self.shared and limit is None and self.parts == 1 and tuples > LARGE
        if shared:
            limit = SHARED
        return Parting(self.parts, limit, shared=shared, elsewhere=self.elsewhere)

    def of_part(self, tuples: int, whole: int) -> Parting:
        """The same for so many of the tuples, which are recoded by themselves."""
        if self.shared:
            return Parting(shared=True, elsewhere=self.elsewhere).within(tuples)
        parts = -(-self.parts * tuples // whole)
        return Parting(parts, self.limit, elsewhere=self.elsewhere).within(tuples)


WHOLE = Parting()


@dataclass(frozen=True)
class Cuts:
    """A binary tree of cuts. Each cut comes before those below it; the first is at the top.

    Cut i is between the codes below `code[i]` of a column, which go to `low[i]`, and the others,
    which go to `high[i]`: the number of another cut, or -1 - p for the part p. Codes are in the
    order of the tree, so that each branch is a range of them; free values are in their own order.
    """

    column: tuple[int, ...] = ()
    code: tuple[int, ...] = ()
    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()

    @property
    def parts(self) -> int:
        """The number of parts; several leaves of the tree may be one part."""
        return -min((*self.low, *self.high, -1))


def part_of(cuts: Cuts, codes: Ints) -> Longs:
    """The part of each tuple, int64[n]; `codes` are int32[n, q], in the order of the columns.

    >>> part_of(Cuts((0,), (3,), (-1,), (-2,)), np.array([[1], [3], [2]], np.int32)).tolist()
    [0, 1, 0]
    """
    at = np.full(len(codes), 0 if cuts.column else -1, np.int64)
    steps = zip(cuts.column, cuts.code, cuts.low, cuts.high, strict=True)
    for i, (column, code, low, high) in enumerate(steps):
        here = np.flatnonzero(at == i)
        at[here] = np.where(codes[here, column] < code, low, high)
    return -1 - at


def taken(table: Table, rows: Longs) -> Table:
    """These tuples of a table without a person column, judged and measured as a part of it.

    Losses weigh by the frequencies of the whole table, and models compare with its distribution.
    """
    assert table.people is None, "the records of a person may be in several parts"
    part = Table(
        table.names,
        table.trees,
        np.ascontiguousarray(table.codes[rows]),
        None,
        table.exact,
        tuple(one.part(rows, table.weight) for one in table.sensitive),
        None if table.weight is None else table.weight[rows],
        importance=table.importance,
        tops=table.tops,
    )
    part.__dict__["domains"] = table.domains
    return part


def sampled(table: Table, most: int) -> Table:
    """About this many tuples; which ones, follows from their values alone."""
    if len(table.codes) <= most:
        return table
    number = mixed(table.codes.T)
    limit = np.partition(number, most)[most]
    return taken(table, np.flatnonzero(number < limit))


def choose_cuts(
    sample: Table,
    tuples: int,
    parting: Parting,
    algorithm: Algorithm,
    models: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Cuts:
    """Where to cut a table of so many tuples, of which these are a sample.

    The sample is recoded with the class size of the models alone. Other models are judged on the
    parts that result (`united`).
    """
    k = max(2, min_class_size(models))
    share = len(sample.codes) / tuples
    if sample.person_count < k:
        return Cuts()
    quick = algorithm.with_share(0)
    record = quick.recode(sample, [KAnonymity(k=k)], loss, rng, progress).record
    fewest = max(1, round(FEWEST * k * share))
    search = _Search(sample, record, fewest, CROSSING if parting.shared else 1.0)
    most = tuples if parting.limit is None else max(1, int(ROOM * parting.limit))
    return search.run(parting.parts, most * share)


def sample_size(algorithm: Algorithm, tuples: int, parting: Parting, k: int) -> int:
    """How many tuples of a sample the algorithm can recode soon."""
    size = SAMPLE
    if parting.shared:
        size = min(size, max(LEAST, tuples // EACH, PER_PERSON * k))
    while size > 1_000 and algorithm.work(size) > SECONDS:
        size //= 2
    return size


def memory_for(tuples: int, parts: int = 1) -> int:
    """Bytes that tuples need if they are recoded in so many parts of equal size."""
    return tuples * HELD + -(-tuples // parts) * (PER_TUPLE - HELD)


class _Region(NamedTuple):
    """Tuples of the sample that are not cut, or not yet."""

    rows: Longs
    came: tuple[int, bool] | None  # the cut it comes from, and whether it is the high side


class _Cut(NamedTuple):
    """The best cut of a region."""

    score: float
    column: int
    code: int


class _Search:
    """Cuts the largest region again and again."""

    def __init__(self, sample: Table, record: Longs, fewest: int, most_crossing: float) -> None:
        self.sample, self.record, self.fewest = sample, record, fewest
        weight = sample.weight
        self.weight = np.ones(len(record), np.int64) if weight is None else weight
        self.most_crossing = most_crossing * self.weight.sum()

    def run(self, parts: int, most: float) -> Cuts:
        """Cut until there are so many parts, none of which has more tuples than that."""
        waiting = [_Region(np.arange(len(self.record)), None)]
        done: list[_Region] = []
        cuts: list[list[int]] = []  # column, code, low, high
        while waiting:
            enough = len(waiting) + len(done) >= parts
            place = max(range(len(waiting)), key=lambda i: len(waiting[i].rows))
            if enough and len(waiting[place].rows) <= most:
                break
            region = waiting.pop(place)
            cut = self._best(region.rows)
            if cut is None:
                done.append(region)
                continue
            number = len(cuts)
            cuts.append([cut.column, cut.code, 0, 0])
            _link(cuts, region, number)
            above = self.sample.codes[region.rows, cut.column] >= cut.code
            for side in (False, True):
                waiting.append(_Region(region.rows[above == side], (number, side)))
        for part, region in enumerate(sorted([*waiting, *done], key=_place)):
            _link(cuts, region, -1 - part)
        return Cuts(*(tuple(column) for column in zip(*cuts, strict=True))) if cuts else Cuts()

    def _best(self, rows: Longs) -> _Cut | None:
        """The cut that separates the fewest records from their class, for its evenness."""
        label, weight = self.record[rows], self.weight[rows]
        order = np.argsort(label, kind="stable")
        order = order[np.searchsorted(label[order], SUPPRESSED + 1) :]
        start = np.flatnonzero(np.diff(label[order], prepend=SUPPRESSED))
        size = np.add.reduceat(weight[order], start) if len(start) else np.zeros(0, np.int64)
        best = None
        for j in range(len(self.sample.trees)):
            codes = self.sample.codes[rows, j]
            ends = np.zeros(0, np.int32), np.zeros(0, np.int32)
            if len(start):
                ranked = codes[order]
                ends = np.minimum.reduceat(ranked, start), np.maximum.reduceat(ranked, start)
            found = self._best_in(j, codes, weight, ends, size)
            if found is not None and (best is None or found.score < best.score):
                best = found
        return best

    def _best_in(
        self, j: int, codes: Ints, weight: Longs, ends: tuple[Ints, Ints], size: Longs
    ) -> _Cut | None:
        """The best cut of a column; classes of so many records are between these codes."""
        nodes = self.sample.trees[j].size
        crossing = np.cumsum(
            np.bincount(ends[0] + 1, size, nodes + 1) - np.bincount(ends[1] + 1, size, nodes + 1)
        )[:nodes]  # float64[nodes]: records of classes on both sides of the cut below a node
        below = _before(np.bincount(codes, minlength=nodes))
        people = _before(np.bincount(codes, weight, nodes))
        total, everyone = len(codes), weight.sum()
        fine = (people >= self.fewest) & (everyone - people >= self.fewest)
        fine &= (below > 0) & (below < total) & (crossing <= self.most_crossing)
        if not fine.any():
            return None
        score = np.full(nodes, np.inf)
        score[fine] = (crossing[fine] / everyone + SMALL) / _evenness(below[fine] / total)
        code = int(np.argmin(score))
        return _Cut(float(score[code]), j, code)


def _before(count: Floats | Longs) -> Floats:
    """The sum before each place."""
    found: Floats = np.cumsum(count, dtype=np.float64) - count
    return found


def _evenness(share: Floats) -> Floats:
    """The entropy of a cut, in bits: 1 if both sides are equal."""
    found: Floats = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
    return found


def _place(region: _Region) -> tuple[int, bool]:
    return (-1, False) if region.came is None else region.came


def _link(cuts: list[list[int]], region: _Region, number: int) -> None:
    """Let the cut that a region comes from lead to this cut or part."""
    if region.came is not None:
        cut, high = region.came
        cuts[cut][3 if high else 2] = number


def united(cuts: Cuts, classes: Classes, models: Sequence[Model]) -> Cuts:
    """The same cuts, but parts that violate a model as one class are united with others.

    `classes` has one class per part. Two classes that satisfy a model do so together, so others
    need not change. A partner is the part with the fewest people on the other side of a cut, the
    lowest cut first.
    """
    into = np.arange(cuts.parts)
    while len(alive := np.unique(into)) > 1:
        fine = all_satisfied(models, classes.merged(into, alive))
        if fine.all():
            break
        people = np.bincount(into, classes.people, cuts.parts)
        part = int(alive[np.argmin(fine)])
        others = _near(cuts, into, part)
        into[into == part] = min(others, key=lambda other: (people[other], other))
    number = np.unique(into, return_inverse=True)[1]
    low, high = (
        tuple(one if one >= 0 else -1 - int(number[-1 - one]) for one in side)
        for side in (cuts.low, cuts.high)
    )
    return Cuts() if len(alive) == 1 else Cuts(cuts.column, cuts.code, low, high)


def _near(cuts: Cuts, into: Longs, part: int) -> set[int]:
    """The parts that the lowest cuts separate from a part."""
    below: dict[int, set[int]] = {}
    for i in reversed(range(len(cuts.column))):  # those below a cut come after it
        sides = [
            below[one] if one >= 0 else {int(into[-1 - one])} for one in (cuts.low[i], cuts.high[i])
        ]
        below[i] = sides[0] | sides[1]
        if part in below[i] and len(below[i]) > 1:
            return below[i] - {part}
    raise AssertionError("a part has no other next to it")


def as_classes(table: Table, part: Longs, parts: int) -> Classes:
    """The parts of a table as classes, in their order; every part has a tuple."""
    assert len(np.unique(part)) == parts
    codes = part.astype(np.int32)[:, None]
    found = tally(codes, None, table.sensitive, table.weight)
    order = np.argsort(part[found.first])
    into = np.empty(parts, np.int64)
    into[order] = np.arange(parts)
    return found.merged(into, np.arange(parts)) if parts > 1 else found
