"""What all models have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from math import ceil, floor, isfinite, log10
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from shoal.base.arrays import Bools, Floats
from shoal.base.errors import BadPlan, WayOut
from shoal.base.settings import AtLeastTwo, Setting, Usual
from shoal.base.wording import digits, sentence
from shoal.models._check import Check
from shoal.table.equivalence_classes import Classes

# Options that several models have.
ClassSize = Annotated[AtLeastTwo, Usual(5, 2, 100)]
DistinctValues = Annotated[AtLeastTwo, Usual(2, 2, 20)]

MANY = 2**62  # people, more than any table has; arrays of whole numbers can hold it
TOLERANCE = 1e-9  # so that two equally frequent values are 2-diverse


class ClassNeeds(NamedTuple):
    """What every class needs, provably, if a model about a sensitive column is satisfied.

    The lower bound on the loss rests on it, so it must never be too strict.
    """

    distinct: int = 0  # at least so many values; 0: shares are limited instead
    limit: Floats = np.ones(0)  # float64[values], the share that a value may have without `extra`
    extra: float = 0.0  # the share that all values together may have beyond their limits
    compares: bool = False  # whether limits depend on the shares in the table

    @property
    def least_records(self) -> int:
        """How many records a class has at least."""
        highest = float(self.limit.max(initial=0.0)) + self.extra
        shares = 1 if self.compares or not highest else ceil(1 / highest - 1e-6)
        return max(self.distinct, shares)


class Model(Setting):
    """A requirement that every class of a table must satisfy."""

    higher_is_safer: ClassVar[bool] = True
    strict: ClassVar[bool] = False  # whether a level equal to the required one is not enough
    linkage: ClassVar[bool] = False  # whether it is judged on the release and its original together
    needs_person_column: ClassVar[bool] = False
    needs_household_column: ClassVar[bool] = False
    # Whether it is about a random draw among all records. A recoding has no draw for other records.
    needs_draw: ClassVar[bool] = False
    # Whether a class that satisfies the model still does so after any people join it, whatever the
    # rest of the table is. Of other models only this is known: two classes that satisfy it do so
    # together.
    is_monotone: ClassVar[bool] = False
    # The option that says among how many people each person is hidden; `compare --k` sets it.
    size_option: ClassVar[str | None] = None
    # The options with which the model requires almost nothing; `compare` compiles kernels so.
    loosest: ClassVar[Mapping[str, Any]] = {}
    # The option that is the required level; "": the first one that has its value.
    level_option: ClassVar[str] = ""

    @property
    @abstractmethod
    def required(self) -> float:
        """The level that is required."""

    @property
    def bound(self) -> str:
        """How a level that satisfies the model relates to the required one, in words."""
        if self.higher_is_safer:
            return "more than" if self.strict else "at least"
        return "less than" if self.strict else "at most"

    @property
    def min_people(self) -> int:
        """How many people every class has, provably, if the model is satisfied; 1: no statement.

        The lower bound on the loss rests on it, so it must never be too high.
        """
        return 1

    @property
    def min_factor(self) -> int:
        """The k for which every release without classes has a k-factor; 1: no statement.

        In a k-factor, which may have fractions, no pair of a person and a record has more than one
        k-th of either. The lower bound on the loss rests on it, so it must never be too high.
        """
        return 1

    @property
    def only_class_size(self) -> bool:
        """Whether a class of `min_people` always satisfies the model: it requires nothing else."""
        return False

    @property
    def hidden_among(self) -> int:
        """Among how many people each person is hidden, if an option says so; 1: none does."""
        return 1 if self.size_option is None else int(getattr(self, self.size_option))

    @property
    def max_share_gain(self) -> float | None:
        """By how much the share of a sensitive value may grow from table to class; None: unknown.

        As a difference of shares of records.
        """
        return None

    def class_needs(self, shares: Floats) -> ClassNeeds | None:  # noqa: ARG002
        """What every class needs of the values of the column; None: nothing that the bound knows.

        `shares`: that of each value in the table, float64[values].
        """
        return None

    @property
    def needs_population(self) -> bool:
        """Whether it counts people of a population, whom the published values of a class cover.

        Then its level depends on published values, not only on who is in a class. Algorithms form
        classes without it, and values are generalized further until it is satisfied.
        """
        return False

    @property
    def needs_everybody(self) -> bool:
        """Whether a population that lacks people of the table cannot show that it holds."""
        return False

    def loosened(self) -> Self:
        """The same model with its loosest options."""
        return type(self)(**{**self._fields(), **self.loosest})

    def guarantee(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the model guarantees, in a sentence for readers who do not know it.

        `linked`: the release has no classes, and sensitive values are judged on the records that
        could be a person's.
        """
        return sentence(type(self).summary())

    def in_short(self, linked: bool = False) -> str:
        """The same for a summary: one sentence, without what a reader can look up."""
        return self.guarantee(linked)

    @abstractmethod
    def levels(self, classes: Classes) -> Floats:
        """The level of each class."""

    def reached(self, classes: Classes) -> float:
        """The level of the whole table: that of its worst class."""
        levels = self.levels(classes)
        return float(levels.min() if self.higher_is_safer else levels.max())

    def holds(self, level: float) -> bool:
        """Whether a level is enough; differences within rounding do not count."""
        return bool(self._enough(np.float64(level)))

    def satisfied(self, classes: Classes) -> Bools:
        """Which classes satisfy the model, bool[classes].

        `classes` may be any classes of a table, not only all of them: what a model needs to know
        of the whole table is in the totals of the histograms.
        """
        return np.asarray(self._enough(self.levels(classes)), np.bool_)

    def _enough(self, levels: Any) -> Any:
        slack = TOLERANCE * max(1.0, abs(self.required))
        if self.strict:  # a level that is equal within rounding counts as equal: not enough
            slack = -TOLERANCE * abs(self.required)
        if self.higher_is_safer:
            return levels >= self.required - slack
        return levels <= self.required + slack

    @property
    def about(self) -> str | None:
        """The sensitive column that the model is about, if it is about one."""
        return None

    @property
    def key(self) -> str:
        """The name under which levels are reported."""
        return self.name if self.about is None else f"{self.name}[{self.about}]"

    def check(self, classes: Classes) -> Check:
        """Measure the requirement."""
        reached = self.reached(classes)
        options = {key: value for key, value in self.options().items() if key != "column"}
        return Check(
            self.name,
            self.about,
            self.required,
            reached,
            self.holds(reached),
            self.bound,
            options,
            tuple(name for name in options if name != self._level_option),
        )

    @property
    def _level_option(self) -> str:
        """The required level: the option that the model names, or the first with its value."""
        options = self.options()
        numbers = [name for name, value in options.items() if value == self.required]
        return self.level_option or next(iter(numbers), "")

    def out_of_reach(self, best: float) -> str:
        """The error message if even the whole table as one class does not satisfy the model."""
        what = f"with {digits(self.required)} cannot be reached: even the whole table as one class"
        return f"{self.key} {what} {self._gets(best)}; {self._advice(best)}"

    def _gets(self, best: float) -> str:
        """How close the best possible level comes, as the end of a sentence."""
        if not isfinite(best):
            return "does not get there"
        if self.higher_is_safer:
            return f"reaches only {digits(best)}"
        return f"does not get below {digits(best)}"

    def _advice(self, best: float) -> str:
        """What to ask for instead: the best possible level, rounded to the safe side."""
        if not isfinite(best):
            return "no number is enough; choose another model"
        nearest = self.nearest(best)
        if nearest is None or (self._level_option and self._asking(nearest) is None):
            return "that guarantees nothing; add people, or choose another model"
        return f"ask for {digits(nearest)}, or for another model"

    def nearest(self, best: float) -> float | None:
        """The best level possible, rounded to the safe side; None: it guarantees nothing."""
        if not isfinite(best):
            return None
        if isinstance(getattr(self, self._level_option or "", None), int):
            whole = floor(best + TOLERANCE) if self.higher_is_safer else ceil(best - TOLERANCE)
            return None if self.higher_is_safer and whole <= 1 else float(whole)
        step = 10.0 ** (floor(log10(best)) - 3) if best > 0 else 1e-4
        steps = floor(best / step) if self.higher_is_safer else ceil(best / step) + self.strict
        nearest = float(f"{steps * step:g}")
        return None if self.higher_is_safer and nearest <= 1 else nearest

    def ways_out(self, best: float) -> tuple[WayOut, ...]:
        """What resolves that the model cannot be reached: the nearest level, or to remove it."""
        removed = WayOut("remove", self.key)
        nearest, option = self.nearest(best), self._level_option
        if nearest is None or not option:
            return (removed,)
        value = self._asking(nearest)
        return (removed,) if value is None else (WayOut("set", self.key, {option: value}), removed)

    def _asking(self, level: float) -> Any:
        """A level as its option has it; None if the option cannot have it."""
        option = self._level_option
        assert option
        own = type(getattr(self, option))
        value = own(level) if level.is_integer() else level
        try:
            type(self)(**{**self._fields(), option: value})
        except BadPlan:
            return None
        return value

    def _fields(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in type(self).model_fields}


def min_class_size(models: Iterable[Model]) -> int:
    """How many people every class has, provably, if all these models are satisfied."""
    return max((model.min_people for model in models), default=1)


def min_factor(models: Iterable[Model]) -> int:
    """The k for which every release without classes has a k-factor, if these models hold."""
    return max((model.min_factor for model in models), default=1)
