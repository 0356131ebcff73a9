"""The population that a table is a sample of: the table `[population]` of a plan."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from shoal.base.settings import PositiveShare, Setting


class Population(Setting):
    """How large the population is, for risks that are estimated beyond the table."""

    name: ClassVar[str] = "[population]"

    size: Annotated[int, Field(ge=1)] | None = None  # people in the population
    fraction: PositiveShare | None = None  # of the population that is in the table
    # Whether a record with a missing quasi-identifier counts towards every class that it could
    # belong to, or missing is a value like any other, as for the requirements.
    missing: Literal["value", "any"] = "value"

    @model_validator(mode="after")
    def _one_of_them(self) -> Population:
        if self.size is not None and self.fraction is not None:
            raise ValueError("has size and fraction, which say the same; state one of them")
        return self

    def __bool__(self) -> bool:
        return self.size is not None or self.fraction is not None

    def stated(self) -> dict[str, object]:
        """The settings that differ from their defaults.

        >>> Population(fraction=0.1).stated()
        {'fraction': 0.1}
        """
        return self.model_dump(exclude_defaults=True)
