"""Utility: what a release can still be used for (Sec. 4.1 and 5, Wang 2018).

Three measures: the normalized information loss, the error of counting queries, and the classes
that satisfy an identity-reserved model but violate its enhanced version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal import catalog
from shoal.hierarchies.values import ROOT
from shoal.losses import costs_of
from shoal.losses.lm import LM
from shoal.measures.breakdowns.variance_lost import VarianceLost
from shoal.measures.information_loss import Quality
from shoal.measures.queries.answers import Answers, answer
from shoal.measures.queries.draw import Queries
from shoal.models import Model
from shoal.models._people import PeopleModel
from shoal.table.encode import Table
from shoal.table.published_table import Published


@dataclass(frozen=True)
class Vulnerable:
    """Classes that satisfy an identity-reserved model but not its enhanced version (Sec. 5)."""

    model: str
    column: str
    enhanced: str  # the model that they violate
    classes: int
    all_classes: int
    people: int  # in these classes
    all_people: int

    @property
    def percent(self) -> float:
        """The share of classes, v in Sec. 5 of Wang 2018."""
        return 100.0 * self.classes / self.all_classes

    @property
    def people_percent(self) -> float:
        """The share of people who are in such a class."""
        return 100.0 * self.people / self.all_people

    def as_dict(self) -> dict[str, Any]:
        """All numbers by the names of the JSON file."""
        return {
            "fails": self.enhanced,
            "classes": self.classes,
            "percent": self.percent,
            "people": self.people,
            "people_percent": self.people_percent,
        }


@dataclass(frozen=True)
class Utility:
    """What a release can still be used for."""

    normalized_loss: float | None  # from 0 to 1; None: no original
    answers: Answers | None  # None: no original, or not asked for
    vulnerable: tuple[Vulnerable, ...]  # one per model with an enhanced version
    weighted: Answers | None = None  # in people of the population; None: there are no weights
    # Of each microaggregated column; empty: there is none, or no original.
    microaggregated: tuple[VarianceLost, ...] = ()

    def notes(self, rows: int) -> list[str]:
        """Further remarks for the reader."""
        return [] if self.answers is None else self.answers.notes(rows)

    def as_dict(self) -> dict[str, Any]:
        """All numbers by the names of the JSON file."""
        found: dict[str, Any] = {}
        for one in self.vulnerable:
            key, again = f"{one.model}[{one.column}]", 2
            while key in found:
                key, again = f"{one.model}[{one.column}] #{again}", again + 1
            found[key] = one.as_dict()
        return {
            "normalized_loss": self.normalized_loss,
            "queries": None if self.answers is None else self.answers.as_dict(),
            "weighted_queries": None if self.weighted is None else self.weighted.as_dict(),
            "vulnerable": found or None,
            "microaggregated": {one.column: one.as_dict() for one in self.microaggregated},
        }


def utility_of(
    original: Table,
    published: Published,
    quality: Quality,
    models: Sequence[Model],
    queries: Queries | None = None,
    watch: Callable[[float], None] = lambda _: None,
    answered: bool = True,
) -> Utility:
    """Measure the utility of a release, compared with its original.

    `watch` is called with the share that is done. Unless `answered`, no queries are answered.
    """
    return Utility(
        normalized_loss(original, published, quality),
        answer(original, published, queries or Queries(), watch) if answered else None,
        vulnerable(published, models),
    )


def normalized_loss(original: Table, published: Published, quality: Quality) -> float:
    """The mean loss of a cell, from 0 to 1, weighted by importance (eq. 15, Wang 2018).

    A value loses (leaves below - 1) / (all leaves - 1), which is the metric lm (eq. 12), and a
    suppressed one loses 1; what the original had lost already is subtracted. lm is a share of the
    largest possible loss: it differs for columns with a single value, and for originals that are
    general already.
    """
    costs = costs_of(LM(), original.domains)  # float64[nodes] per column
    possible = [float(c @ d.counts) for c, d in zip(costs, original.domains, strict=True)]
    lost = quality.losses["lm"] / 100.0 * sum(possible)
    suppressed = max(original.rows - published.rows, 0)
    single = 0.0  # a column of one value can lose only suppressed records
    for one, counts in zip(original.domains, published.counts(original), strict=True):
        if int(one.tree.leaves[0]) <= 1:
            star = one.tree.labels[0] == ROOT  # a * was lost before
            known = original.rows - int(one.counts[0]) * star
            left = published.rows - (float(counts.nodes[0]) - suppressed) * star
            single += one.importance * min(suppressed, known - left)
    return (lost + single / len(costs)) / original.rows


def vulnerable(published: Published, models: Sequence[Model]) -> tuple[Vulnerable, ...]:
    """Classes that satisfy an identity-reserved model but not its enhanced version, per model."""
    return tuple(
        _vulnerable(published, model, stronger)
        for model in models
        if isinstance(model, PeopleModel)
        for stronger in [enhanced(model)]
        if stronger is not None
    )


def enhanced(model: PeopleModel) -> PeopleModel | None:
    """The enhanced model of an identity-reserved one, with the same thresholds.

    >>> from shoal.models.ir_kl_anonymity import IRKLAnonymity
    >>> enhanced(IRKLAnonymity(column="disease", k=3, l=3))
    EIRLDiversity(column='disease', l=3)
    """
    if model.enhanced_by is None:
        return None
    kind = catalog.models[model.enhanced_by]
    options = {name: value for name, value in model.options().items() if name in kind.model_fields}
    stronger = kind(**options)
    assert isinstance(stronger, PeopleModel)
    return stronger


def _vulnerable(published: Published, model: PeopleModel, stronger: PeopleModel) -> Vulnerable:
    classes = published.classes
    found = model.satisfied(classes) & ~stronger.satisfied(classes)  # bool[classes]
    assert published.people is not None
    who = np.unique(published.people[found[classes.label]])
    often = published.person_weight
    return Vulnerable(
        model=model.name,
        column=model.column,
        enhanced=stronger.name,
        classes=int(found.sum()),
        all_classes=len(classes),
        people=len(who) if often is None else int(often[who].sum()),
        all_people=published.person_count,
    )
