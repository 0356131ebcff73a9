"""Applied: what was left out of a table to which the recoding of another one was applied."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal.base.errors import NotHeld, preview

MUCH = 0.1  # share of left-out rows from which on somebody should think about it
ADVICE = (
    "Apply the recoding to more rows at once, make one with a larger k or of a table more like "
    "this, or make a release of this table by itself"
)


@dataclass(frozen=True)
class Applied:
    """What was left out of a table to which the recoding of another one was applied."""

    rows: int  # of the table to which it was applied
    unknown: dict[str, int]  # rows by column with a value that its hierarchy does not know
    unknown_rows: int  # rows with such a value, and other rows of the same person
    no_class: int  # rows that no published class covers
    broken: dict[str, int]  # rows by promise that the last class that covers them would break
    moved: int  # rows in a wider class than the recoding has for them, for the same reason
    classes: int  # classes that are not published, for the same reason
    dropped: list[str]  # columns that the recoding does not know
    most_left_out: float | None  # share of the rows that may be left out; None: any

    @property
    def left_out(self) -> int:
        """Rows that are not published."""
        return self.unknown_rows + self.no_class + sum(self.broken.values())

    @property
    def much(self) -> bool:
        """Whether so many rows are left out that what is left may say something else."""
        return self.left_out > MUCH * self.rows

    def check(self) -> None:
        """Complain if more is left out than is allowed."""
        most = self.most_left_out
        if most is None or self.left_out <= most * self.rows * (1 + 1e-9):
            return
        raise NotHeld(
            f"{self.left_out:,} of {_rows(self.rows)} ({100 * self.left_out / self.rows:.3g} %) "
            f"would be left out, and no more than {100 * most:.3g} % may be: {self.why()}. {ADVICE}"
        )

    def why(self) -> str:
        """How many rows are not published, and for what reason."""
        why = {"with unknown values": self.unknown_rows, "that no class covers": self.no_class}
        why |= {f"whose class would break {key}": rows for key, rows in self.broken.items()}
        return ", ".join(f"{_rows(rows)} {words}" for words, rows in why.items() if rows)

    def as_dict(self) -> dict[str, Any]:
        """All numbers by the names of the JSON file."""
        return asdict(self) | {"left_out": self.left_out}

    def notes(self) -> list[str]:
        """What was left out, and why."""
        notes = ["what is published of a row was settled by the recoding of another table"]
        if self.dropped:
            notes.append(f"left out: the columns {preview(self.dropped)}, which the recoding lacks")
        if self.unknown:
            where = ", ".join(f"{name!r} in {_rows(n)}" for name, n in self.unknown.items())
            notes.append(
                f"left out: {_rows(self.unknown_rows)} with values that a hierarchy does not know "
                f"({where}); they are in none of the losses"
            )
        if self.no_class:
            notes.append(f"left out: {_rows(self.no_class)} that no class of the recoding covers")
        for model, rows in self.broken.items():
            notes.append(f"left out: {_rows(rows)} whose class would break {model} in this table")
        if self.moved:
            notes.append(
                f"made wider than in the recoding: {_rows(self.moved)} whose class would break a "
                "promise in this table"
            )
        return notes


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"
