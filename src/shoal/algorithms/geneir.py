"""GeneIR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.algorithms import DEFAULT, Algorithm
from shoal.algorithms._shared.person_classes import PersonClasses, counts_people
from shoal.algorithms._shared.requirements import all_satisfied, check_reachable
from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.errors import CannotReach, WayOut
from shoal.base.progress import Progress, silent
from shoal.losses import Loss
from shoal.models import Model, TableModel
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import Recoding
from shoal.table.sensitive import Sensitive


class GeneIR(Algorithm):
    """Generalizes a random column by one level for all remaining people, again and again.

    The comparator of Wang 2018 (Tong et al. 2010; Sec. 5.1 and 6.1.3): people with equal values
    form a class, and a class that satisfies the models is finished. People who remain when nothing
    can be generalized further join the nearest class that still satisfies the models.
    """

    name: ClassVar[str] = "geneir"
    works_in_parts: ClassVar[bool] = False
    random_choices: ClassVar[bool] = True
    pace: ClassVar[float] = 0.5

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model."""
        return counts_people(model) or isinstance(model, TableModel) or model.needs_population

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> Recoding:
        """Generalize columns until everybody is in a class."""
        check_reachable(table, models)
        people = np.arange(table.rows) if table.people is None else table.people
        run = PersonClasses(table, loss, models, people, rng.permutation(table.person_count))
        value = table.unified[run.first].copy()  # int32[people, q], as published so far
        left = np.ones(len(value), np.bool_)
        while left.any():
            progress("lifting", 1.0 - float(left.mean()))
            for members in self._sound(table, models, people, value, left):
                run.found(members, value[members[0], run.space.order].astype(np.int64))
                left[members] = False
            low = np.flatnonzero((value[left] != 0).any(axis=0))
            if not len(low):
                break
            column = int(rng.choice(low))
            value[left, column] = table.trees[column].parent[value[left, column]]
        if not run.boxes:
            raise CannotReach(
                models[0].key, 0.0, f"{models[0].key} cannot be reached by geneir; relax it"
            ).offering(WayOut("algorithm", DEFAULT), WayOut("remove", models[0].key))
        run.settle(np.flatnonzero(left), progress)
        return run.recoding(people)

    @staticmethod
    def _sound(
        table: Table,
        models: Sequence[Model],
        people: Longs,
        value: Ints,
        left: Bools,
    ) -> list[Longs]:
        """The people of each class of remaining people that satisfies the models."""
        rows = np.flatnonzero(left[people])
        number = np.cumsum(left) - 1
        sensitive = [
            Sensitive(one.name, one.codes[rows], one.values, one.hierarchy)
            for one in table.sensitive
        ]
        classes = tally(value[people[rows]], number[people[rows]], sensitive)
        of_person = np.full(len(value), -1)
        of_person[people[rows]] = classes.label
        order = np.argsort(of_person, kind="stable")
        begin = np.searchsorted(of_person[order], np.arange(len(classes) + 1))
        return [
            order[begin[c] : begin[c + 1]] for c in np.flatnonzero(all_satisfied(models, classes))
        ]
