"""Freeform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.factors.draw import draw_rows
from shoal.algorithms._shared.factors.factor import People, of_classes, pairs_of, tightened
from shoal.algorithms._shared.factors.specialize import specialize
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.algorithms._shared.peeling.search import improved, peel
from shoal.base.arrays import Ints, Longs
from shoal.base.errors import BadTable, CannotReach, WayOut
from shoal.base.progress import Progress, silent
from shoal.base.settings import NotNegative
from shoal.kernels.sorting import sort_rows
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import LinkageModel, Model
from shoal.models.max_belief import MaxBelief
from shoal.table.encode import Table
from shoal.table.recoding import Recoding

MOST_MEMBERS = 100_000_000  # of all rows; 50 bytes each make 5 GB
PASSES = 1  # of exchange between classes, at the start
PART = 2_000  # people at least, who share rows with nobody else
PART_OF_K = 20  # the same as a multiple of k


class Freeform(Algorithm):
    """Publishes rows without classes; k people fit each, and every pairing has the chance 1/k.

    Each row covers k different people, its members, and everybody is a member of k rows. Who is
    published as which row is drawn at random, so that each of the k rows of a person has the
    probability 1/k, even for somebody who knows the algorithm and all originals. Classes of k
    people are a special case: the search starts from those of `peel`. A class of more than k people
    needs rows that cover k of them only, and each row is tightened to its members. Then a linear
    program finds how many rows each cell would have if they could be fractions; they are rounded,
    and rows move between cells by simulated annealing, as long as a flow finds k members for every
    row and k rows for everybody.

    Models about sensitive values are not supported: which values the k rows of a person have
    depends on the draw, and to draw again until they differ would make some rows more likely.
    """

    name: ClassVar[str] = "freeform"
    works_in_parts: ClassVar[bool] = False
    pace: ClassVar[float] = 8.0
    rounds: NotNegative = Field(
        default=1000, description="how often each row tries to move to another cell, on average"
    )

    @property
    def has_random_values(self) -> bool:
        """Whether random choices hide who became which record."""
        return True

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model: what follows from a k-factor."""
        return isinstance(model, LinkageModel | MaxBelief)

    def notes(self, seed: int | None) -> list[str]:
        """Remarks for the reader of a release about how it was made."""
        if seed is None:
            return []
        return [
            "made with a fixed seed: an attacker who knows all originals and the seed can run it "
            "again and see which record became which; set no seed for a release"
        ]

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> Recoding:
        """Find rows with k members each, and draw who is published as which."""
        asked = [model for model in models if isinstance(model, LinkageModel | MaxBelief)]
        k = max(model.k for model in asked)
        _check(table, next(model for model in asked if model.k == k))
        problem = PeelingProblem(table, k, exact_costs(loss, table.domains, table.rows), progress)
        classes = improved(problem, peel(problem), PASSES)
        parts = _parts(problem, classes)
        record, vectors, before = np.empty(table.rows, np.int64), [], 0
        for done, part in enumerate(parts):

            def report(done: int = done) -> None:
                progress("specializing", done / len(parts))

            report()
            cell, vector = self._publish(problem, classes, part, rng, report)
            record[part] = before + cell
            vectors.append(problem.layout.restored(vector))
            before += len(vector)
        progress("specializing", 1.0)
        return Recoding(np.concatenate(vectors), record, notes=tuple(problem.notes))

    def _publish(
        self,
        problem: PeelingProblem,
        classes: Recoding,
        part: Longs,
        rng: np.random.Generator,
        report: Callable[[], None],
    ) -> tuple[Longs, Ints]:
        """The cell of each of these records, who are whole classes, and the cells."""
        vector = problem.layout.arranged(problem.table.codes[part])
        people = People.of(problem.layout, vector, np.arange(len(part)), problem.k)
        first = people.records[people.tuples.first]
        label = np.unique(classes.record[part[first]], return_inverse=True)[1]
        factor = of_classes(people, label.astype(np.int64))
        if self.rounds:
            factor = specialize(people, factor, self.rounds, rng, report)
        factor, members = tightened(people, factor, report)
        row = draw_rows(*pairs_of(people, members), problem.k, rng)
        cell = np.repeat(np.arange(len(factor.many)), factor.many)
        return cell[row], factor.vector


def _parts(problem: PeelingProblem, classes: Recoding) -> list[Longs]:
    """The records in parts of neighbouring classes; each has k rows of the same part."""
    vectors = problem.layout.arranged(classes.vectors)
    order = sort_rows(vectors.T)
    size = np.bincount(classes.record, minlength=len(order))[order]
    least = max(PART, PART_OF_K * problem.k)
    upto = np.cumsum(size)
    number = np.minimum((upto - size) // least, max(0, int(upto[-1]) // least - 1))
    part = np.empty(len(order), np.int64)
    part[order] = number
    by = np.argsort(part[classes.record], kind="stable")
    cuts = np.flatnonzero(np.diff(part[classes.record][by])) + 1
    return np.split(by, cuts)


def _check(table: Table, model: LinkageModel | MaxBelief) -> None:
    """Raise an error for requirements that cannot be satisfied."""
    if model.k > table.rows and isinstance(model, MaxBelief):
        best = 1.0 / table.rows
        raise CannotReach(model.key, best, model.out_of_reach(best)).offering(*model.ways_out(best))
    if model.k > table.rows:
        raise CannotReach(
            model.key,
            table.rows,
            f"{model.key} with k={model.k} cannot be reached: the table has {table.rows} rows; "
            f"the best k possible is {table.rows}: use that, or add rows",
        ).offering(WayOut("set", model.key, {"k": table.rows}), WayOut("remove", model.key))
    if table.rows * model.k > MOST_MEMBERS:
        raise BadTable(
            f"freeform needs a list of all members of all rows: {table.rows:,} rows with "
            f"k={model.k} are {table.rows * model.k:,}, and memory allows {MOST_MEMBERS:,}; use a "
            "smaller k, or the algorithm peel"
        )
