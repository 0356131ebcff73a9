"""Limits on what an attacker believes, over all complete assignments of people to records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.concealing.concealed_records import ConcealedRecords
from shoal.attacks._weighed import SEED, weigh, weighed_values
from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.progress import Progress
from shoal.models import TOLERANCE, Model, SensitiveModel
from shoal.models.matching_belief import MatchingBelief
from shoal.table.match_graph import MatchGraph, link
from shoal.table.sensitive import Histogram

ROUNDS = 40  # of new matches, before all records are published alike
NEAR = 2.0  # standard errors below a belief: if others exceed it, these get new matches too
MOST_NEW = 64  # new matches of a person in one round
TRIAL = 1  # the seed of samples until a limit holds; others then judge, as they will the release


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
        return self.belief is not None or any(model.by_share for model in self.values)


class Cause(NamedTuple):
    """Why an attacker is too sure of people."""

    fails: Bools  # bool[n], of whom
    secret: Ints  # int32[n], the sensitive value of each record
    unwanted: Longs  # int64[n], the value that is too likely; -1: it is not about values


def _most_likely(histogram: Histogram) -> Longs:
    """The most likely value of each original, int64[originals]."""
    order = np.lexsort((-histogram.count, histogram.of_class))
    return histogram.value[order[histogram.start[:-1]]].astype(np.int64)


def settle(records: ConcealedRecords, limits: Limits, visit: Callable[[], Longs]) -> bool:
    """Add matches until no limit is exceeded; False if it is not reached in this way.

    A record that is too likely a person's becomes less so by other records that could be
    theirs. Who needs more again gets twice as many: the table is not weighed too often.
    """
    many = np.ones(len(records.tuples.size), np.int64)
    for _ in range(ROUNDS):
        records.diversify(limits.values, visit)
        if not limits.weighed:
            return True
        causes = _too_sure(records, limits)
        if not causes:
            return True
        if not sum(_add_matches(records, one, visit(), many) for one in causes):
            return False
    return False


def _too_sure(records: ConcealedRecords, limits: Limits) -> list[Cause]:
    """Of whom an attacker is too sure, and why; if of nobody, judged as the release will be.

    Limits that hold by chance for some samples are thus judged by others.
    """
    linkage = link(records.table, records.as_published())
    return _causes(linkage, limits, TRIAL, records.progress) or _causes(
        linkage, limits, SEED, records.progress
    )


def _causes(linkage: MatchGraph, limits: Limits, seed: int, progress: Progress) -> list[Cause]:
    """Of whom an attacker is too sure by the samples of a seed; none if all are counted."""
    of_record, causes = linkage.original.label, []
    sampled = weigh(linkage, progress, seed).sampled_people
    if seed != SEED and not sampled:
        return []
    if limits.belief is not None:
        weighed, most = weigh(linkage, seed=seed), limits.belief + TOLERANCE
        fails = weighed.highest() > most
        if fails.any():  # those just below would exceed it in a later round, by other samples
            fails = weighed.highest(NEAR) > most
        rows = len(of_record)
        nothing = np.zeros(rows, np.int32)
        causes.append(Cause(fails[of_record], nothing, np.full(rows, -1)))
    for model in limits.values:
        if model.by_share:
            view = weighed_values(linkage, model.column, seed)
            histogram = view.histograms[model.column]
            fails = ~model.satisfied(view)
            top = _most_likely(histogram)[of_record]
            causes.append(Cause(fails[of_record], histogram.column.codes, top))
    return [cause for cause in causes if cause.fails.any()]


def _add_matches(records: ConcealedRecords, cause: Cause, order: Longs, many: Longs) -> int:
    """New matches for these people, and twice as many the next time; returns how many."""
    total = records.spread(*cause, order, many)
    again = np.unique(records.original[cause.fails])
    many[again] = np.minimum(2 * many[again], MOST_NEW)
    return total
