"""Limits on what an attacker believes, over all complete assignments of people to records.

Of s records that are published alike each is equally likely a person's, so none with more than 1/s.
So a class of records that is too likely somebody's is merged with its nearest class, and one that
makes a sensitive value too likely is merged until no value is too frequent in it. Values only
become more general, and every assignment stays possible: nobody loses a match. In the end all
records are in classes of enough people; classes that are made for that from the start
(k-anonymity) are published instead wherever they lose less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.class_merge import Merging, merged
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.concealing.concealed_records import ConcealedRecords
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.algorithms._shared.peeling.search import improved, peel
from shoal.algorithms._shared.repair import Repair
from shoal.algorithms._shared.requirements import all_satisfied
from shoal.attacks._weighed import SEED, Weighed, weigh, weighed_values
from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.progress import Progress, Stage, silent
from shoal.kernels.group import group_rows
from shoal.models import TOLERANCE, Model, SensitiveModel
from shoal.models.matching_belief import MatchingBelief
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.match_graph import MatchGraph, link
from shoal.table.recoding import Recoding
from shoal.table.sensitive import Histogram

TRIAL = 1  # the seed of samples until a limit holds; others then judge, as they will the release
NEAR = 3.0  # standard errors below a belief: if the samples that judge exceed it, these count too
PASSES = 1  # of exchange between the classes of k people
IN_CLASSES = (
    "the records are published in classes of {k:,} or more: k-anonymity satisfies the limits on an "
    "attacker's certainty as well, and loses less than records that are generalized one by one"
)


class Limits(NamedTuple):
    """What limits the beliefs of an attacker."""

    belief: float | None  # the highest probability that a record is a person's; None: any
    values: tuple[SensitiveModel, ...]

    @staticmethod
    def of(models: Sequence[Model]) -> Limits:
        beliefs = [model.belief for model in models if isinstance(model, MatchingBelief)]
        values = tuple(model for model in models if isinstance(model, SensitiveModel))
        return Limits(min(beliefs, default=None), values)

    @property
    def weighed(self) -> bool:
        """Whether probabilities matter."""
        return self.belief is not None or bool(self.shares)

    @property
    def shares(self) -> list[SensitiveModel]:
        """The models about probabilities of sensitive values."""
        return [model for model in self.values if model.by_share]

    @property
    def alike(self) -> int:
        """So many records published alike are enough for the belief."""
        return 1 if self.belief is None else ceil(1.0 / self.belief - TOLERANCE)


class Excess(NamedTuple):
    """Classes by which a limit is exceeded."""

    likely: Bools  # bool[classes], each record is too likely somebody's
    uniform: Bools  # bool[classes], a value in it is too likely somebody's

    @property
    def either(self) -> Bools:
        """Classes that are to be merged."""
        return np.asarray(self.likely | self.uniform)


def settle(records: ConcealedRecords, limits: Limits, k: int) -> tuple[Recoding, bool]:
    """Merge classes until no limit is exceeded, or form classes of k people if those lose less.

    Returns whether they are classes of k people.
    """
    if not limits.weighed:
        return records.recoding(), False
    table, progress = records.table, records.progress
    problem = PeelingProblem(table, max(k, limits.alike), records.costs, progress)
    other = _in_classes(problem, limits)
    most, wide, seed = problem.lost_by(other), records.vectors(), TRIAL
    share = 100.0  # of the records that exceed a limit, in percent

    def report(_: str, done: float) -> None:
        progress(Stage("weighing", exceeding=share), done)

    while problem.lost_by(found := _recoding(wide)) < most:
        linkage = link(table, records.as_published(wide))
        excess = _exceeding(linkage, limits, seed, report)
        many = int(linkage.classes.size[excess.either].sum())
        share = 100.0 * many / table.rows
        if many:
            wide = _merge(records, wide, linkage.classes, excess, limits)
        elif seed == SEED or not weigh(linkage, seed=seed).sampled_people:
            return found, False
        else:  # limits that hold by chance for some samples are judged by others
            seed = SEED
    return other, True


def _in_classes(problem: PeelingProblem, limits: Limits) -> Recoding:
    """Classes of enough people, in each of which the values are diverse."""
    found = improved(problem, peel(problem), PASSES)
    if limits.values:
        start = problem.table.tally(True)
        label = found.record[start.first]
        repair = Repair(
            problem.layout, problem.lattice.vector, start, limits.values, problem.k, label
        )
        label = repair.run(problem.progress)
        found = _recoding(closures(problem.table.trees, problem.start_vector, label)[start.label])
    notes = IN_CLASSES.format(k=problem.k), *problem.notes
    return replace(found, notes=notes)


def _recoding(wide: Ints) -> Recoding:
    label, first, _ = group_rows(wide)
    return Recoding(wide[first], label)


def _exceeding(linkage: MatchGraph, limits: Limits, seed: int, progress: Progress) -> Excess:
    """The classes by which limits are exceeded, by the samples of a seed."""
    weighed = weigh(linkage, progress, seed)
    likely, uniform = np.zeros((2, len(linkage.classes)), np.bool_)
    if limits.belief is not None:
        most = limits.belief + TOLERANCE
        likely = weighed.of_classes() > most
        if seed == SEED and likely.any():  # those just below may exceed it the next time
            likely = weighed.of_classes(NEAR) > most
        likely &= linkage.classes.size < limits.alike
    for model in limits.shares:
        held = linkage.classes.histograms[model.column]
        for view, weight in (
            (linkage.views["matches"], weighed.graph.classes[weighed.graph.group].astype(float)),
            (weighed_values(linkage, model.column, seed), weighed.share),
        ):
            fails = ~model.satisfied(view)
            value = _most_likely(view.histograms[model.column])
            uniform |= _blamed(weighed, weight, held, fails, value, 1.0 / model.required)
    return Excess(likely, uniform)


def _most_likely(histogram: Histogram) -> Longs:
    """The most likely value of each original, int64[originals]."""
    order = np.lexsort((-histogram.count, histogram.of_class))
    return histogram.value[order[histogram.start[:-1]]].astype(np.int64)


def _blamed(
    weighed: Weighed, weight: Floats, held: Histogram, fails: Bools, value: Longs, most: float
) -> Bools:
    """The classes that make a value too likely: for each of these people, the one that does most.

    What a person's value is likely to be is a mean over classes, so it is too likely only if it is
    too frequent in one of them. `weight` is that of each pair.
    """
    graph = weighed.graph
    pair = np.flatnonzero(fails[graph.original][graph.of_original])
    o, g = graph.of_original[pair], graph.published[graph.group[pair]]
    values = len(held.total)
    key = held.of_class * values + held.value
    order = np.argsort(key)
    wanted = g * values + value[graph.original[o]]
    place = order[np.minimum(np.searchsorted(key, wanted, sorter=order), len(key) - 1)]
    above = np.where(key[place] == wanted, held.share[place], 0.0) - most
    blame = np.where(above > 0, (weight[pair] + TOLERANCE) * above, 0.0)
    by = np.lexsort((-blame, o))
    first = by[np.unique(o[by], return_index=True)[1]]
    blamed = np.zeros(held.of_class[-1] + 1, np.bool_)
    blamed[g[first[blame[first] > 0]]] = True
    return blamed


def _merge(
    records: ConcealedRecords, wide: Ints, classes: Classes, excess: Excess, limits: Limits
) -> Ints:
    """What is published of each record after these classes were merged, int32[n, q].

    One whose records are too likely becomes twice as large, which is often enough.
    """
    table = records.table
    start = tally(wide, None, table.sensitive if limits.values else ())
    likely, uniform = (one[classes.label[start.first]] for one in excess)
    least = np.where(likely, np.minimum(2 * start.size, limits.alike), 1)

    def judge(into: Longs, ids: Longs) -> Bools:
        need, diverse = np.ones(len(into), np.int64), np.zeros(len(into), np.bool_)
        np.maximum.at(need, into, least)
        diverse[into[uniform]] = True
        now = start.merged(into, ids)
        passes = now.size >= need[ids]
        return passes & (~diverse[ids] | all_satisfied(limits.shares, now))

    vectors, into = merged(
        replace(table, codes=wide), start, records.layout, Merging(1, judge=judge), silent
    )
    return vectors[into[start.label]]
