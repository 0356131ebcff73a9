"""Recode a table: the one place from which algorithms are run.

Equal records are counted together, a table may be cut into parts or fall into blocks, and models
about the whole table are satisfied after those about classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace

import numpy as np

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.blocks.recode_blocks import BlockRecoding, recode_blocks
from shoal.algorithms._shared.parts.cuts import WHOLE, Parting
from shoal.algorithms._shared.parts.recode_parts import recode_in_parts
from shoal.algorithms._shared.population.satisfying import of_population, satisfying
from shoal.algorithms._shared.requirements import check_reachable, k_and_others
from shoal.algorithms._shared.table_models import (
    merged,
    merged_in_blocks,
    out_of_reach,
    people_in_blocks,
    people_of,
    satisfied,
    unchanged,
)
from shoal.base.errors import CannotReach
from shoal.base.progress import Progress, silent
from shoal.losses import Loss
from shoal.losses._alterations import least_altered
from shoal.models import Model, TableModel, min_class_size
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_map import KMap
from shoal.table.encode import Table
from shoal.table.recoding import Recoding
from shoal.table.weighted import Weighted

MUCH = 0.3  # of the population: above it, classes of k people of the table may lose less


def recode(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress = silent,
    parting: Parting = WHOLE,
    suppression: float | None = None,
) -> Recoding:
    """Choose what is published of each record, also for models about the whole table.

    Equal records are counted together if the algorithm can do so, and ties are decided by values,
    so that the order of the records does not matter. `parting`: whether the table is cut.
    `suppression`: the share of the records that may be suppressed because of `at_most`; None: any.
    """
    if suppression is not None:
        algorithm = algorithm.suppressing(suppression)
    others = [model for model in k_and_others(models)[1] if not isinstance(model, TableModel)]
    weighted = Weighted(table, bool(others) or algorithm.reads_sensitive)
    together = algorithm.counts_together
    given = weighted.table(together)
    if not algorithm.shares_parts or algorithm.improves_longer:
        parting = replace(parting, shared=False)
    parting = parting.within(len(given.codes))
    if not algorithm.works_in_parts or table.people is not None:
        parting = WHOLE

    def run(models: Sequence[Model], rng: np.random.Generator) -> Recoding:
        if not models:
            return unchanged(given)
        if given.tops and not algorithm.keeps_at_most:
            blocks = _InBlocks(algorithm, given, models, loss, progress, parting, suppression)
            return blocks.recode(rng)
        return _recode(algorithm, given, models, loss, rng, progress, parting)

    about_others = of_population(given, models)
    if about_others and not algorithm.judges_whole_table:
        found = _for_population(algorithm, given, models, about_others, loss, rng, progress, run)
    else:
        found = run(models, rng)
    return weighted.of_rows(found, together)


def _for_population(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    about_others: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress,
    run: Callable[[Sequence[Model], np.random.Generator], Recoding],
) -> Recoding:
    """Satisfy models about the population, too.

    Classes are formed without these models, and their values generalized until they cover enough
    people of the population. If much of the population is in the table, there is another way, and
    the one that loses less is used: k people of the table, who are people of the population, are in
    each class. Where generalized values violate a model about the whole table, classes of as many
    people as are sufficient for it are formed.
    """
    check_reachable(table, about_others)
    rest = [model for model in models if model not in about_others]
    again = deepcopy(rng)  # both ways begin with the same random numbers
    found = [satisfying(table, run(rest, rng), about_others, loss, progress)]
    k = max((one.k for one in about_others if isinstance(one, KMap)), default=1)
    assert table.population is not None
    much = table.person_count >= MUCH * table.population.people
    if much and 1 < k <= table.person_count and algorithm.serves(KAnonymity(k=k)):
        with suppress(CannotReach):  # an algorithm may find no classes of that size
            formed = run([*rest, KAnonymity(k=k)], again)
            found.append(satisfying(table, formed, about_others, loss, progress))
    of_table = [model for model in rest if isinstance(model, TableModel)]
    fine = [one for one in found if satisfied(of_table, people_of(table, one))]
    enough = max((model.sufficient_people for model in of_table), default=1)
    if not fine and algorithm.serves(KAnonymity(k=enough)) and enough <= table.person_count:
        # A level rose when classes became equal. With classes of so many people it cannot.
        with suppress(CannotReach):
            formed = run([*rest, KAnonymity(k=enough)], again)
            fine = [satisfying(table, formed, about_others, loss, progress)]
    return least_altered(table, fine or found, loss)


def _recode(
    algorithm: Algorithm,
    table: Table,
    models: Sequence[Model],
    loss: Loss,
    rng: np.random.Generator,
    progress: Progress,
    parting: Parting,
) -> Recoding:
    """Choose what is published of each record of such a table.

    The algorithm satisfies the models about classes. Then there are two ways to satisfy the others,
    and the one that loses less is used: classes are merged, the cheapest first; or the algorithm
    runs again with the class size that is sufficient for all of them. Merging violates no model
    that is satisfied: two classes that satisfy a model do so together.
    """

    def run(models: Sequence[Model], rng: np.random.Generator) -> Recoding:
        if parting == WHOLE:
            return algorithm.recode(table, models, loss, rng, progress)
        return recode_in_parts(algorithm, table, models, loss, rng, progress, parting)

    of_table = [model for model in models if isinstance(model, TableModel)]
    if not of_table or algorithm.judges_whole_table:
        return run(models, rng)
    check_reachable(table, models)
    of_classes = _of_classes(algorithm, models)
    again = deepcopy(rng)  # both ways begin with the same random numbers
    formed = run(of_classes, rng) if of_classes else unchanged(table)
    if satisfied(of_table, people_of(table, formed)):
        return formed
    found = [merged(table, formed, of_table, loss, progress)]
    k = KAnonymity(k=max(model.sufficient_people for model in of_table))
    if algorithm.serves(k) and k.k <= table.person_count:
        with suppress(CannotReach):  # an algorithm may find no classes of that size
            found.append(run([*of_classes, k], again))
    found = [one for one in found if satisfied(of_table, people_of(table, one))]
    if not found:
        raise out_of_reach(table, formed, of_table, algorithm.name)
    return least_altered(table, found, loss)


def _of_classes(algorithm: Algorithm, models: Sequence[Model]) -> list[Model]:
    """The models about classes, with the class size that models about the table require."""
    found = [model for model in models if not isinstance(model, TableModel)]
    k = min_class_size(model for model in models if isinstance(model, TableModel))
    if k > 1 and algorithm.serves(KAnonymity(k=k)):
        found.append(KAnonymity(k=k))
    return found


class _InBlocks:
    """Recodes each block of a table with `at_most` by itself."""

    def __init__(
        self,
        algorithm: Algorithm,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        progress: Progress,
        parting: Parting,
        suppression: float | None,
    ) -> None:
        self.algorithm, self.table, self.models, self.loss = algorithm, table, models, loss
        self.progress, self.parting, self.suppression = progress, parting, suppression
        self.of_table = [model for model in models if isinstance(model, TableModel)]
        self.of_classes = _of_classes(algorithm, models)

    def recode(self, rng: np.random.Generator) -> Recoding:
        """As `_recode`, but no class has records of several blocks."""
        # What a whole table cannot reach, a part of it may, unless the model only counts people.
        check_reachable(self.table, [one for one in self.models if one.is_monotone])
        again = deepcopy(rng)
        formed = self._run(self.of_classes, rng)
        if self._satisfied(formed):
            return formed.joined()
        found = [merged_in_blocks(formed, self.of_table, self.loss, self.progress)]
        k = KAnonymity(k=max(model.sufficient_people for model in self.of_table))
        if self.algorithm.serves(k):
            with suppress(CannotReach):  # more would have to be suppressed than may be
                found.append(self._run([*self.of_classes, k], again))
        found = [one for one in found if self._satisfied(one)]
        made = [one.joined() for one in found]
        if not made:
            raise out_of_reach(self.table, formed.joined(), self.of_table, self.algorithm.name)
        return least_altered(self.table, made, self.loss)

    def _run(self, within: Sequence[Model], rng: np.random.Generator) -> BlockRecoding:
        def run(table: Table, rng: np.random.Generator, progress: Progress) -> Recoding:
            if not within:
                return unchanged(table)
            parting = self.parting.of_part(len(table.codes), len(self.table.codes))
            algorithm = self.algorithm.with_share(len(table.codes) / len(self.table.codes))
            if parting == WHOLE:
                return algorithm.recode(table, within, self.loss, rng, progress)
            return recode_in_parts(algorithm, table, within, self.loss, rng, progress, parting)

        every = [*within, *self.of_table]
        return recode_blocks(self.table, every, within, run, rng, self.progress, self.suppression)

    def _satisfied(self, formed: BlockRecoding) -> bool:
        if not self.of_table:
            return True
        people = np.concatenate(people_in_blocks(formed))
        return bool(len(people)) and satisfied(self.of_table, people)
