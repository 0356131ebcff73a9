"""How `[write]` shows a release in its file (docs/files.md), read back in plain Python."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

from benchmarks.campaign.tables import Column
from benchmarks.campaign.trees import STAR, FreeTree, Label, Tree, calendar_days, written

ENDS = ("ranges", "borders", "free_ranges", "dates")  # hierarchies whose values have ends
FORMULA = re.compile(r"'+[=+\-@\t\r\n].*", re.DOTALL)
NUMBER = re.compile(r"'*[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?%?")


def has_ends(column: Column) -> bool:
    return bool(column.hierarchy) and next(iter(column.hierarchy)) in ENDS


def escapes(write: dict, path: Path) -> bool:
    """Whether formulas are escaped in a file of this name."""
    if path.suffix == ".xlsx":
        return write.get("formulas") != "keep"
    return write.get("formulas") == "escape" and bool({".csv", ".tsv"} & {*path.suffixes})


def unescaped(cells: dict[str, list]) -> dict[str, list]:
    """Cells without the apostrophe in front of formulas."""
    return {_bare(name): [_bare(cell) for cell in column] for name, column in cells.items()}


def _bare(cell):
    if cell is None or NUMBER.fullmatch(cell) or not FORMULA.fullmatch(cell):
        return cell
    return cell[1:]


def with_labels(cells: dict[str, list], columns: Iterable[Column]) -> dict[str, list]:
    """The cells with labels in the places of bounds."""
    found: dict[str, list] = {}
    bounds = {column.name + "_low": column for column in columns}
    parts = {name + end for name in (c.name for c in bounds.values()) for end in ("_high", "_note")}
    for name, column in cells.items():
        if name in bounds:
            one = bounds[name]
            highs = cells[one.name + "_high"]
            notes = cells.get(one.name + "_note", [STAR] * len(column))
            found[one.name] = [
                _label(one, *ends) for ends in zip(column, highs, notes, strict=True)
            ]
        elif name not in parts:
            found[name] = column
    return found


def _label(column: Column, low: str | None, high: str | None, note: str | None) -> Label:
    if low is None and high is None:
        return note
    cut = (column.hierarchy or {}).get("borders")
    if low is None or high is None:
        assert cut is not None, "only one bound"
        if low is not None:
            return f">={low if _of_dates(column) else written(Fraction(low))}"
        assert high is not None
        return f"<{_day_after(high) if _of_dates(column) else written(Fraction(high))}"
    low, high = (end if _of_dates(column) else written(Fraction(end)) for end in (low, high))
    if low == high:  # as the column writes it
        return next((column.spoken[cell] for cell, one in column.meant.items() if one == low), low)
    if cut is not None:
        return f"[{low}, {_day_after(high) if _of_dates(column) else high})"
    if _of_dates(column):
        days = date.fromisoformat(low), date.fromisoformat(high)
        labels = [label for label in column.tree().parent if label and calendar_days(label) == days]
        return next(iter(labels), f"{low} to {high}")
    assert column.hierarchy is not None
    return f"[{low}, {high}{']' if 'free_ranges' in column.hierarchy else ')'}"


def _of_dates(column: Column) -> bool:
    cut = (column.hierarchy or {}).get("borders", [[0]])
    return "dates" in (column.hierarchy or {}) or isinstance(cut[0][0], str)


def _day_after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(1)).isoformat()


def may_be_middle(column: Column, tree: Tree, cell: str | None, value: Label) -> bool:
    """Whether a midpoint may stand for a value: it is that of a label that covers the value."""
    if cell is None:  # suppressed, or missing
        return True
    if _of_dates(column):
        return any(
            label is not None and (days := _days(label)) and _middle_day(*days) == cell
            for label in tree.chain(value)
        )
    middle = float(Fraction(cell))
    if isinstance(tree, FreeTree):
        if value not in tree.known:
            return False
        mine, numbers = Fraction(value), [Fraction(label) for label in tree.known]
        highs = {float(number) for number in numbers if number >= mine}
        lows = [number for number in numbers if number <= mine]
        return any(float(2 * Fraction(cell) - low) in highs for low in lows)
    return any(_middle_number(label) == middle for label in tree.chain(value))


def _days(label: str) -> tuple[date, date] | None:
    """The first and the last day of a label, a calendar step or a piece between borders."""
    piece = re.fullmatch(r"\[(\S+), (\S+)\)", label)
    if piece is None:
        return calendar_days(label)
    return date.fromisoformat(piece[1]), date.fromisoformat(piece[2]) - timedelta(1)


def _middle_day(first: date, last: date) -> str:
    return (first + timedelta((last - first).days // 2)).isoformat()


def _middle_number(label: Label) -> float | None:
    """The midpoint of a number or a range; None if it has none."""
    ends = (label or "").strip("[])").split(", ")
    try:
        return float((Fraction(ends[0]) + Fraction(ends[-1])) / 2)
    except ValueError:  # suppressed, or a word for missing
        return None
