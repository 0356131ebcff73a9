"""Candidates: the algorithms, guiding losses and hierarchies to try for a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.base.errors import SHOWN, BadInput, BadPlan
from shoal.flow.freeing import freed
from shoal.losses import Loss
from shoal.losses._mean_costs import metrics_in_mean
from shoal.losses.mean import Mean
from shoal.measures.tried import words_of
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.roles import free_columns

Encoded = Callable[[Plan], Table]  # makes the table of another plan


@dataclass(frozen=True, eq=False)
class Variant:
    """The table encoded by the plan, or by the plan with free ranges and sets."""

    plan: Plan
    table: Table
    free: tuple[str, ...] = ()  # the columns that are free here and flat in the plan


@dataclass(frozen=True, eq=False)
class Candidate:
    """An algorithm and a guiding loss, on one of the variants."""

    algorithm: Algorithm
    loss: Loss
    variant: Variant

    def work(self, rows: int) -> float:
        """Estimated seconds for this number of rows."""
        return self.algorithm.work(rows, bool(self.variant.table.free))

    def __str__(self) -> str:
        return words_of(label(self.algorithm), self.loss.name, self.variant.free)


class Candidates:
    """The candidates to try first, and the default of the plan."""

    def __init__(self, table: Table, plan: Plan, encoded: Encoded | None) -> None:
        self.table, self.plan = table, plan
        self.losses = _losses(plan)
        own = Variant(plan, table)
        able = supporting_algorithms(plan, table)
        self.first = [Candidate(one, self.losses[0], own) for one in able]
        self.first += self._freed(encoded)
        self.defaults = self._defaults(able)

    def guided(self, like: Candidate, loss: Loss) -> Candidate:
        """The same candidate guided by another loss; if that is a default, the default itself."""
        for candidate in self.defaults:
            same = (candidate.algorithm, candidate.variant) == (like.algorithm, like.variant)
            if same and candidate.loss is loss:
                return candidate
        return Candidate(like.algorithm, loss, like.variant)

    @property
    def variants(self) -> list[Variant]:
        """The tables that candidates run on, each once."""
        return list(dict.fromkeys(candidate.variant for candidate in self.first))

    def _freed(self, encoded: Encoded | None) -> list[Candidate]:
        """The algorithms that can publish flat columns as free ranges or sets."""
        if encoded is None or not self.plan.algorithm.is_auto:
            return []
        plan = freed(self.plan, self.table)
        if plan is None:
            return []
        try:
            table = encoded(plan)
            able = supporting_algorithms(plan, table)
        except BadInput:  # no algorithm, or values that cannot be in ranges or sets
            return []
        before = free_columns(self.plan.columns)
        names = tuple(name for name in free_columns(plan.columns) if name not in before)
        variant = Variant(plan, table, names)
        return [Candidate(one, self.losses[0], variant) for one in able]

    def _defaults(self, able: list[Algorithm]) -> list[Candidate]:
        """The default of the plan; if the loss is open, guided by each of two losses."""
        plain = Plan(columns=self.plan.columns, models=self.plan.models)
        named = [one for one in able if one.setting() == plain.algorithm.setting()]
        # If the default does not support the plan, the fastest algorithm that does replaces it.
        algorithm = named[0] if named else min(able, key=lambda one: one.work(self.table.rows))
        losses = self.losses[:1]
        if self.plan.loss.is_auto:
            losses = losses + [one for one in self.losses if one.name == plain.loss.name]
        own = next(candidate for candidate in self.first if candidate.algorithm is algorithm)
        return [own, *(Candidate(algorithm, loss, own.variant) for loss in losses[1:])]


def label(algorithm: Algorithm) -> str:
    """The name of an algorithm, and the options that differ from the default.

    >>> from shoal.algorithms.gaa import GAA
    >>> label(GAA(weight="unit"))
    'gaa weight=unit'
    """
    chosen = {key: value for key, value in algorithm.setting().items() if key != "name"}
    return " ".join([algorithm.name, *(f"{key}={value}" for key, value in chosen.items())])


def supporting_algorithms(plan: Plan, table: Table) -> list[Algorithm]:
    """The algorithms that support a plan, also with their options about a sensitive column."""
    if not plan.algorithm.is_auto:
        return [plan.algorithm]
    able, reasons = [], []
    for name in catalog.algorithms.decided:
        one = plan.changed(algorithm=name)
        if not one.algorithm.minimizes_loss:
            continue
        try:
            one.check_served()
        except BadPlan as error:
            reasons.append(str(error))
        else:
            able.append(one.algorithm)
    if not able:
        raise BadPlan(f"auto finds no algorithm for this plan: {reasons[0]}")
    about = [model.about for model in plan.models if model.about is not None]
    if about and not table.free:
        able += [more for one in able for more in one.for_sensitive(about[0])]
    return able


def _losses(plan: Plan) -> list[Loss]:
    """The guiding losses to try, first the one with which algorithms are compared."""
    if not plan.loss.is_auto:
        return [plan.loss]
    return [Mean(), *(kind() for kind in metrics_in_mean().values())]


def list_candidates(candidates: Sequence[Candidate]) -> str:
    """The first of these candidates, and how many more there are."""
    shown = ", ".join(map(str, candidates[:SHOWN]))
    more = len(candidates) - SHOWN
    return shown if more <= 0 else f"{shown} and {more} more"
