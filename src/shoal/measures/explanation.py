"""Explanations of a row, of a class and of a whole table, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from shoal.base.progress import Progress, silent
from shoal.measures.breakdowns.attacker_view import AttackerView
from shoal.models import finite
from shoal.table.encode import Table

ROUNDING = 1e-9  # losses that differ by no more than this are equal


@dataclass(frozen=True)
class Reason:
    """The effect of one requirement on the whole table."""

    model: str
    column: str | None
    rows: int | None  # records whose generalization it forced; None: not known
    percent: float | None  # the same in percent of all records
    loss: float  # percent lost with all requirements
    loss_without: float | None  # and without this one

    @property
    def key(self) -> str:
        """The requirement, by its key."""
        return _key(self.model, self.column)

    @property
    def by_search(self) -> bool:
        """Whether more is lost without the requirement, which is an effect of the search.

        The algorithms are greedy. Fewer requirements may lead them to a worse result, although
        the release at hand would still be allowed.
        """
        return self.loss_without is not None and worse(self.loss_without, self.loss)

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return asdict(self) | {"by_search": self.by_search}


@dataclass(frozen=True)
class Without:
    """The effect on one class of dropping one requirement."""

    key: str  # the requirement
    rows: int  # records of the class that would lose less
    loss: float  # their average loss in percent


@dataclass(frozen=True)
class ClassReason:
    """Which requirements forced the generalization of a class; shows published values only."""

    published: dict[str, str | None]  # None is a missing value
    rows: int
    loss: float  # percent, average over its records
    forced: tuple[Without, ...]  # requirements without which some of its records would lose less
    complete: bool  # whether the table could be recoded without each requirement


@dataclass(frozen=True)
class Judged:
    """The effect of one requirement on one row."""

    model: str
    column: str | None
    required: float
    reached: float | None  # by the row's class, or by its matches; None: not known
    margin: float | None  # by how much more than required; below 0 if the row is suppressed
    forced: bool | None  # None: the algorithm needs this requirement
    without: dict[str, str | None] | None  # what would be published; None: suppressed or not known
    loss_without: float | None  # percent
    by_search: bool = False  # whether the whole table loses more without it
    of_table: bool = False  # whether `reached` is the level of the whole table
    bound: str = "at least"  # or "at most": how the level relates to what is required

    @property
    def key(self) -> str:
        """The requirement, by its key."""
        return _key(self.model, self.column)

    def lines(self, left_out: bool) -> list[str]:
        """The effect in words."""
        level = "is not known" if self.reached is None else f"reaches {self.reached:g}"
        what = "its class"
        if self.of_table:
            what = "with it the table" if left_out else "the table"
        lines = [f"  {self.key} requires {self.bound} {self.required:g}, {what} {level}"]
        if self.forced is None:
            return [*lines, "    the algorithm needs this requirement"]
        if self.without is None:
            still = "still " if left_out else ""
            return [*lines, f"    without it the row would {still}be suppressed"]
        word = "forced the generalization" if self.forced else "did not force it"
        vector = _vector(self.without)
        lines.append(f"    {word}: {self.loss_without:.1f} % lost without it: {vector}")
        if self.forced and self.by_search:
            lines.append("    but the whole table loses more without it: an effect of the search")
        return lines


@dataclass(frozen=True)
class Explanation:
    """Why a row is generalized or suppressed; for the data manager, not for publication."""

    row: int
    published: dict[str, str | None]  # None is a missing value; empty: the row is suppressed
    loss: float  # percent of the largest possible loss of the row
    models: list[Judged]
    left_out: bool = False
    failed: tuple[str, ...] = ()  # requirements that the class of a suppressed row would violate
    people: int | None = None  # people of that class; None: not known, or the row is published
    attacker: AttackerView | None = None  # None: the row is suppressed, or there are no classes

    @property
    def forced_by(self) -> list[str]:
        """The requirements without which the row would have lost less."""
        return [one.model for one in self.models if one.forced]

    @property
    def together(self) -> bool:
        """Whether the row is generalized and no single requirement forced that."""
        known = all(one.forced is not None for one in self.models)
        return known and not self.forced_by and self.loss > ROUNDING

    def as_dict(self) -> dict[str, Any]:
        """By the names of the JSON file."""
        view = None if self.attacker is None else self.attacker.as_dict()
        found = asdict(self) | {"together": self.together, "attacker": view}
        for one in found["models"]:
            one |= {key: finite(one[key]) for key in ("reached", "margin") if one[key] is not None}
        return found

    def __str__(self) -> str:
        if self.left_out:
            lines = [f"Row {self.row} is suppressed: nothing of it is published", *self._why()]
        else:
            lines = [f"Row {self.row} loses {self.loss:.1f} %: {_vector(self.published)}"]
        for one in self.models:
            lines += one.lines(self.left_out)
        if self.together:
            lines.append(
                "  no single requirement forced the generalization; together they did, and "
                "dropping any one of them does not help"
            )
        elif not self.left_out and self.loss <= ROUNDING:
            lines.append("  it loses nothing: no requirement forced a generalization")
        if self.attacker is not None:
            lines += self.attacker.lines()
        return "\n".join(lines)

    def _why(self) -> list[str]:
        """Why a row is suppressed."""
        if self.people is None:
            return ["  the class that it would have been in is not known for this algorithm"]
        if self.people == 0:
            return ["  its own values are more general than at_most allows"]
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        if not self.failed:
            return [
                f"  its class has {people} and would satisfy every requirement by itself; it "
                "failed while other classes, suppressed later, still counted"
            ]
        of_table = {one.key for one in self.models if one.of_table}
        own = [key for key in self.failed if key not in of_table]
        whole = [key for key in self.failed if key in of_table]
        lines = [f"  its class has {people} and would violate {' and '.join(own)}"] if own else []
        if whole:
            who = "it" if own else f"its class, which has {people},"
            lines.append(f"  with {who} the table would exceed {' and '.join(whole)}")
        return lines


def worse(one: float, other: float) -> bool:
    """Whether one loss is higher than another by more than rounding."""
    return one > other + ROUNDING * max(1.0, other)


def _key(model: str, column: str | None) -> str:
    return model if column is None else f"{model}[{column}]"


def _vector(values: dict[str, str | None]) -> str:
    return ", ".join(f"{name} = {'missing' if v is None else v}" for name, v in values.items())


class Explains(Protocol):
    """Explains a release; the flow provides it, reports use it."""

    @property
    def table(self) -> Table:
        """The original."""

    @property
    def seconds(self) -> float:
        """Duration of the recoding."""

    @property
    def known(self) -> bool:
        """Whether the table was recoded without each requirement already."""

    @property
    def cheap(self) -> bool:
        """Whether it is fast enough for a report to explain by default."""

    def row(self, row: int, progress: Progress = silent) -> Explanation:
        """Explain a row of the original table; the first is 0."""

    def reasons(self, progress: Progress = silent) -> list[Reason]:
        """The effect of each requirement on the whole table."""

    def classes(self, most: int = 10, progress: Progress = silent) -> list[ClassReason]:
        """The most general classes, and which requirements forced that."""
