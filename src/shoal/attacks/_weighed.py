"""Weighed: what an attacker believes about a person, over all complete assignments.

A person's record is r with the probability that is the share of perfect matchings which pair them
(Sec. 5.2, Tassa 2012). In components that are small enough these are counted; in others they are
sampled, and then bounded from above by three standard errors. The standard error is that of batch
means, but at least 1 / (moves + 1), where moves are how often the person changed records: of
somebody who rarely moved nothing is known, even if the batches agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from shoal.attacks._chains import Chain, run_together
from shoal.attacks._matches import Matches, matches_of
from shoal.base.arrays import Floats, Longs
from shoal.base.progress import Progress, silent
from shoal.table.equivalence_classes import Classes
from shoal.table.match_graph import Believed, MatchGraph, perfect_matching
from shoal.table.sensitive import Histogram

EXACT = 12  # components with no more than 2 ** EXACT states are counted
CHAINS, BATCHES, SWEEPS = 2, 5, 20  # sweeps per batch, more for small tables
SURE = 3.0  # standard errors
SCALE = 2**40  # a probability of 1, as histograms count whole numbers
CELLS = 4_000_000  # of people and values that are looked at together


@dataclass(frozen=True, eq=False)
class Weighed:
    """The probabilities of a graph's matches."""

    graph: Matches
    published: Longs  # int64[classes], the number in the linkage
    share: Floats  # float64[pairs], that a record of the original is in the class
    batches: npt.NDArray[np.float32]  # float32[batches, sampled pairs], the same per batch
    moves: Floats  # float64[originals], changes of a record; infinite where matchings were counted

    @property
    def sampled_people(self) -> int:
        """People whose probabilities are estimates."""
        return self.graph.sampled_people

    def highest(self, sure: float = SURE) -> Floats:
        """At most with this probability a record is a person's, float64[originals].

        The originals are in the order of the linkage; `sure` standard errors are added.
        """
        graph = self.graph
        mean = self.share.copy()
        if len(self.batches):
            error = np.zeros(len(mean))
            error[: graph.pairs] = _batch_error(self.batches)
            mean += sure * np.maximum(error, self._unsure[graph.of_original])
        each = np.minimum(mean, 1.0) / graph.classes[graph.group]
        most = np.empty(len(graph.original))
        most[graph.original] = np.maximum.reduceat(each, graph.start[:-1])
        return most

    @property
    def _unsure(self) -> Floats:
        """The smallest standard error of each original; none if nothing else is possible."""
        unsure = 1.0 / (self.moves + 1.0)
        unsure[np.diff(self.graph.start) == 1] = 0.0
        return unsure

    def histogram(self, classes: Histogram, sure: float = SURE) -> Histogram:
        """The probabilities of the sensitive values of each original, from those of the classes.

        They are counted in units of 1 / SCALE. If they are estimates, the value that could be most
        likely is as likely as it could be.
        """
        many, value, count = [], [], []
        for weight, support in self._chunks(classes, sure):
            o, v = np.nonzero(support)
            many.append(support.sum(axis=1))
            value.append(v.astype(np.int32))
            count.append(np.maximum(np.rint(weight[o, v] * SCALE), 1).astype(np.int64))
        start = np.append(0, np.cumsum(np.concatenate(many)))
        return Histogram(
            classes.column, start, np.concatenate(value), np.concatenate(count), classes.total
        )

    def _chunks(
        self, classes: Histogram, sure: float
    ) -> Iterator[tuple[Floats, npt.NDArray[np.bool_]]]:
        """The probability of each value, and whether it is possible, for some originals."""
        from scipy.sparse import csr_array

        graph, p, values = self.graph, len(self.graph.classes), len(classes.total)
        held = csr_array((classes.share, classes.value, classes.start), shape=(p, values))
        held = held[self.published]  # the classes in the order of the matches
        place = np.empty(len(graph.original), np.int64)
        place[graph.original] = np.arange(len(place))

        def spread(share: Any, pairs: Longs, start: Longs) -> Floats:
            one = csr_array((share[pairs], graph.group[pairs], start), shape=(len(start) - 1, p))
            return np.asarray((one @ held).toarray())

        step = max(1, CELLS // values)
        for begin in range(0, len(place), step):
            mine = place[begin : begin + step]
            many = np.diff(graph.start)[mine]
            start = np.append(0, np.cumsum(many))
            pairs = np.repeat(graph.start[mine] - start[:-1], many) + np.arange(start[-1])
            mean = spread(self.share, pairs, start)
            support = spread(np.ones(len(self.share)), pairs, start) > 0
            if len(self.batches):
                error = self._errors(mine, pairs, start, spread)
                mean = _concentrated(mean, np.where(support, mean + sure * error, 0.0))
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


def _concentrated(mean: Floats, upper: Floats) -> Floats:
    """Distributions in which the value that could be most likely has its upper bound."""
    row = np.arange(len(mean))
    top = upper.argmax(axis=1)
    old, new = mean[row, top], np.minimum(upper[row, top], 1.0)
    rest = np.maximum(1.0 - old, 0.0)
    factor = np.divide(1.0 - new, rest, out=np.ones_like(rest), where=rest > 0)
    found = mean * np.minimum(factor, 1.0)[:, None]
    found[row, top] = new
    return np.asarray(found)


_KNOWN: WeakKeyDictionary[MatchGraph, Weighed] = WeakKeyDictionary()


def weigh(linkage: MatchGraph, progress: Progress = silent) -> Weighed:
    """The probabilities of a graph's matches; sampled once, with the same random numbers."""
    found = _KNOWN.get(linkage)
    if found is None:
        found = _KNOWN[linkage] = _weigh(linkage, progress)
    return found


def believed(linkage: MatchGraph) -> Believed:
    """The view of matches with the probability of everybody's most likely record."""
    one = linkage.views["matches"]
    return Believed(
        one.label, one.first, one.size, one.people, one.candidates, belief=weigh(linkage).highest()
    )


def weighed_values(linkage: MatchGraph, name: str, sure: float = SURE) -> Classes:
    """The view of matches in which a sensitive column has the probabilities of its values."""
    histogram = weigh(linkage).histogram(linkage.classes.histograms[name], sure)
    return replace(linkage.views["matches"], histograms={name: histogram})


def _in_order(linkage: MatchGraph) -> tuple[MatchGraph, Longs]:
    """The graph with classes ordered by whom they cover, and the number of each before.

    So the same random numbers give the same samples, in whatever order the release is.
    """
    key = np.random.default_rng(0).integers(2**63, size=len(linkage.original), dtype=np.uint64)
    whom = np.add.reduceat(key[linkage.fits], linkage.start[:-1])  # modulo 2 ** 64
    order = np.lexsort((linkage.classes.size, whom))
    many = np.diff(linkage.start)[order]
    start = np.append(0, np.cumsum(many))
    place = np.repeat(linkage.start[order] - start[:-1], many) + np.arange(start[-1])
    fits = linkage.fits[place]
    fits = fits[np.lexsort((fits, np.repeat(np.arange(len(order)), many)))]
    size = linkage.original.size, linkage.classes.size[order]
    given = perfect_matching(*size, start, fits)
    return MatchGraph.of_groups(*size, start, fits, given), order


def _weigh(linkage: MatchGraph, progress: Progress, exact: int | None = None) -> Weighed:
    ordered, order = _in_order(linkage)
    graph = matches_of(ordered, EXACT if exact is None else exact)
    published = order[graph.published]
    share = graph.solved()
    moves = np.full(len(graph.originals), np.inf)
    if not graph.sampled_people:
        return Weighed(graph, published, share, np.zeros((0, 0), np.float32), moves)
    each = SWEEPS * graph.ease
    burn_in = -(-each * BATCHES // 2)

    def look(chain: Chain) -> tuple[list[npt.NDArray[np.float32]], Longs]:
        chain.burn_in(burn_in)
        runs = [chain.run(each) for _ in range(BATCHES)]
        often = np.sum([often for _, often in runs], axis=0)
        return [share.astype(np.float32) for share, _ in runs], often

    chains = [Chain(graph, rng) for rng in np.random.default_rng(0).spawn(CHAINS)]
    total = burn_in + each * BATCHES
    found = run_together(look, chains, total, lambda x: progress("sampling", x))
    batches = np.stack([batch for one, _ in found for batch in one])
    often = sum(visits for _, visits in found)
    m = graph.sampled[0]
    moves[:m] = np.add.reduceat(often, graph.start[:m]) / graph.originals[:m]
    share[: graph.pairs] = batches.mean(axis=0, dtype=np.float64)
    return Weighed(graph, published, share, batches, moves)
