"""Freeform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.factors.draw import components, draw_rows
from shoal.algorithms._shared.factors.factor import People, of_classes, pairs_of, tightened
from shoal.algorithms._shared.factors.specialize import specialize
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.algorithms._shared.peeling.search import improved, peel
from shoal.algorithms._shared.requirements import check_linked
from shoal.base import interrupt
from shoal.base.arrays import Ints, Longs
from shoal.base.errors import BadTable
from shoal.base.progress import Progress, silent
from shoal.base.settings import AtLeastTwo, NotNegative
from shoal.kernels.sorting import sort_rows
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import LinkageModel, Model
from shoal.models.max_belief import MaxBelief
from shoal.table.encode import Table
from shoal.table.recoding import MAY_DIFFER, Recoding

MOST_MEMBERS = 100_000_000  # of all rows; 50 bytes each make 5 GB
PASSES = 1  # of exchange between classes, at the start


class Freeform(Algorithm):
    """Publishes rows without classes; k people fit each, every pairing with probability 1/k.

    Each row covers k different people, its members, and everybody is a member of k rows. Who is
    published as which row is drawn at random, so that each of the k rows of a person has the
    probability 1/k, even for somebody who knows the algorithm and all originals. Classes of k
    people are a special case: the search starts from those of `peel`. A class of more than k people
    needs rows that cover k of them only, and each row is tightened to its members. Then a linear
    program finds how many rows each cell would have if they could be fractions, by column
    generation; they are rounded, and rows move between cells by simulated annealing, as long as a
    flow finds k members for every row and k rows for everybody. The table is cut into parts of up
    to `component` people, who share rows with nobody else: the larger, the less is lost, and the
    more people a known record may say something about. Ctrl-C ends the search, and the parts that
    it has not reached are published in the classes.

    Models about sensitive values are not supported: which values the k rows of a person have
    depends on the draw, and to draw again until they differ would make some rows more likely.
    """

    name: ClassVar[str] = "freeform"
    works_in_parts: ClassVar[bool] = False
    pace: ClassVar[float] = 45.0
    component: AtLeastTwo = Field(
        default=10_000,
        description="most people who share possible records, directly or through others; a class "
        "of more than that stays together",
    )
    rounds: NotNegative = Field(
        default=1000,
        le=1_000_000,
        description="how often each row tries to move to another cell, on average; fewer times "
        "for k above 20",
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
        strictest = max(asked, key=lambda model: model.k)
        k = strictest.k
        check_linked(table, [strictest])
        _check_memory(table, k)
        problem = PeelingProblem(table, k, exact_costs(loss, table.domains, table.rows), progress)
        classes = improved(problem, peel(problem), PASSES)
        parts = _parts(problem, classes, self.component)
        record, vectors, before = np.empty(table.rows, np.int64), list[Ints](), 0
        cells, largest, ended = 0, 0, None
        for part in parts:

            def report(share: float, done: float = before, many: int = len(part)) -> None:
                progress("specializing", (done + share * many) / table.rows)

            report(0.0)
            try:
                found = self._publish(problem, classes, part, rng, report, ended is None)
            except KeyboardInterrupt:
                if ended is not None or not interrupt.keeps_best():
                    raise
                ended = before
                found = self._publish(problem, classes, part, rng, report, False)
            record[part] = cells + found.cell
            vectors.append(problem.layout.restored(found.vector))
            before, cells = before + len(part), cells + len(found.vector)
            largest = max(largest, found.largest)
        progress("specializing", 1.0)
        if ended is not None:
            problem.notes.append(
                f"freeform: the search was interrupted after {ended:,} of {table.rows:,} records; "
                f"the others are published in classes, and {MAY_DIFFER}"
            )
        note = (
            f"up to {largest:,} people share possible records, directly or through others; who "
            "knows the record of one of them may learn more about the others"
        )
        return Recoding(np.concatenate(vectors), record, notes=(*problem.notes, note))

    def _publish(
        self,
        problem: PeelingProblem,
        classes: Recoding,
        part: Longs,
        rng: np.random.Generator,
        report: Callable[[float], None],
        search: bool,
    ) -> _Published:
        """How these records are published, who are whole classes."""
        vector = problem.layout.arranged(problem.table.codes[part])
        people = People.of(problem.layout, vector, np.arange(len(part)), problem.k)
        first = people.records[people.tuples.first]
        label = np.unique(classes.record[part[first]], return_inverse=True)[1]
        factor = of_classes(people, label.astype(np.int64))
        if search and self.rounds:
            factor = specialize(people, factor, self.rounds, rng, report)
        factor, members = tightened(people, factor, partial(report, 1.0))
        person, row = pairs_of(people, members)
        largest = np.bincount(components(person, row)).max() // problem.k
        drawn = draw_rows(person, row, problem.k, rng)
        cell = np.repeat(np.arange(len(factor.many)), factor.many)
        return _Published(cell[drawn], factor.vector, int(largest))


class _Published(NamedTuple):
    """How some records are published."""

    cell: Longs  # int64[records]
    vector: Ints  # int32[cells, q], in the order of the layout
    largest: int  # people who share rows, directly or through others


def _parts(problem: PeelingProblem, classes: Recoding, most: int) -> list[Longs]:
    """The records in parts of neighbouring classes, of similar size and up to so many people.

    A larger class is a part of its own.
    """
    vectors = problem.layout.arranged(classes.vectors)
    order = sort_rows(vectors.T)
    size = np.bincount(classes.record, minlength=len(order))[order]
    n = int(size.sum())
    limit = min(most, -(-n // -(-n // most)) + int(size.max()))
    number, held, part = 0, 0, np.empty(len(order), np.int64)
    for place, people in zip(order.tolist(), size.tolist(), strict=True):
        if held and held + people > limit:
            number, held = number + 1, 0
        part[place] = number
        held += people
    by = np.argsort(part[classes.record], kind="stable")
    cuts = np.flatnonzero(np.diff(part[classes.record][by])) + 1
    return np.split(by, cuts)


def _check_memory(table: Table, k: int) -> None:
    """Raise an error if there are too many members of rows."""
    if table.rows * k > MOST_MEMBERS:
        raise BadTable(
            f"freeform needs a list of all members of all rows: {table.rows:,} rows with "
            f"k={k} are {table.rows * k:,}, and memory allows {MOST_MEMBERS:,}; use a "
            "smaller k, or the algorithm peel"
        )
