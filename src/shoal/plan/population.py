"""The population that a table is a sample of: the table `[population]` of a plan."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from shoal.base.errors import BadPlan
from shoal.base.settings import Setting


class Population(Setting):
    """How large the population is, for estimates beyond the table, or a table of its people."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: ClassVar[str] = "[population]"

    size: Annotated[int, Field(ge=1)] | None = None  # people in the population
    # Of the population, the share that is in the table; there are less than 1e12 people.
    fraction: Annotated[float, Field(ge=1e-12, le=1)] | None = None
    # Whether a record with a missing quasi-identifier counts towards every class that it could
    # belong to, or missing is a value like any other, as for the requirements.
    missing: Literal["value", "any"] = "value"
    data: Any = None  # the path of a file with all people, or a table in memory; None: neither
    incomplete: bool = False  # whether the data may lack people of the table; they count as there

    @field_validator("data")
    @classmethod
    def _data(cls, given: Any) -> Any:
        if isinstance(given, bool | int | float | list | dict):
            raise ValueError('needs data with the path of a file, as in data = "people.csv"')
        return Path(given) if isinstance(given, str) else given

    @model_validator(mode="after")
    def _one_of_them(self) -> Population:
        if self.size is not None and self.fraction is not None:
            raise ValueError("has size and fraction, which say the same; state one of them")
        return self

    def __bool__(self) -> bool:
        return self.size is not None or self.fraction is not None

    def __eq__(self, other: object) -> bool:
        # Tables in memory are compared by identity: some have an == of their own.
        if not isinstance(other, Population):
            return False
        mine, theirs = self.data, other.data
        same = mine == theirs if isinstance(mine, Path) and isinstance(theirs, Path) else False
        return (mine is theirs or same) and self._others() == other._others()

    __hash__ = None  # type: ignore[assignment]

    def check_persons(self, persons: Sequence[str]) -> None:
        """Raise an error if missing values may be any, and people have several records."""
        if self.missing == "any" and persons:
            raise ValueError(
                'has missing = "any" under [population], and a person column '
                f"({persons[0]!r}): a missing value counts as any value only if each record is a "
                "person; remove one of the two"
            )

    def _others(self) -> dict[str, Any]:
        return self.model_dump(exclude_defaults=True, exclude={"data"})

    def without_data(self) -> Population:
        """The same without the table of people."""
        return self.model_copy(update={"data": None, "incomplete": False})

    def stated(self, folder: Path | None = None) -> dict[str, object]:
        """The settings that differ from their defaults, as in a plan file of this folder.

        >>> Population(fraction=0.1).stated()
        {'fraction': 0.1}
        """
        if self.data is None:
            return self._others()
        if not isinstance(self.data, Path):
            raise BadPlan(
                "a plan file cannot contain the population, which is a table in memory; write it "
                "to a file, and give the path of the file as data under [population]"
            )
        path = self.data
        if folder is not None and path.is_absolute() and folder.is_absolute():
            path = Path(os.path.relpath(path, folder))
        return {"data": path.as_posix(), **self._others()}
