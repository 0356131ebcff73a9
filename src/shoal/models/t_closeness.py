"""t-closeness."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import field_validator, model_validator

from shoal.base.arrays import Floats
from shoal.base.errors import preview
from shoal.models import SensitiveModel
from shoal.models import _distances as distances
from shoal.table.alike import alike
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram


class TCloseness(SensitiveModel):
    """Each class's sensitive values are distributed as the table's, within distance t (Li 2007).

    `distance`: `equal` (variational distance), `l1` (norm 1, twice as much: Def. 13, Mauger
    2023), or the Earth Mover's Distance, `ordered` on the ranks of the values or `hierarchical`
    on the column's own hierarchy. `order` lists the values from low to high where these are
    neither numbers nor dates and no hierarchy has them in order.
    """

    name: ClassVar[str] = "t-closeness"
    compares_shares: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    t: float
    distance: Literal["equal", "l1", "ordered", "hierarchical"] = "equal"
    order: tuple[str | int | float, ...] | None = None

    @field_validator("order", mode="before")
    @classmethod
    def _no_list(cls, order: Any) -> Any:
        return tuple(order) if isinstance(order, list) else order

    @model_validator(mode="after")
    def _in_range(self) -> TCloseness:
        most = 2 if self.distance == "l1" else 1
        if not 0 <= self.t <= most:
            raise ValueError(
                f"needs t from 0 to {most} with the distance {self.distance}, got t={self.t:g}"
            )
        if self.order is not None:
            if self.distance != "ordered":
                raise ValueError(
                    f"takes an order with the distance ordered only, not with {self.distance}"
                )
            ways: dict[str, list[object]] = {}
            for value in self.order:
                ways.setdefault(alike(value), []).append(value)
            if twice := [preview(same) for same in ways.values() if len(same) > 1]:
                raise ValueError(
                    f"needs an order that names no value twice; {twice[0]} count as one value"
                )
        return self

    @property
    def required(self) -> float:
        """The distance that is promised."""
        return self.t

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """How far the values of each class are from those of the table."""
        match self.distance:
            case "equal":
                return distances.equal(histogram)
            case "l1":
                return distances.l1(histogram)
            case "ordered":
                return distances.ordered(histogram, self.order)
            case "hierarchical":
                return distances.hierarchical(histogram)
