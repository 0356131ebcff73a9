"""Verify: judges the very table that would be published, and trusts nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.base.errors import NotHeld
from shoal.models import Check, LinkageModel, Model, SensitiveModel
from shoal.table.equivalence_classes import Classes
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published


def verify(
    published: Published, models: Sequence[Model], linkage: MatchGraph | None = None
) -> list[Check]:
    """Check every requirement on the published table; raise unless all of them are satisfied.

    MatchGraph models need the graph of the release and its original.
    """
    checks = check_all(published, models, linkage)
    raise_unless_satisfied(models, checks)
    return checks


def check_all(
    published: Published, models: Sequence[Model], linkage: MatchGraph | None = None
) -> list[Check]:
    """Check every requirement on the published table, satisfied or not."""
    return [model.check(seen(model, published, linkage)) for model in models]


def raise_unless_satisfied(models: Sequence[Model], checks: Sequence[Check]) -> None:
    """Raise an error that names the requirements which are violated, if there are any."""
    if not all(check.holds for check in checks):
        cases = "; ".join(
            f"{model.key} requires {check.required:g}, the table reaches {check.reached:g}"
            for model, check in zip(models, checks, strict=True)
            if not check.holds
        )
        raise NotHeld(f"the table that would be published violates a requirement: {cases}")


def seen(model: Model, published: Published, linkage: MatchGraph | None) -> Classes:
    """What a model is judged on.

    Beside a linkage model there need not be any classes: what an attacker can learn of a person
    is then in the records that could be that person's, and models about sensitive values are
    judged on those (Sec. 8, Tassa 2012).
    """
    if linkage is not None and isinstance(model, LinkageModel):
        return linkage.views[model.view]
    if linkage is not None and isinstance(model, SensitiveModel):
        return linkage.views["matches"]
    return published.classes


def of_rows(
    model: Model, told: npt.NDArray[Any], published: Published, linkage: MatchGraph | None
) -> npt.NDArray[Any]:
    """What a model tells of each row, from what it tells of what it is judged on.

    That may be the level or whether it is enough; where it is told twice, the lower one. The rows
    of the release must stand in the order of the original.
    """
    mine = published.classes.label
    if linkage is None or not (model.linkage or isinstance(model, SensitiveModel)):
        return told[mine]
    view = model.view if isinstance(model, LinkageModel) else "matches"
    if view == "preimages":
        return told[mine]
    original = told[linkage.original.label]
    if view == "both":
        original = np.minimum(original, told[len(linkage.original) + mine])
    return np.asarray(original)
