"""Weighed: what an attacker believes about a person, over all complete assignments.

A person's record is r with the probability that is the share of perfect matchings which pair them
(Sec. 5.2, Tassa 2012). In components that are small enough these are counted; in others they are
sampled, and then bounded from above, with a CONFIDENCE that holds for all of them together: to each
so many standard errors are added as Student's distribution takes for it, with the doubt divided by
the number of bounds (Bonferroni). The standard error is that of batch means, but at least
1 / (moves + 1), where moves are how often the person changed records: of somebody who rarely moved
nothing is known, even if the batches agree. That batches are independent is not proven.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from shoal.attacks._chains import CHAINS, Chain, sampled
from shoal.attacks._matches import Matches, matches_of
from shoal.base.arrays import Floats, Longs
from shoal.base.progress import Progress, silent
from shoal.table.equivalence_classes import Classes
from shoal.table.match_graph import Believed, MatchGraph, perfect_matching
from shoal.table.sensitive import Histogram

EXACT = 12  # components with no more than 2 ** EXACT states are counted
SWEEPS = 10  # sweeps per batch, more for small tables
BATCHES = 5, 16  # per chain; fewer for large graphs, so that no more than KEPT numbers are kept
KEPT = 100_000_000
CONFIDENCE = 0.99  # that all upper bounds hold
SEED = 0  # of the samples by which releases are judged
SCALE = 2**40  # a probability of 1, as histograms count whole numbers
BURN_IN = 4  # batches
FEWER = 4  # times fewer sweeps where samples only try
CLOSER = 16  # the chains look closer at the most certain one in so many originals
ALIKE = 4  # rounds in which originals and classes are told apart by their neighbours
CELLS = 4_000_000  # of people and values that are looked at together


@dataclass(frozen=True, eq=False)
class Weighed:
    """The probabilities of a graph's matches."""

    graph: Matches
    share: Floats  # float64[pairs], that a record of the original is in the class
    batches: npt.NDArray[np.float32]  # float32[batches, sampled pairs], the same per batch
    moves: Floats  # float64[originals], changes of a record; infinite where matchings were counted
    narrower: float = 1.0  # standard errors of the samples that judge, compared with these

    @property
    def sampled_people(self) -> int:
        """People whose probabilities are estimates."""
        return self.graph.sampled_people

    def highest(self) -> Floats:
        """At most with this probability a record is a person's, float64[originals].

        The originals are in the order of the linkage.
        """
        most = np.empty(len(self.graph.original))
        most[self.graph.original] = np.maximum.reduceat(self._bounds(), self.graph.start[:-1])
        return most

    def of_classes(self, margin: float = 0.0) -> Floats:
        """At most with this probability a record of a class is a given person's, float64[classes].

        The classes are in the order of the linkage. `margin` is a number of standard errors to add
        to those of the confidence.
        """
        most = np.zeros(len(self.graph.classes))
        np.maximum.at(most, self.graph.published[self.graph.group], self._bounds(margin))
        return most

    def _bounds(self, margin: float = 0.0) -> Floats:
        """The upper bound on the probability of a record in each pair, float64[pairs].

        Records that are published alike are equally likely, so of s none is with more than 1/s.
        """
        graph, sure = self.graph, self._errors_added(self.graph.pairs) + margin
        mean = self.share.copy()
        if len(self.batches):
            error = np.zeros(len(mean))
            error[: graph.pairs] = _batch_error(self.batches)
            mean += sure * np.maximum(error, self._unsure[graph.of_original])
        return np.asarray(np.minimum(mean, 1.0) / graph.classes[graph.group])

    def _errors_added(self, bounds: int) -> float:
        """Standard errors above an estimate so that this many bounds hold together."""
        from scipy.special import stdtrit

        if not len(self.batches):
            return 0.0
        each = -stdtrit(len(self.batches) - 1, (1.0 - CONFIDENCE) / bounds)
        return float(each) * self.narrower

    @property
    def _unsure(self) -> Floats:
        """The smallest standard error of each original; none if nothing else is possible."""
        unsure = 1.0 / (self.moves + 1.0)
        unsure[np.diff(self.graph.start) == 1] = 0.0
        return unsure

    def histogram(self, classes: Histogram) -> Histogram:
        """The probabilities of the sensitive values of each original, from those of the classes.

        They are counted in units of 1 / SCALE. If they are estimates, the value that could be most
        likely is as likely as it could be.
        """
        many, value, count = [], [], []
        for weight, support in self._chunks(classes):
            o, v = np.nonzero(support)
            many.append(support.sum(axis=1))
            value.append(v.astype(np.int32))
            count.append(np.maximum(np.rint(weight[o, v] * SCALE), 1).astype(np.int64))
        start = np.append(0, np.cumsum(np.concatenate(many)))
        return Histogram(
            classes.column, start, np.concatenate(value), np.concatenate(count), classes.total
        )

    def _chunks(self, classes: Histogram) -> Iterator[tuple[Floats, npt.NDArray[np.bool_]]]:
        """The probability of each value, and whether it is possible, for some originals."""
        from scipy.sparse import csr_array

        graph, p, values = self.graph, len(self.graph.classes), len(classes.total)
        held = csr_array((classes.share, classes.value, classes.start), shape=(p, values))
        held = held[self.graph.published]  # the classes in the order of the matches
        place = np.empty(len(graph.original), np.int64)
        place[graph.original] = np.arange(len(place))

        def spread(share: Any, pairs: Longs, start: Longs) -> Floats:
            one = csr_array((share[pairs], graph.group[pairs], start), shape=(len(start) - 1, p))
            return np.asarray((one @ held).toarray())

        sure = self._errors_added(self.graph.sampled[0] * values)
        step = max(1, CELLS // values)
        for begin in range(0, len(place), step):
            mine = place[begin : begin + step]
            many = np.diff(graph.start)[mine]
            start = np.append(0, np.cumsum(many))
            pairs = np.repeat(graph.start[mine] - start[:-1], many) + np.arange(start[-1])
            mean = spread(self.share, pairs, start)
            support = spread(np.ones(len(self.share)), pairs, start) > 0
            if len(self.batches):
                upper = mean + sure * self._errors(mine, pairs, start, spread)
                upper = np.minimum(upper, _largest_shares(held, graph.group[pairs], start))
                mean = _concentrated(mean, np.where(support, upper, 0.0))
            yield mean, support

    def _errors(self, mine: Longs, pairs: Longs, start: Longs, spread: Any) -> Floats:
        """The standard error of the probability of each value."""
        whole = np.zeros(len(self.share))
        sums = squares = 0.0
        for batch in self.batches:
            whole[: self.graph.pairs] = batch
            one = spread(whole, pairs, start)
            sums, squares = sums + one, squares + one * one
        b = len(self.batches)
        spread_out = np.sqrt(np.maximum(squares - sums * sums / b, 0.0) / (b * (b - 1.0)))
        return np.asarray(np.maximum(spread_out, self._unsure[mine][:, None]))


def _batch_error(batches: npt.NDArray[np.float32]) -> Floats:
    """The standard error of the mean of batches."""
    return np.asarray(batches.std(axis=0, ddof=1, dtype=np.float64) / np.sqrt(len(batches)))


def _largest_shares(held: Any, group: Longs, start: Longs) -> Floats:
    """The largest share that each value has in the classes of each original.

    A probability is a mean of these shares, so it is not larger.
    """
    columns = held.tocsc()
    most = np.empty((len(start) - 1, held.shape[1]))
    for value in range(held.shape[1]):
        share = np.zeros(held.shape[0])
        part = slice(columns.indptr[value], columns.indptr[value + 1])
        share[columns.indices[part]] = columns.data[part]
        most[:, value] = np.maximum.reduceat(share[group], start[:-1])
    return most


def _concentrated(mean: Floats, upper: Floats) -> Floats:
    """Distributions in which the value that could be most likely has its upper bound.

    Estimates add up to 1 only nearly: what they lack would make a share larger than it can be.
    """
    row = np.arange(len(mean))
    top = upper.argmax(axis=1)
    new = np.minimum(upper[row, top], 1.0)
    found = mean.copy()
    found[row, top] = 0.0
    rest = found.sum(axis=1)
    new[rest <= 0] = 1.0
    found *= np.divide(1.0 - new, rest, out=np.zeros_like(rest), where=rest > 0)[:, None]
    found[row, top] = new
    return found


_KNOWN: WeakKeyDictionary[MatchGraph, dict[int, Weighed]] = WeakKeyDictionary()


def weigh(linkage: MatchGraph, progress: Progress = silent, seed: int = SEED) -> Weighed:
    """The probabilities of a graph's matches; sampled once, with the same random numbers.

    Only the samples of SEED judge. Others try, with fewer sweeps, and with errors as small as those
    that judge will have.
    """
    known = _KNOWN.setdefault(linkage, {})
    if seed not in known:
        known[seed] = _weigh(linkage, progress, seed=seed, fewer=1 if seed == SEED else FEWER)
    return known[seed]


def believed(linkage: MatchGraph) -> Believed:
    """The view of matches with the probability of everybody's most likely record."""
    one = linkage.views["matches"]
    return Believed(
        one.label, one.first, one.size, one.people, one.candidates, belief=weigh(linkage).highest()
    )


def weighed_values(linkage: MatchGraph, name: str, seed: int = SEED) -> Classes:
    """The view of matches in which a sensitive column has the probabilities of its values."""
    histogram = weigh(linkage, seed=seed).histogram(linkage.classes.histograms[name])
    return replace(linkage.views["matches"], histograms={name: histogram})


def _in_order(linkage: MatchGraph) -> tuple[MatchGraph, Longs, Longs]:
    """The graph in an order of its own, and the number of each original and class before.

    So the same random numbers give the same samples, in whatever order the tables are.
    """
    by, by_class = (np.argsort(key, kind="stable") for key in _keys(linkage))
    number = np.empty(len(by), np.int32)
    number[by] = np.arange(len(by))
    many = np.diff(linkage.start)[by_class]
    start = np.append(0, np.cumsum(many))
    place = np.repeat(linkage.start[by_class] - start[:-1], many) + np.arange(start[-1])
    fits = number[linkage.fits[place]]
    fits = fits[np.lexsort((fits, np.repeat(np.arange(len(by_class)), many)))]
    size = linkage.original.size[by], linkage.classes.size[by_class]
    given = perfect_matching(*size, start, fits)
    return MatchGraph.of_groups(*size, start, fits, given), by, by_class


def _keys(linkage: MatchGraph) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """A number for each original and each class that follows from its place in the graph alone.

    Each takes up the numbers of its neighbours, several times (Weisfeiler and Leman 1968).
    """
    of_original = np.argsort(linkage.fits, kind="stable")
    start = np.searchsorted(linkage.fits[of_original], np.arange(len(linkage.original)))
    one, other = _mixed(linkage.original.size), _mixed(linkage.classes.size + 2**32)
    for _ in range(ALIKE):
        other = _mixed(other + np.add.reduceat(one[linkage.fits], linkage.start[:-1]))
        one = _mixed(one + np.add.reduceat(other[linkage.of_class[of_original]], start))
    return one, other


def _mixed(number: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Numbers that look random (SplitMix64, Steele 2014), all modulo 2 ** 64."""
    z = number.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _weigh(
    linkage: MatchGraph,
    progress: Progress,
    exact: int | None = None,
    seed: int = SEED,
    fewer: int = 1,
) -> Weighed:
    ordered, by, by_class = _in_order(linkage)
    graph = matches_of(ordered, EXACT if exact is None else exact)
    graph = replace(graph, original=by[graph.original], published=by_class[graph.published])
    share = graph.solved()
    moves = np.full(len(graph.originals), np.inf)
    if not graph.sampled_people:
        return Weighed(graph, share, np.zeros((0, 0), np.float32), moves)
    each = max(SWEEPS * graph.ease // fewer, 1)
    burn_in = each * BURN_IN
    many = int(np.clip(KEPT // (CHAINS * graph.pairs), *BATCHES))

    def look(chain: Chain) -> tuple[list[npt.NDArray[np.float32]], Longs]:
        runs = [chain.run(each) for _ in range(many)]
        often = np.sum([often for _, often in runs], axis=0)
        return [share.astype(np.float32) for share, _ in runs], often

    found = sampled(graph, seed, (burn_in, each * many), (0.0, CLOSER), look, progress)
    batches = np.stack([batch for one, _ in found for batch in one])
    often = sum(visits for _, visits in found)
    m = graph.sampled[0]
    moves[:m] = np.add.reduceat(often, graph.start[:m]) / graph.originals[:m]
    share[: graph.pairs] = batches.mean(axis=0, dtype=np.float64)
    return Weighed(graph, share, batches, moves, float(fewer) ** -0.5)
