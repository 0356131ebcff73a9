"""How wide the published values of each quasi-identifier are, and how often."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf, log10

import numpy as np

from shoal.base.wording import many, number, short
from shoal.hierarchies.base import Dates, FreeRanges, FreeSets, Given, Hierarchy, Prefixes, Ranges
from shoal.hierarchies.calendar import CalendarStep
from shoal.hierarchies.free_values import closed_range, elements_of
from shoal.hierarchies.values import ROOT, number_of, plain, range_of, text
from shoal.table.encode import Column
from shoal.table.published_table import Published

LINES = 6  # widths that are told of a column, at most
HELD_BACK, EMPTY, AS_IT_WAS, OTHERS = "held back", "empty", "as it was", "other widths"

Width = tuple[float, str]  # its place from narrow to wide, and its words


@dataclass(frozen=True)
class WidthFact:
    """One quasi-identifier: how many rows are published at which width, narrow ones first."""

    column: str
    rows: list[tuple[str, int]]


def widths(columns: Mapping[str, Column], seen: Published) -> list[WidthFact]:
    """How wide each quasi-identifier is published, by what stands in the release."""
    facts = []
    for j, name in enumerate(seen.names):
        hierarchy = columns[name].hierarchy
        rows = dict.fromkeys(_steps(hierarchy), 0)
        often = np.bincount(seen.codes[:, j] + 1, minlength=len(seen.values[j]) + 1)
        for value, times in zip([None, *seen.values[j]], often.tolist(), strict=True):
            if times:
                width = (inf, EMPTY) if value is None else _width(hierarchy, text(value))
                rows[width] = rows.get(width, 0) + times
        facts.append(WidthFact(name, _few(_named(rows, hierarchy, seen.values[j]))))
    return facts


def _steps(hierarchy: Hierarchy | None) -> list[Width]:
    """The widths that a hierarchy names, whether or not they occur."""
    ends: list[Width] = [(-inf, _exact(hierarchy)), (inf, HELD_BACK)]
    setting = None if hierarchy is None else hierarchy.setting()
    match hierarchy, setting:
        case Ranges(), {"ranges": list(steps)}:
            ends += [_range(float(step)) for step in steps]
        case Prefixes(), {"prefixes": list(kept)}:
            ends += [_prefix(length) for length in kept]
        case Dates(), {"dates": list(steps)}:
            ends += [_calendar(CalendarStep.of(step)) for step in steps]
    return ends


def _exact(hierarchy: Hierarchy | None) -> str:
    match hierarchy:
        case Ranges() | FreeRanges():
            return "the exact number"
        case Prefixes():
            return "the whole code"
        case Dates():
            return "the exact date"
    return AS_IT_WAS


def _width(hierarchy: Hierarchy | None, label: str) -> Width:
    """How wide a published value is."""
    exact = (-inf, _exact(hierarchy))
    if isinstance(hierarchy, Given):
        return _level(hierarchy, label)
    if label == ROOT:
        return inf, HELD_BACK
    match hierarchy:
        case Ranges():
            span = range_of(label)
            return (
                exact
                if number_of(label) is not None or span is None
                else _range(float(span[1] - span[0]))
            )
        case Prefixes():
            kept = label.rstrip(ROOT)
            return exact if kept == label else _prefix(len(kept))
        case Dates():
            return _date(label, exact)
        case FreeRanges():
            ends = closed_range(label)
            return exact if ends is None else _up_to(float(ends[1] - ends[0]), "a range of")
        case FreeSets():
            named = elements_of(label)
            return _up_to(len(named), "a set of") if named else exact
    return exact


def _up_to(wide: float, what: str) -> Width:
    """A width among many, rounded up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(wide)) if wide > 0 else 1.0
    step = next(times * power for times in (1, 2, 5, 10) if wide <= times * power * (1 + 1e-12))
    return step, f"{what} up to {number(step)}"


def _range(wide: float) -> Width:
    return wide, f"a range of {number(wide)}"


def _prefix(kept: int) -> Width:
    return -kept, f"the first {many(kept, 'character')}"


def _calendar(step: CalendarStep) -> Width:
    return step.months * 31 + step.days + 1, step.name


def _date(label: str, exact: Width) -> Width:
    """A calendar step by the way in which its names are written."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d \d\dh", label):
        return _calendar(CalendarStep.of("hour"))
    if label.startswith("week of "):
        return _calendar(CalendarStep.of("week"))
    if re.fullmatch(r"\d{4}-\d\d", label):
        return _calendar(CalendarStep.of("month"))
    if re.fullmatch(r"\d{4}-Q\d", label):
        return _calendar(CalendarStep.of("quarter"))
    if re.fullmatch(r"\d{4}", label):
        return _calendar(CalendarStep.of("year"))
    if years := re.fullmatch(r"(\d{4}) to (\d{4})", label):
        long = int(years[2]) - int(years[1]) + 1
        name = {10: "decade", 100: "century"}.get(long, f"{long} years")
        return _calendar(CalendarStep.of(name))
    return exact


def _level(hierarchy: Given, label: str) -> Width:
    """The level of a value in a tree that the plan gives."""
    tree = hierarchy.tree()
    node = tree.node(label)
    if node < 0:
        node = next((i for i, one in enumerate(tree.labels) if plain(str(one)) == plain(label)), -1)
    if node == 0:
        return inf, HELD_BACK
    level = 0 if node < 0 else int(tree.level[node])
    return (-inf, AS_IT_WAS) if level == 0 else (level, "")


def _named(
    rows: dict[Width, int], hierarchy: Hierarchy | None, values: Sequence[object]
) -> list[tuple[str, int]]:
    """The widths in order; a level of a tree is named by a published value that is there."""
    examples: dict[float, str] = {}
    if isinstance(hierarchy, Given):
        for value in values:
            place, words = _width(hierarchy, text(value))
            if not words:
                known = examples.get(place)
                examples[place] = min(known, text(value)) if known else text(value)
    ordered = sorted(rows.items(), key=lambda item: (item[0][0], item[0][1] == EMPTY))
    return [
        (words or f"level {number(place)}, such as “{short(examples[place], 28)}”", count)
        for (place, words), count in ordered
    ]


def _few(rows: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """As many lines as can be read: the ends stay, then those with most rows."""
    ends = {rows[0][0], HELD_BACK, EMPTY}
    if len(rows) > LINES:
        rows = [line for line in rows if line[1] or line[0] in ends]
    if len(rows) <= LINES:
        return rows
    between = sorted((line for line in rows if line[0] not in ends), key=lambda line: -line[1])
    room = LINES - 1 - sum(line[0] in ends for line in rows)
    kept, rest = between[:room], between[room:]
    shown = [line for line in rows if line in kept or line[0] in ends]
    at = next(i for i, line in enumerate(shown) if line[0] == HELD_BACK)
    return [*shown[:at], (OTHERS, sum(count for _, count in rest)), *shown[at:]]
