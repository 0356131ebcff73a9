"""Verify: check the requirements on the table that would be published, and on nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.attacks._weighed import believed, weighed_values
from shoal.base.errors import NotHeld
from shoal.measures.key_sets import View, views
from shoal.models import Check, LinkageModel, Model, SensitiveModel
from shoal.models.matching_belief import MatchingBelief
from shoal.models.max_belief import MaxBelief
from shoal.plan.attackers import Attacker
from shoal.table.equivalence_classes import Classes
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published


def verify(
    published: Published,
    models: Sequence[Model],
    linkage: MatchGraph | None = None,
    attackers: Sequence[Attacker] = (),
) -> list[Check]:
    """Check every requirement on the published table; raise an error unless all are satisfied.

    Linkage models need the graph of the release and its original. With several attackers every
    requirement must be satisfied for each of them.
    """
    checks = check_all(views(published, attackers), models, linkage)
    raise_unless_satisfied(models, checks)
    return checks


def check_all(
    seen_by: Sequence[View], models: Sequence[Model], linkage: MatchGraph | None = None
) -> list[Check]:
    """Check every requirement on what each attacker sees; violations raise no error.

    There is one check per requirement: that of the attacker for whom its level is worst.
    """
    return [_worst_check(model, seen_by, linkage) for model in models]


def _worst_check(model: Model, seen_by: Sequence[View], linkage: MatchGraph | None) -> Check:
    checks = [
        replace(model.check(classes), attacker=view.attacker)
        for view in seen_by
        for classes in seen_in_all_ways(model, view.published, linkage)
    ]
    sign = 1 if model.higher_is_safer else -1
    return min(checks, key=lambda check: (check.holds, sign * check.reached))


def raise_unless_satisfied(models: Sequence[Model], checks: Sequence[Check]) -> None:
    """Raise an error that lists the violated requirements, if there are any."""
    if not all(check.holds for check in checks):
        cases = "; ".join(
            f"{model.key} requires {model.bound} {check.required:g}, "
            f"the table reaches {_unlike(check.reached, check.required)}{_for(check)}"
            for model, check in zip(models, checks, strict=True)
            if not check.holds
        )
        raise NotHeld(f"the table that would be published violates a requirement: {cases}")


def _unlike(reached: float, required: float) -> str:
    """A level with as many digits as show that it is not the one that is required."""
    texts = (f"{reached:.{digits}g}" for digits in range(6, 17))
    return next((text for text in texts if float(text) != required), f"{reached:g}")


def _for(check: Check) -> str:
    return "" if check.attacker is None else f" for the attacker {check.attacker!r}"


def seen(model: Model, published: Published, linkage: MatchGraph | None) -> Classes:
    """The classes on which a model is measured.

    With a linkage model in the plan there need not be classes of equal records. An attacker then
    learns about a person from the records that match, so models about sensitive values are
    measured on the matches (Sec. 8, Tassa 2012).
    """
    if linkage is not None and isinstance(model, LinkageModel | MaxBelief):
        return linkage.view(model.view)
    if linkage is not None and isinstance(model, MatchingBelief):
        return believed(linkage)
    if linkage is not None and isinstance(model, SensitiveModel):
        return linkage.views["matches"]
    return published.classes


def seen_in_all_ways(
    model: Model, published: Published, linkage: MatchGraph | None
) -> list[Classes]:
    """The classes on which a model is measured; it must be satisfied on all of them.

    Models about shares of sensitive values are measured twice on the matches of a person: each
    record counted once, as the paper does (Sec. 8, Tassa 2012), and weighed by the probability that
    it is the person's. Counts alone would let one almost certain record hide behind many unlikely
    ones; weights alone are about an attacker who finds all assignments equally likely.
    """
    classes = seen(model, published, linkage)
    if linkage is None or not isinstance(model, SensitiveModel) or not model.by_share:
        return [classes]
    model.histogram(classes)  # raises an error if the column is not sensitive
    return [classes, weighed_values(linkage, model.column)]


def of_rows(
    model: Model, found: npt.NDArray[Any], published: Published, linkage: MatchGraph | None
) -> npt.NDArray[Any]:
    """The result of a model per record, from its result per class: a level, or a verdict.

    Of two results for a record the lower one counts. The records of the release must be in the
    order of the original.
    """
    mine = published.classes.label
    if linkage is None or not (model.linkage or isinstance(model, SensitiveModel)):
        return found[mine]
    view = model.view if isinstance(model, LinkageModel) else "matches"
    if view == "preimages":
        return found[mine]
    original = found[linkage.original.label]
    if view == "both":
        original = np.minimum(original, found[len(linkage.original) + mine])
    return np.asarray(original)
