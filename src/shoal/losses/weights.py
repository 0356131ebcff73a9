"""Edge weights handed in by the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field, field_validator

from shoal.base.arrays import Floats
from shoal.base.errors import BadPlan, did_you_mean, preview
from shoal.losses import EdgeLoss
from shoal.table.encode import Domain


class Weights(EdgeLoss):
    """Your own weight for each edge of a hierarchy (Def. 3, Mauger 2023)."""

    name: ClassVar[str] = "weights"
    counts: ClassVar[str] = "the weights that the plan gives each step of a hierarchy"
    needs_trees: ClassVar[bool] = True  # the weights belong to edges of trees
    reported: ClassVar[bool] = False  # only the plan has weights
    edge_weights: dict[str, dict[str, float]] = Field(
        description="for each column, the weight of the edge above each value except the root"
    )

    @field_validator("edge_weights")
    @classmethod
    def _not_negative(cls, given: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        for column, weights in given.items():
            bad = {label: weight for label, weight in weights.items() if not 0 <= weight < np.inf}
            if bad:
                raise ValueError(f"needs weights of 0 or more, but column {column!r} has {bad}")
        return given

    def edges(self, domain: Domain, domains: Sequence[Domain]) -> Floats:  # noqa: ARG002
        """The given weights. Every value except the root and a missing one needs one."""
        if domain.name not in self.edge_weights:
            raise BadPlan(
                f"weights has none for column {domain.name!r}; give one for the edge above each "
                "value"
            )
        given = self.edge_weights[domain.name]
        labels = domain.tree.labels
        unknown = [label for label in given if label not in labels]
        if unknown:
            hint = did_you_mean(unknown[0], [str(label) for label in labels])
            raise BadPlan(
                f"weights of column {domain.name!r} name values that are not in its hierarchy: "
                f"{preview(unknown)}{hint}"
            )
        lacking = [label for label in domain.tree.values if label not in given]
        if lacking:
            raise BadPlan(f"weights of column {domain.name!r} lack the values {preview(lacking)}")
        # A missing value without a weight costs as much as the most expensive edge.
        highest = max(given.values(), default=0.0)
        return np.array([highest if v is None else given.get(v, highest) for v in labels])
