"""DAnonyIR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.algorithms import DEFAULT, Algorithm
from shoal.algorithms._shared.person_classes import PersonClasses, counts_people
from shoal.algorithms._shared.requirements import check_reachable
from shoal.base.errors import CannotReach, WayOut
from shoal.base.progress import Progress, silent
from shoal.losses import Loss
from shoal.models import Model, TableModel
from shoal.table.encode import Table
from shoal.table.recoding import Recoding


class DAnonyIR(Algorithm):
    """Grows a class from a random person by the nearest people until it satisfies the models.

    Algorithm 1, Wang 2018. If a finished class is nearer than any person, the two are merged.
    People who remain at the end join the nearest class that still satisfies the models, or are
    suppressed, whichever loses less.
    """

    name: ClassVar[str] = "danonyir"
    works_in_parts: ClassVar[bool] = False
    random_choices: ClassVar[bool] = True
    pace: ClassVar[float] = 0.5
    free: ClassVar[bool] = True

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
        """Cluster people; all records of a person are published with the same values."""
        check_reachable(table, models)
        people = np.arange(table.rows) if table.people is None else table.people
        run = PersonClasses(table, loss, models, people, rng.permutation(int(people.max()) + 1))
        run.cluster(progress)
        run.handle(rng, progress)
        if not run.boxes:
            raise CannotReach(
                models[0].key,
                0.0,
                f"{models[0].key} cannot be reached by danonyir: everybody would be suppressed; "
                "relax it, or choose another algorithm",
            ).offering(WayOut("algorithm", DEFAULT), WayOut("remove", models[0].key))
        return run.recoding(people)
