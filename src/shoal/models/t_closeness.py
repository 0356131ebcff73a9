"""t-closeness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from shoal.base.arrays import Floats
from shoal.base.errors import preview
from shoal.base.settings import Usual
from shoal.base.wording import number, short
from shoal.models import ClassNeeds, SensitiveModel
from shoal.models import _distances as distances
from shoal.table.alike import alike
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram

MEASURED_BY = {
    "equal": "the share of the records that would need another value",
    "l1": "twice the share of the records that would need another value",
    "ordered": "how far values would have to be moved along their order",
    "hierarchical": "how far values would have to be moved in their hierarchy",
}


class TCloseness(SensitiveModel):
    """Each class's sensitive values are distributed as the table's, within distance t (Li 2007).

    `distance`: `equal` (variational distance), `l1` (norm 1, twice as much: Def. 13, Mauger
    2023), or the Earth Mover's Distance, `ordered` on the ranks of the values or `hierarchical`
    on the column's own hierarchy. `order` lists the values from low to high if these are neither
    numbers nor dates and no hierarchy has them in order.
    """

    name: ClassVar[str] = "t-closeness"
    compares_shares: ClassVar[bool] = True
    higher_is_safer: ClassVar[bool] = False
    loosest: ClassVar[Mapping[str, Any]] = {"t": 1.0}
    t: Annotated[float, Usual(0.2, 0, 1, 0.01)] = Field(
        description="largest distance of a class's values from those of the table"
    )
    distance: Literal["equal", "l1", "ordered", "hierarchical"] = Field(
        default="equal", description="how two distributions are compared"
    )
    order: tuple[str | int | float, ...] | None = Field(
        default=None, description="the values from low to high, for the distance ordered"
    )

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
        """The largest distance."""
        return self.t

    @property
    def max_share_gain(self) -> float | None:
        """By how much the share of a value may grow from table to class; None: unknown.

        The distance `equal` is the largest difference of the shares that any set of values has in
        class and table, so the share of one value differs by at most t; `l1` is twice that. Along
        an order, or within a branch, any share may move a short way at a small distance.
        """
        factor = {"equal": 1.0, "l1": 0.5}.get(self.distance)
        return None if factor is None else min(1.0, factor * self.t)

    def class_needs(self, shares: Floats) -> ClassNeeds | None:
        """What values have beyond their shares in the table is at most t, by equal distances."""
        gain = self.max_share_gain
        return None if gain is None else ClassNeeds(limit=shares, extra=gain, compares=True)

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in sentences."""
        most = "2" if self.distance == "l1" else "1"
        move = self.max_share_gain
        single = (
            "This distance does not limit by how much the share of a single value may differ: "
            "values that are close to each other may replace each other."
            if move is None
            else "By this definition the share of the records with a value may differ between "
            f"class and whole table by up to {number(round(100 * move, 4))} percentage points."
        )
        return (
            f"In every class the values of {short(self.column)} are at most {number(self.t)} away "
            f"from those of the whole table, measured by {MEASURED_BY[self.distance]}: 0 if the "
            f"distributions are equal, and {most} if class and table have nothing in common. "
            f"{single}"
        )

    def in_short(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, without how distances are measured."""
        most = "2" if self.distance == "l1" else "1"
        return (
            f"In every class the values of {short(self.column)} are at most {number(self.t)} away "
            f"from those of the whole table, where 0 is equal and {most} has nothing in common."
        )

    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:  # noqa: ARG002
        """The distance of each class's values from those of the table."""
        match self.distance:
            case "equal":
                return distances.equal(histogram)
            case "l1":
                return distances.l1(histogram)
            case "ordered":
                return distances.ordered(histogram, self.order)
            case "hierarchical":
                return distances.hierarchical(histogram)
