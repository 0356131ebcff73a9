"""Lines: what the page shows of each column, with the plan and the ranking of the moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from shoal.hierarchies.base import Hierarchy
from shoal.plan import Plan
from shoal.studio.columns.changes import CODED, CODING
from shoal.studio.tasks._columns import ColumnView
from shoal.studio.tasks.rank import Ranked, Singled
from shoal.table.roles import Column


@dataclass(frozen=True)
class Line:
    """One column of the table."""

    place: int
    view: ColumnView
    column: Column
    version: str  # changes with the settings of the column: a form of an old page is noticed
    singled: Singled | None
    follows: tuple[tuple[str, bool], ...] = ()  # from which columns; whether both ways
    gives: tuple[str, ...] = ()  # columns that follow from it
    reveals: tuple[str, ...] = ()  # quasi-identifiers that it may give back
    accepted: bool = False
    is_open: bool = False
    mistake: str = ""

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.view.name

    @property
    def role(self) -> str:
        """The role in the plan."""
        return self.column.role

    @property
    def hierarchy(self) -> str:
        """How it is generalized, in words; "": it is only suppressed."""
        return "" if self.column.hierarchy is None else self.column.hierarchy.describe()

    @property
    def width_unit(self) -> str:
        """What a width in `at_most` counts; "": it cannot be limited so."""
        return _kind(self.column).width_unit()

    @property
    def has_levels(self) -> bool:
        """Whether steps of its hierarchy can be limited."""
        kind = _kind(self.column)
        return not kind.is_free and kind.name != "flat"

    @property
    def at_most(self) -> tuple[str, Any]:
        """The limit as the form has it: its word, and its number."""
        given = self.column.at_most
        if given is None:
            return "", ""
        setting = given.setting()
        if isinstance(setting, str):
            return "exact", ""
        ((word, value),) = setting.items()
        return word, value

    @property
    def has_numbers(self) -> bool:
        """Whether it can be coded as numbers, or is."""
        set_already = self.column.codes_numbers or self.column.microaggregate is not None
        return self.role in CODED and (self.view.kind == "numbers" or set_already)

    @property
    def coding(self) -> dict[str, str]:
        """Where its numbers are cut off and how they are rounded, as the form has it."""
        given = {word: getattr(self.column, word) for word in CODING}
        return {word: "" if one is None else f"{one:.15g}" for word, one in given.items()}

    @property
    def own_words(self) -> tuple[str, ...]:
        """Its values that mean missing, as the plan has them."""
        if self.column.missing_values is not None:
            return tuple(self.column.missing_values)
        return ()

    @property
    def values(self) -> list[tuple[str, str, int]]:
        """The values of the picture with their labels and their records."""
        named = dict(self.view.labels)
        spread = self.view.spread
        pairs = zip(spread.labels, spread.counts, strict=True)
        return [(value, named.get(value, ""), count) for value, count in pairs]


def lines_of(
    plan: Plan,
    views: Sequence[ColumnView],
    ranked: Ranked | None,
    opened: int | None = None,
    mistakes: dict[int, str] | None = None,
) -> list[Line]:
    """All lines of the page, in the order of the table."""
    return [
        line_of(plan, views, place, ranked, place == opened, (mistakes or {}).get(place, ""))
        for place in range(len(views))
    ]


def line_of(
    plan: Plan,
    views: Sequence[ColumnView],
    place: int,
    ranked: Ranked | None,
    is_open: bool = False,
    mistake: str = "",
) -> Line:
    """The line of one column."""
    view = views[place]
    column = plan.columns[view.name]
    follows = tuple(ranked.follows.get(view.name, ())) if ranked else ()
    gives = [
        other for other, found in ranked.follows.items() if any(of == view.name for of, _ in found)
    ] if ranked else []  # fmt: skip
    both = [of for of, both in follows if both]
    quasi = [*gives, *both]
    return Line(
        place,
        view,
        column,
        version_of(view.name, column, view.name in plan.accept),
        ranked.columns.get(view.name) if ranked else None,
        follows,
        tuple(gives),
        tuple(dict.fromkeys(n for n in _linked(follows, quasi) if _is_quasi(plan, n))),
        view.name in plan.accept,
        is_open,
        mistake,
    )


def version_of(name: str, column: Column, accepted: bool) -> str:
    """What changes with every change of a column."""
    said = repr((name, column.setting_in(), accepted))
    return blake2b(said.encode("utf-8", "replace"), digest_size=6).hexdigest()


def _linked(follows: Sequence[tuple[str, bool]], others: Sequence[str]) -> list[str]:
    return [*(of for of, _ in follows), *others]


def _is_quasi(plan: Plan, name: str) -> bool:
    return name in plan.columns and plan.columns[name].role == "quasi"


def _kind(column: Column) -> Hierarchy:
    return Hierarchy.flat() if column.hierarchy is None else column.hierarchy
