"""What an explanation says: of a row, of a class, and of a whole table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from shoal.base.progress import Progress, silent
from shoal.models import finite
from shoal.table.encode import Table

ROUNDING = 1e-9  # what loses less by no more than this loses the same


@dataclass(frozen=True)
class Reason:
    """What one promise did to a whole table."""

    model: str
    column: str | None
    rows: int | None  # rows that it forced; None: not known
    percent: float | None  # the same in percent of all rows
    loss: float  # percent lost with all promises
    loss_without: float | None  # and without this one

    @property
    def key(self) -> str:
        """The promise, as people ask for it."""
        return _key(self.model, self.column)

    @property
    def by_search(self) -> bool:
        """Whether more is lost without the promise: that is the search's doing, not its.

        The algorithms go step by step, each step the best at its time. Fewer promises may lead
        them another way, and to a worse end, while the release at hand would still be allowed.
        """
        return self.loss_without is not None and worse(self.loss_without, self.loss)

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return asdict(self) | {"by_search": self.by_search}


@dataclass(frozen=True)
class Without:
    """What rows of one class would be without one promise."""

    key: str  # the promise
    rows: int  # of the class, that would lose less
    loss: float  # percent that these would lose, on average


@dataclass(frozen=True)
class ClassReason:
    """Which promises made a class as general as it is; all of it may be read in the release."""

    published: dict[str, str | None]  # None is a missing value
    rows: int
    loss: float  # percent, on average over its rows
    forced: tuple[Without, ...]  # promises without which some of its rows would lose less
    complete: bool  # whether every promise could be left out


@dataclass(frozen=True)
class Judged:
    """What one promise did to one row."""

    model: str
    column: str | None
    required: float
    reached: float | None  # by the row's class, or what could be its person's; None: not known
    margin: float | None  # by how much more than required; below 0 where the row is left out
    forced: bool | None  # None: the algorithm cannot do without this promise
    without: dict[str, str | None] | None  # what would be published; None: left out or not known
    loss_without: float | None  # percent
    by_search: bool = False  # whether the whole table loses more without it

    @property
    def key(self) -> str:
        """The promise, as people ask for it."""
        return _key(self.model, self.column)

    def lines(self, left_out: bool) -> list[str]:
        """What it did, in words."""
        level = "is not known" if self.reached is None else f"reaches {self.reached:g}"
        lines = [f"  {self.key} asks {self.required:g}, its class {level}"]
        if self.forced is None:
            return [*lines, "    the algorithm cannot do without it"]
        if self.without is None:
            still = "still " if left_out else ""
            return [*lines, f"    without it the row would {still}be left out"]
        word = "forced it" if self.forced else "did not force it"
        vector = _vector(self.without)
        lines.append(f"    {word}: {self.loss_without:.1f} % lost without it: {vector}")
        if self.forced and self.by_search:
            lines.append("    but the whole table loses more without it: an effect of the search")
        return lines


@dataclass(frozen=True)
class Explanation:
    """Why a row is published as it is, or not; for the data manager, not for publication."""

    row: int
    published: dict[str, str | None]  # None is a missing value; empty: the row is left out
    loss: float  # percent of what the row could lose
    models: list[Judged]
    left_out: bool = False
    failed: tuple[str, ...] = ()  # promises that the class of a row that is left out would break
    people: int | None = None  # people of that class; None: not known, or the row is published

    @property
    def forced_by(self) -> list[str]:
        """The promises without which the row would have lost less."""
        return [one.model for one in self.models if one.forced]

    @property
    def together(self) -> bool:
        """Whether the row is wider than it was and no promise alone made it so."""
        known = all(one.forced is not None for one in self.models)
        return known and not self.forced_by and self.loss > ROUNDING

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON can write it."""
        found = asdict(self) | {"together": self.together}
        for one in found["models"]:
            one |= {key: finite(one[key]) for key in ("reached", "margin") if one[key] is not None}
        return found

    def __str__(self) -> str:
        if self.left_out:
            lines = [f"Row {self.row} is left out: nothing of it is published", *self._why()]
        else:
            lines = [f"Row {self.row} loses {self.loss:.1f} %: {_vector(self.published)}"]
        for one in self.models:
            lines += one.lines(self.left_out)
        if self.together:
            lines.append(
                "  no promise alone forced it: together they did; leaving out any one of them "
                "does not help"
            )
        elif not self.left_out and self.loss <= ROUNDING:
            lines.append("  nothing is lost of it: no promise had to make it wider")
        return "\n".join(lines)

    def _why(self) -> list[str]:
        """Why a row is left out."""
        if self.people is None:
            return ["  which class it would have been in is not known for this algorithm"]
        crowd = "1 person" if self.people == 1 else f"{self.people:,} people"
        if not self.failed:
            return [
                f"  its class has {crowd} and would keep every promise by itself; it failed "
                "while other classes that were left out later still counted"
            ]
        return [f"  its class has {crowd} and would break {' and '.join(self.failed)}"]


def worse(one: float, other: float) -> bool:
    """Whether one loss is higher than another, not by rounding only."""
    return one > other + ROUNDING * max(1.0, other)


def _key(model: str, column: str | None) -> str:
    return model if column is None else f"{model}[{column}]"


def _vector(values: dict[str, str | None]) -> str:
    return ", ".join(f"{name} = {'missing' if v is None else v}" for name, v in values.items())


class Explains(Protocol):
    """What can say why a release is as it is; the flow makes it, reports ask it."""

    @property
    def table(self) -> Table:
        """The original."""

    @property
    def seconds(self) -> float:
        """That recoding took."""

    @property
    def known(self) -> bool:
        """Whether everything was recoded already, so that it costs nothing to ask."""

    @property
    def cheap(self) -> bool:
        """Whether it takes so little time that a report explains without being asked."""

    def row(self, row: int, progress: Progress = silent) -> Explanation:
        """Explain a row of the original table; the first is 0."""

    def reasons(self, progress: Progress = silent) -> list[Reason]:
        """What each promise did to the whole table."""

    def classes(self, most: int = 10, progress: Progress = silent) -> list[ClassReason]:
        """The most general classes, and what forced them."""
