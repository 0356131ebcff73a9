"""Applied: what was suppressed when the recoding of another table was applied."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal.base.errors import NotHeld, preview
from shoal.base.wording import many

MUCH = 0.1  # share of suppressed records from which on the user is warned


@dataclass(frozen=True)
class Applied:
    """What was suppressed when the recoding of another table was applied to this one."""

    rows: int  # records of this table
    unknown: dict[str, int]  # records with a value that the hierarchy lacks, by column
    unknown_rows: int  # records with such a value, and other records of the same person
    no_class: int  # records that no published class covers
    broken: dict[str, int]  # records whose last class would violate a requirement, by requirement
    moved: int  # records in a more general class than in the recoding, for the same reason
    classes: int  # classes that are not published, for the same reason
    dropped: list[str]  # columns that the recoding does not know
    most_left_out: float | None  # share of the records that may be suppressed; None: any
    of_table: frozenset[str] = frozenset()  # requirements about the whole table
    stricter: str = "a larger k"  # with what a recoding would suppress less

    @property
    def left_out(self) -> int:
        """Records that are not published."""
        return self.unknown_rows + self.no_class + sum(self.broken.values())

    @property
    def much(self) -> bool:
        """Whether so many records are suppressed that the rest may be misleading."""
        return self.left_out > MUCH * self.rows

    def check(self) -> None:
        """Raise an error if more records are suppressed than allowed."""
        most = self.most_left_out
        if most is None or self.left_out <= most * self.rows * (1 + 1e-9):
            return
        raise NotHeld(
            f"{self.left_out:,} of {_rows(self.rows)} ({100 * self.left_out / self.rows:.3g} %) "
            f"would be suppressed, and at most {100 * most:.3g} % may be: {self.why()}. "
            f"{self.advice}"
        )

    @property
    def advice(self) -> str:
        """How fewer records would be suppressed."""
        return (
            f"Apply the recoding to more records at once, make one with {self.stricter} or from a "
            "table more like this one, or anonymize this table by itself"
        )

    def why(self) -> str:
        """How many records are not published, by reason."""
        why = {"with unknown values": self.unknown_rows, "that no class covers": self.no_class}
        why |= {self._violating(key): rows for key, rows in self.broken.items()}
        return ", ".join(f"{_rows(rows)} {words}" for words, rows in why.items() if rows)

    def as_dict(self) -> dict[str, Any]:
        """All numbers by the names of the JSON file."""
        words = ("of_table", "stricter")
        numbers = {key: value for key, value in asdict(self).items() if key not in words}
        return numbers | {"left_out": self.left_out}

    def notes(self) -> list[str]:
        """What was suppressed or dropped, and why."""
        notes = ["the records are generalized by the recoding of another table"]
        if self.dropped:
            notes.append(
                f"dropped: the columns {preview(self.dropped)}, which the recoding does not have"
            )
        if self.unknown:
            where = ", ".join(f"{name!r} in {_rows(n)}" for name, n in self.unknown.items())
            notes.append(
                f"suppressed: {_rows(self.unknown_rows)} with values that a hierarchy lacks "
                f"({where}); the losses do not count them"
            )
        if self.no_class:
            notes.append(f"suppressed: {_rows(self.no_class)} that no class of the recoding covers")
        for model, rows in self.broken.items():
            notes.append(f"suppressed: {_rows(rows)} {self._violating(model)}")
        if self.moved:
            notes.append(
                f"generalized further than in the recoding: {_rows(self.moved)}, as the table "
                "would otherwise violate a requirement"
            )
        return notes

    def _violating(self, key: str) -> str:
        """Which records were suppressed for a requirement."""
        if key in self.of_table:
            return f"with which this table would exceed {key}"
        return f"whose class would violate {key} in this table"


def _rows(number: int) -> str:
    return many(number, "record")
