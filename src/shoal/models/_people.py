"""What models about people with multiple records have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from math import ceil
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.base.arrays import Floats
from shoal.base.errors import BadPlan, WayOut
from shoal.base.settings import ProperShare, Usual
from shoal.base.wording import percent
from shoal.models import TOLERANCE, Model, not_sensitive
from shoal.table.equivalence_classes import Classes
from shoal.table.person_values import PersonValues


class PeopleModel(Model):
    """A requirement about the people of every class and their records (Def. 2.3, Wang 2018).

    It needs a person column, which says which records belong to one person.
    """

    needs_person_column: ClassVar[bool] = True
    enhanced_by: ClassVar[str | None] = None  # the model that also holds for one record per person
    column: str = Field(description="the sensitive column")

    @property
    def about(self) -> str:
        """The sensitive column that the model is about."""
        return self.column

    def person_values(self, classes: Classes) -> PersonValues:
        """The values that each person has in the column, class by class."""
        try:
            return classes.person_values[self.column]
        except KeyError:
            pass
        if self.column in classes.histograms:
            raise BadPlan(no_person_column(self.name))
        raise BadPlan(not_sensitive(self.name, self.column, classes))


def no_person_column(model: str) -> str:
    """The error message for a table without a person column: counting records is not enough."""
    return (
        f"{model} is about people with several records, and the table has no person "
        "column; give the column that says whose record it is the role person. If the release was "
        "made with publish = false, people were counted then and cannot be counted now: leave this "
        "model out of the plan for the audit"
    )


class AlphaBetaModel(PeopleModel):
    """No person makes up more than alpha of a class, and no value more than beta.

    The level is the largest share of a value, at most 1. If a person's share is above alpha, the
    level is 1 + that share, which never satisfies the model.
    """

    higher_is_safer: ClassVar[bool] = False
    loosest: ClassVar[Mapping[str, Any]] = {"alpha": 0.99, "beta": 0.99}
    level_option: ClassVar[str] = "beta"
    alpha: Annotated[ProperShare, Usual(0.5, 0.05, 0.95, 0.05)] = Field(
        description="largest share of a class's records of one person"
    )
    beta: Annotated[ProperShare, Usual(0.5, 0.05, 0.95, 0.05)] = Field(
        description="largest share of a class that one value may have"
    )

    @property
    def required(self) -> float:
        """The largest share of a value."""
        return self.beta

    def levels(self, classes: Classes) -> Floats:
        """The largest share of a value in each class, or 1 + that of a person if too large."""
        person_values = self.person_values(classes)
        person = person_values.most_records / person_values.size
        too_much = person > self.alpha * (1 + TOLERANCE)
        return np.where(too_much, 1 + person, self.value_shares(classes))

    @abstractmethod
    def value_shares(self, classes: Classes) -> Floats:
        """The largest share that a value has of each class."""

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence."""
        return (
            f"In every class no person has more than {percent(100 * self.alpha)} of the records, "
            f"and {self.value_limit}."
        )

    @property
    @abstractmethod
    def value_limit(self) -> str:
        """What the model says about the values of a class, as the end of a sentence."""

    def out_of_reach(self, best: float) -> str:
        """The error message if a person or a value has too large a share of the whole table."""
        whole = "even in the whole table as one class"
        if best > 1:
            share = best - 1
            return (
                f"{self.key} with alpha={self.alpha:g} cannot be reached: {whole} one person has "
                f"{share:.3g} of the records; {_ask_for('alpha', share)} or remove that person"
            )
        return (
            f"{self.key} with beta={self.beta:g} cannot be reached: {whole} a value of "
            f"{self.column!r} has a share of {best:.3g}; {_ask_for('beta', best)} or choose "
            "another model"
        )

    def ways_out(self, best: float) -> tuple[WayOut, ...]:
        """Another share of a person, if that is the problem, or of a value."""
        name, share = ("alpha", best - 1) if best > 1 else ("beta", best)
        least, removed = ceil(share * 1000) / 1000, WayOut("remove", self.key)
        return (WayOut("set", self.key, {name: least}), removed) if least < 1 else (removed,)


def _ask_for(name: str, share: float) -> str:
    """The smallest share that can be reached, rounded up; a share of 1 guarantees nothing."""
    least = ceil(share * 1000) / 1000
    return f"ask for {name} of {least:g} or more," if least < 1 else f"no {name} below 1 is enough,"
