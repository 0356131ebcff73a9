"""Privacy models: the level that a table reaches, and whether that is enough.

A model is one file in this room. It carries everything that other rooms say or ask about it: its
options, what it guarantees in a sentence, how many people a class needs, its loosest setting.
Internal: the catalog finds the models in this folder.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from math import ceil, floor, isfinite, log10
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import Field

from shoal.base.arrays import Bools, Floats, Longs
from shoal.base.errors import BadPlan, BadTable, WayOut, did_you_mean, preview
from shoal.base.notebook import HtmlRows
from shoal.base.settings import AtLeastTwo, Setting, Usual
from shoal.base.wording import digits, number, sentence
from shoal.table.alike import alike
from shoal.table.equivalence_classes import Classes
from shoal.table.sensitive import Histogram, Sensitive


@dataclass(frozen=True)
class Check:
    """One requirement, measured on the table that would be published."""

    model: str
    column: str | None
    required: float
    reached: float
    holds: bool
    direction: str = "at least"  # how a level that is enough relates to the required one
    options: Mapping[str, Any] = field(default_factory=dict)  # of the model, without its column
    besides: tuple[str, ...] = ()  # the options that are not the required level
    attacker: str | None = None  # for whom the level is worst, of several; None: there is only one

    @property
    def asked(self) -> str:
        """What is required, in words."""
        return f"{self.direction} {number(self.required)}"

    @property
    def key(self) -> str:
        """The model, its column, and the options besides the required level, as people read it.

        >>> both = {"share": 0.1, "threshold": 0.1}
        >>> Check("share-at-risk", None, 0.1, 0.1, True, "at most", both, ("threshold",)).key
        'share-at-risk (threshold = 0.1)'
        """
        more = {name: self.options[name] for name in self.besides}
        others = [f"{name} = {_shown(value)}" for name, value in more.items() if value is not None]
        column = "" if self.column is None else f" [{self.column}]"
        return f"{self.model}{column}" + (f" ({', '.join(others)})" if others else "")

    def as_dict(self) -> dict[str, Any]:
        """The check by the names of the JSON file."""
        found = {**asdict(self), "reached": finite(self.reached)}
        del found["besides"]  # for the screen
        if self.attacker is None:  # there is only one
            del found["attacker"]
        return found


def requirement_rows(checks: Iterable[Check]) -> HtmlRows:
    """Checks as a table for notebooks."""
    rows = [
        [one.key, one.asked, number(one.reached), "satisfied" if one.holds else "violated"]
        for one in checks
    ]
    return ["requirement", "required", "reached", ""], rows


def _shown(value: Any) -> str:
    """An option as people read it."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return number(value) if plain else str(value)


# Options that several models have.
ClassSize = Annotated[AtLeastTwo, Usual(5, 2, 100)]
DistinctValues = Annotated[AtLeastTwo, Usual(2, 2, 20)]

MANY = 2**62  # people, more than any table has; arrays of whole numbers can hold it
TOLERANCE = 1e-9  # so that two equally frequent values are 2-diverse


def finite(level: float) -> float | None:
    """A level as JSON can write it, which has no infinity: None if no number is enough."""
    return level if isfinite(level) else None


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
    # The option that is the required level; "": the model has only one number.
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
        """The option that is the required level: named by the model, or the only number."""
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


class TableModel(Model):
    """A requirement about the whole table, judged on all published classes together.

    Each person adds `risk`, which depends on the number of people in the person's class and never
    rises with it. The level is the mean over all published people; without a person column every
    record is a person. So merging classes never raises the level, and the whole table as one class
    has the lowest level possible. Suppressed people do not count.

    `levels` gives every class the level of the table: no class satisfies the model by itself.
    """

    higher_is_safer: ClassVar[bool] = False
    # Whether merging classes never raises the level; otherwise the mean of `risk` is an upper bound
    # on the level, and only for that mean it is known.
    falls_by_merging: ClassVar[bool] = True

    @abstractmethod
    def risk(self, people: Longs) -> Floats:
        """What a person adds to the mean in a class of so many people."""

    def level_of(self, people: Longs, classes: Longs | None = None) -> float:
        """The level of a table whose classes have so many people.

        With `classes`, so many classes have each of these different numbers of people, which rise.
        """
        many = 1 if classes is None else classes
        return float((many * self.total(people)).sum() / (many * people).sum())

    @property
    @abstractmethod
    def level_words(self) -> str:
        """What the level is, as a label below it."""

    @abstractmethod
    def meaning(self, level: float) -> str:
        """What a level of the table means, in a sentence."""

    @property
    @abstractmethod
    def sufficient_people(self) -> int:
        """The smallest class size that satisfies the model if all classes have at least it."""

    def total(self, people: Longs) -> Floats:
        """What classes of so many people add together before the mean is taken."""
        return people * self.risk(people)

    def reached(self, classes: Classes) -> float:
        """The mean risk over all people."""
        candidates, many = classes.people_by_candidates
        # By size, so that the sum does not depend on the order of the records.
        sizes, which = np.unique(candidates, return_inverse=True)
        counts = np.bincount(which, many)
        if not self.falls_by_merging:
            return self.level_of(sizes, np.ceil(counts / sizes).astype(np.int64))
        return float((counts * self.risk(sizes)).sum() / counts.sum())

    def levels(self, classes: Classes) -> Floats:
        """The level of the table, once per class."""
        return np.full(len(classes), self.reached(classes))

    def satisfied(self, classes: Classes) -> Bools:
        """All classes if the table satisfies the model; otherwise those that do not raise it.

        If the mean is too high, some class has a risk above it: merging or suppressing that class
        helps.
        """
        if self.holds(self.reached(classes)):
            return np.ones(len(classes), np.bool_)
        return self.holds_each(self.risk(classes.fewest_candidates))

    def holds_each(self, levels: Floats) -> Bools:
        """Which levels are enough."""
        return np.asarray(self._enough(levels), np.bool_)


class SensitiveModel(Model):
    """A requirement about one sensitive column.

    If the table has a person column, a class is judged twice: by its records, and by its people,
    each of whom counts once per distinct value. The worse level counts. Many records of one person
    do not hide anyone, and a value that everyone in the class has is disclosed, even if it is one
    among several.
    """

    # Whether the share of a value is that of the people who have it, or of all pairs of a person
    # and a value.
    of_people: ClassVar[bool] = False
    # Whether it compares how frequent a value is in a class and in the table. Counting two values
    # as one is then not on the safe side.
    compares_shares: ClassVar[bool] = False
    # Whether it depends on how frequent values are, and not only on which there are.
    by_share: ClassVar[bool] = True
    column: str = Field(description="the sensitive column")

    def levels(self, classes: Classes) -> Floats:
        """The level of each class."""
        histogram = self.histogram(classes)
        if self.compares_shares:
            _check_case(self.name, histogram.column)
        levels = self.levels_of(histogram, classes)
        person_values = classes.person_values.get(self.column)
        if person_values is None:
            return levels
        by_people = self.levels_of(person_values.histogram(self.of_people), classes)
        worse = np.minimum if self.higher_is_safer else np.maximum
        return np.asarray(worse(levels, by_people))

    @abstractmethod
    def levels_of(self, histogram: Histogram, classes: Classes) -> Floats:
        """The level of each class with these sensitive values."""

    @property
    def about(self) -> str:
        """The sensitive column that the model is about."""
        return self.column

    def where(self, linked: bool) -> str:
        """How a sentence about the sensitive values begins."""
        return "Among the records that could be a person's" if linked else "In every class"

    def histogram(self, classes: Classes) -> Histogram:
        """The column's values, class by class."""
        try:
            return classes.histograms[self.column]
        except KeyError:
            raise BadPlan(not_sensitive(self.name, self.column, classes)) from None


def _check_case(model: str, column: Sensitive) -> None:
    """Refuse values that differ in letter case only: they may or may not mean the same."""
    for ways in column.spellings:
        known = {alike(value, case=True): value for value in ways if value is not None}
        if len(known) > 1:
            raise BadTable(
                f"{model} compares how frequent values are, and column {column.name!r} has values "
                f"that differ only in letter case: {preview(known.values())}; write them in one "
                "way if they mean the same, or in clearly different ways if they do not"
            )


def not_sensitive(model: str, column: str, classes: Classes) -> str:
    """The error message for a model about a column that is not a sensitive column."""
    return (
        f"{model} is about the column {column!r}, which is not a sensitive column of the table; "
        f"give it the role sensitive{did_you_mean(column, list(classes.histograms))}"
    )


class LinkageModel(Model):
    """A requirement about the graph of original and release (Def. 4 and 6, Tassa 2012).

    It counts the `people` in the view of the graph that it names. There are no classes, so
    `min_people` stays 1.
    """

    linkage: ClassVar[bool] = True
    size_option: ClassVar[str | None] = "k"
    loosest: ClassVar[Mapping[str, Any]] = {"k": 2}
    view: ClassVar[str]
    k: ClassSize = Field(description="how many records or people must match")

    @property
    def required(self) -> float:
        """The number of matches that is required."""
        return float(self.k)

    def levels(self, classes: Classes) -> Floats:
        """The matches of each."""
        return classes.people.astype(np.float64)

    def reached(self, classes: Classes) -> float:
        """The fewest matches."""
        return int(classes.people.min())
