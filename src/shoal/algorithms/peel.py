"""Lattice peeling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr, model_validator

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.cutting import cut_further
from shoal.algorithms._shared.peeling.equal_records import note_equal_records
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.algorithms._shared.peeling.recreate import note_interrupt, recreated
from shoal.algorithms._shared.peeling.search import improved, merge_rest, peel
from shoal.algorithms._shared.repair import QUICK, THOROUGH, Effort, Repair
from shoal.algorithms._shared.requirements import check_reachable, k_and_others
from shoal.algorithms._shared.sensitive_merge import diversify
from shoal.base.arrays import Longs
from shoal.base.progress import Progress, silent
from shoal.base.settings import NotNegative, Positive
from shoal.base.wording import number
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.recoding import NOT_USED, Recoding

MERGED = 5_000  # the merge of Tassa 2012 is tried up to this many failing classes …
COUNTED = 40_000  # … and up to this product of failing classes and sensitive values
LENT_PASSES = 5  # of exchange after lending, with high effort
WEIGHT = 0.15  # its w: "found to yield best results" (App. C, Tassa 2012)


class Peel(Algorithm):
    """Publishes the cheapest cells that cover enough people, and continues with the rest.

    A cell is one node of each hierarchy. For every remaining record, the search looks for the
    cheapest cell that covers k remaining people, with a limit on the cost that rises round by
    round. Cells are taken in the order of their cost, and a record whose cell has lost too many
    people searches again. Classes are tightened to the least general values that cover them.
    Records that remain at the end are merged with the nearest class.

    A table with dozens of columns has too many cells to search. When a fixed budget is used up, the
    remaining records are cut into pieces as `mondrian` does. Each piece is peeled separately, with
    its own budget, and what remains of it is cut again. The release notes that this happened.

    Up to `passes` passes of exchange between the classes follow: single tuples move, classes are
    dissolved, neighbours are partitioned again. With `lend` a cell may also borrow tuples that a
    class of more than k people can spare, which takes about twice the time.

    With `effort = "high"` or a time in `seconds` the classes are improved after that. A linear
    program finds cells that the best classes would have if numbers of people could be fractions.
    Then a new class takes the records of such a cell, or of another, from the classes that they are
    in, or a few neighbouring classes are dissolved and grouped anew with some random choices (ruin
    and recreate, Schrimpf et al. 2000). Both are tried again and again, and what loses less is
    used. The work of high effort is counted, so that the same table gives the same release; a run
    that is limited by a time is not reproducible. Ctrl-C ends the improvement, and the best classes
    so far are published.
    `effort = "quick"` leaves out the exchange.

    Other models are satisfied after that. Classes that violate one take tuples that they lack from
    nearby classes, or are merged, the cheapest repair per unit of violation first. The merge of
    Tassa 2012 is tried as well, and the result that loses less is used. It is then cut as
    `mondrian` does, as long as all parts satisfy the models.
    """

    name: ClassVar[str] = "peel"
    counts_together: ClassVar[bool] = True
    shares_parts: ClassVar[bool] = True
    pace: ClassVar[float] = 0.4
    passes: NotNegative = Field(
        default=1, description="passes that exchange records between classes after the search"
    )
    lend: bool = Field(
        default=False,
        description="let a new class take records that a larger class can spare (slower)",
    )
    effort: Literal["quick", "normal", "high"] = Field(
        default="normal",
        description="quick: no exchange of records; high: improve the classes for minutes",
    )
    seconds: Positive | None = Field(
        default=None, description="seconds for which the classes are improved"
    )

    @model_validator(mode="after")
    def _no_time_to_improve(self) -> Self:
        if self.effort == "quick" and self.seconds is not None:
            raise ValueError(
                f"has seconds = {number(self.seconds)}, in which classes are improved, and effort "
                '= "quick", which leaves that out; remove one of them'
            )
        return self

    @property
    def improves_longer(self) -> bool:
        """Whether classes are improved after the exchange."""
        return self.effort == "high" or self.seconds is not None

    @property
    def bound_effort(self) -> Literal["normal", "high"]:
        """High effort is for both: less loss, and a proof of how little it could be."""
        return "high" if self.effort == "high" else "normal"

    def with_share(self, share: float) -> Peel:
        """The same for a part of the table; without improvement if the share is 0."""
        if not self.improves_longer:
            return self
        if share <= 0:
            return self.model_copy(update={"effort": "normal", "seconds": None})
        seconds = None if self.seconds is None else self.seconds * share
        return self.model_copy(update={"seconds": seconds})

    _repairs: Effort = PrivateAttr(default=THOROUGH)

    def quick(self) -> Peel:
        """Fewer repairs are tried for each class that violates a model; nothing is improved."""
        made = self.with_share(0).model_copy()
        made._repairs = QUICK
        return made

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model: any model about classes."""
        return not model.linkage

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,  # noqa: ARG002 (not random)
        progress: Progress = silent,
    ) -> Recoding:
        """Peel the table, then merge the rest."""
        check_reachable(table, models)
        k, others = k_and_others(models)
        problem = PeelingProblem(table, k, exact_costs(loss, table.domains, table.rows), progress)
        label = peel(problem, self.lend)  # int64[tuples], a tuple of its class
        formed = [improved(problem, label, 0 if self.effort == "quick" else self.passes)]
        if self.improves_longer:
            formed.append(self._recreated(problem, formed[0]))
        found = formed
        if others:
            found = [self._with_models(problem, others, models, loss, one) for one in formed]
        best = min(found, key=problem.lost_by)
        _note_improvement(problem, formed, best is found[-1])
        if not others:
            note_equal_records(problem, best.record[problem.start.first])
        return replace(best, notes=tuple(problem.notes))

    def _recreated(self, problem: PeelingProblem, recoding: Recoding) -> Recoding:
        """The classes after they were improved, as long as is asked for."""
        label, begin = recoding.record[problem.start.first], monotonic()
        if not self.lend and self.effort == "high":  # lending may find a better start
            try:
                lent = improved(problem, peel(problem, True), LENT_PASSES)
                other = lent.record[problem.start.first]
                label = min(label, other, key=problem.lost)
            except KeyboardInterrupt:
                note_interrupt(problem, begin)
                return recoding
        return merge_rest(problem, recreated(problem, label, self.seconds))

    def _with_models(
        self,
        problem: PeelingProblem,
        others: Sequence[Model],
        models: Sequence[Model],
        loss: Loss,
        recoding: Recoding,
    ) -> Recoding:
        """The classes after those that violate a model were repaired or merged, and cut again."""
        start = problem.table.tally(True)
        label = recoding.record[start.first]
        label = satisfy_models(problem, start, others, label, self._repairs)
        return cut_further(problem.table, start, models, loss, label, problem.progress)


def _note_improvement(problem: PeelingProblem, formed: Sequence[Recoding], used: bool) -> None:
    """Note what was gained after the exchange, if anything was, and whether it is published."""
    before, after = (f"{problem.percent(one):.2f}" for one in (formed[0], formed[-1]))
    if before == after:
        return
    note = (
        "improving the classes lowered the loss for the class size alone from "
        f"{before} % to {after} %"
        if used
        else NOT_USED
    )
    problem.notes.append(f"peel: {note}")


def satisfy_models(
    problem: PeelingProblem,
    start: Classes,
    models: Sequence[Model],
    label: Longs,
    effort: Effort = THOROUGH,
) -> Longs:
    """Renumber the classes of tuples so that none violates a model.

    There are two ways, and the one that loses less is used. Failing classes take the values they
    lack from nearby ones or are merged, the cheapest repair first. Or they are merged as in
    Algorithm 8 of Tassa 2012, which searches farther, but is skipped if too many classes fail.
    """
    repair = Repair(problem.layout, problem.lattice.vector, start, models, problem.k, label, effort)
    fails = int(repair.fails.sum())
    if fails == 0:
        return label
    ways = [repair.run(problem.progress)]
    values = sum(len(histogram.total) for histogram in start.histograms.values())
    if fails <= MERGED and fails * values <= COUNTED:
        ways.append(_merged(problem, start, models, label))
    return min(ways, key=lambda way: problem.lost(way))


def _merged(
    problem: PeelingProblem, start: Classes, models: Sequence[Model], label: Longs
) -> Longs:
    """Number the classes of tuples after those that fail were merged."""
    wide = closures(problem.table.trees, problem.start_vector, label)
    table = problem.table
    classes = tally(wide[start.label], table.people, table.sensitive, table.weight)
    vectors = problem.layout.arranged(wide[start.label][classes.first])
    _, into = diversify(classes, vectors, problem.layout.trees, models, WEIGHT, problem.progress)
    return into[classes.label[start.first]]
