"""Privacy models: the level that each class reached, and whether that is enough.

Internal: the catalog finds what stands here.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, dataclass
from math import ceil, floor, isfinite, log10
from typing import Any, ClassVar

import numpy as np
from pydantic import field_validator

from shoal.base.arrays import Bools, Floats
from shoal.base.errors import BadPlan, BadTable, did_you_mean, preview
from shoal.base.settings import Setting
from shoal.table.alike import alike
from shoal.table.equivalence_classes import Classes
from shoal.table.person_values import PersonValues
from shoal.table.sensitive import Histogram, Sensitive


@dataclass(frozen=True)
class Check:
    """One promise, measured on the table that would be published."""

    model: str
    column: str | None
    required: float
    reached: float
    holds: bool

    def as_dict(self) -> dict[str, Any]:
        """The check by the names of the JSON file."""
        return {**asdict(self), "reached": finite(self.reached)}


TOLERANCE = 1e-9  # so that two equally frequent values are 2-diverse


def finite(level: float) -> float | None:
    """A level as JSON can write it, which knows no infinity: None where no number is enough."""
    return level if isfinite(level) else None


class Model(Setting):
    """A promise that every class of a table must keep."""

    higher_is_safer: ClassVar[bool] = True
    strict: ClassVar[bool] = False  # whether a level equal to the promised one is not enough
    linkage: ClassVar[bool] = False  # whether the original is needed beside the release
    needs_person_column: ClassVar[bool] = False  # whether the table must tell whose each row is
    # Whether a class that keeps the promise keeps it whatever people join it, and whatever the
    # rest of the table is. Of other models only that two classes that keep it do so together.
    is_monotone: ClassVar[bool] = False

    @property
    @abstractmethod
    def required(self) -> float:
        """The level that is promised."""

    @abstractmethod
    def levels(self, classes: Classes) -> Floats:
        """The level that each class reached."""

    def reached(self, classes: Classes) -> float:
        """The level of the whole table: that of its worst class."""
        levels = self.levels(classes)
        return float(levels.min() if self.higher_is_safer else levels.max())

    def holds(self, level: float) -> bool:
        """Whether a level is enough; a hair's breadth of rounding does not count."""
        return bool(self._enough(np.float64(level)))

    def satisfied(self, classes: Classes) -> Bools:
        """Whether each class keeps the promise, bool[classes].

        `classes` may be any classes of a table, not only all of them: what a model needs to know
        of the whole table is in the totals of the histograms.
        """
        return np.asarray(self._enough(self.levels(classes)), np.bool_)

    def _enough(self, levels: Any) -> Any:
        slack = TOLERANCE * max(1.0, abs(self.required))
        if self.strict:  # what is equal within rounding is equal, and not enough
            slack = -TOLERANCE * abs(self.required)
        if self.higher_is_safer:
            return levels >= self.required - slack
        return levels <= self.required + slack

    @property
    def about(self) -> str | None:
        """The sensitive column that the promise is about, if it is about one."""
        return None

    @property
    def key(self) -> str:
        """The name under which levels are reported."""
        return self.name if self.about is None else f"{self.name}[{self.about}]"

    def check(self, classes: Classes) -> Check:
        """Measure the promise."""
        reached = self.reached(classes)
        return Check(self.name, self.about, self.required, reached, self.holds(reached))

    def out_of_reach(self, best: float) -> str:
        """Why the promise cannot be kept where the whole table as one class reaches no more."""
        what = f"with {self.required:g} cannot be reached: even the whole table as one class"
        return f"{self.key} {what} reaches only {best:g}; {self._advice(best)}"

    def _advice(self, best: float) -> str:
        """What to ask for instead: the best level there is, rounded to where it surely holds."""
        if not isfinite(best):
            return "no number is enough; choose another model"
        step = 10.0 ** (floor(log10(best)) - 3) if best > 0 else 1e-4
        steps = floor(best / step) if self.higher_is_safer else ceil(best / step) + self.strict
        if self.higher_is_safer and steps * step <= 1:
            return "that says nothing; choose another model"
        return f"ask for {steps * step:g}, or for another model"


class SensitiveModel(Model):
    """A promise about one sensitive column.

    Where the table tells whose each row is, a class is judged twice, by its rows and by its
    people, each of whom counts once for each value that he or she has. The worse one counts: many
    rows of one person are no crowd, and a value that everybody has among others is no secret.
    """

    # Whether the share of a value is that of the people who have it, or of all that people have.
    of_people: ClassVar[bool] = False
    # Whether it compares how frequent a value is in a class and in the table. To count two values
    # as one is then not on the safe side.
    compares_shares: ClassVar[bool] = False
    column: str

    def levels(self, classes: Classes) -> Floats:
        """The level of each class."""
        histogram = self.histogram(classes)
        if self.compares_shares:
            _check_case(self.name, histogram.column)
        levels = self.levels_of(histogram, classes)
        held = classes.holdings.get(self.column)
        if held is None:
            return levels
        by_people = self.levels_of(held.histogram(self.of_people), classes)
        worse = np.minimum if self.higher_is_safer else np.maximum
        return np.asarray(worse(levels, by_people))

    @abstractmethod
    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:
        """The level of each class with these sensitive values."""

    @property
    def about(self) -> str:
        """The sensitive column that the promise is about."""
        return self.column

    def histogram(self, classes: Classes) -> Histogram:
        """The column's values, class by class."""
        try:
            return classes.histograms[self.column]
        except KeyError:
            known = list(classes.histograms)
            raise BadPlan(
                f"{self.name} is about the column {self.column!r}, which is no sensitive column of "
                f"the table; give it the role sensitive{did_you_mean(self.column, known)}"
            ) from None


def _check_case(model: str, column: Sensitive) -> None:
    """Refuse values that differ in letter case: they may or may not mean the same."""
    for ways in column.spellings:
        known = {alike(value, case=True): value for value in ways if value is not None}
        if len(known) > 1:
            raise BadTable(
                f"{model} compares how frequent values are, and column {column.name!r} has values "
                f"that differ only in letter case: {preview(known.values())}; write them in one "
                "way if they mean the same, or in clearly different ways if they do not"
            )


class PeopleModel(Model):
    """A promise about the people of every class and their records (Def. 2.3, Wang 2018).

    It needs a person column: without one it cannot be told which records are one person's.
    """

    needs_person_column: ClassVar[bool] = True
    column: str

    @property
    def about(self) -> str:
        """The sensitive column that the promise is about."""
        return self.column

    def holdings(self, classes: Classes) -> PersonValues:
        """Who has which values of the column, class by class."""
        try:
            return classes.holdings[self.column]
        except KeyError:
            pass
        if self.column in classes.histograms:
            raise BadPlan(no_person_column(self.name))
        known = list(classes.histograms)
        raise BadPlan(
            f"{self.name} is about the column {self.column!r}, which is no sensitive column of "
            f"the table; give it the role sensitive{did_you_mean(self.column, known)}"
        )


def no_person_column(model: str) -> str:
    """Say that a table does not tell whose its rows are: to count rows would promise too much."""
    return (
        f"{model} is about people with several records, and the table has no person "
        "column; give the column that tells whose a row is the role person"
    )


class AlphaBetaModel(PeopleModel):
    """A promise that no person makes up more than alpha of a class, and no value more than beta.

    The level is the largest share of a value, at most 1. Where a person's share is above alpha it
    is 1 + that share, which is never enough.
    """

    higher_is_safer: ClassVar[bool] = False
    alpha: float
    beta: float

    @field_validator("alpha", "beta")
    @classmethod
    def _share(cls, share: float) -> float:
        if not 0 < share < 1:
            raise ValueError(f"needs alpha and beta above 0 and below 1, got {share:g}")
        return share

    @property
    def required(self) -> float:
        """The share that is promised."""
        return self.beta

    def levels(self, classes: Classes) -> Floats:
        """The largest share of a value in each class; 1 + that of a person where too large."""
        held = self.holdings(classes)
        person = held.most_records / held.size
        too_much = person > self.alpha * (1 + TOLERANCE)
        return np.where(too_much, 1 + person, self.value_shares(classes))

    @abstractmethod
    def value_shares(self, classes: Classes) -> Floats:
        """The largest share that a value has of each class."""

    def out_of_reach(self, best: float) -> str:
        """Why the promise cannot be kept: somebody, or a value, has too much of the whole table."""
        whole = "even in the whole table as one class"
        if best > 1:
            share = best - 1
            return (
                f"{self.key} with alpha={self.alpha:g} cannot be reached: {whole} one person has "
                f"{share:.3g} of the records; {_ask_for('alpha', share)} or leave that person out"
            )
        return (
            f"{self.key} with beta={self.beta:g} cannot be reached: {whole} a value of "
            f"{self.column!r} has a share of {best:.3g}; {_ask_for('beta', best)} or choose "
            "another model"
        )


def _ask_for(name: str, share: float) -> str:
    """The least share that can be had, rounded up; one of 1 says nothing."""
    least = ceil(share * 1000) / 1000
    return f"ask for {name} of {least:g} or more," if least < 1 else f"no {name} below 1 is enough,"


class LinkageModel(Model):
    """A promise about the graph of original and release (Def. 4 and 6, Tassa 2012).

    It looks at `people` who could be meant, in the view of the linkage that it names.
    """

    linkage: ClassVar[bool] = True
    view: ClassVar[str]
    k: int

    @field_validator("k")
    @classmethod
    def _crowd(cls, k: int) -> int:
        if k < 2:
            raise ValueError(f"needs k of at least 2, got k={k}")
        return k

    @property
    def required(self) -> float:
        """The level that is promised."""
        return float(self.k)

    def levels(self, classes: Classes) -> Floats:
        """The people of each."""
        return classes.people.astype(np.float64)

    def reached(self, classes: Classes) -> float:
        """The fewest people."""
        return int(classes.people.min())
