"""Hierarchies for each kind of values."""

from __future__ import annotations

import re
from datetime import time
from math import floor, inf, log10
from typing import Any

import numpy as np

from shoal.base.wording import many
from shoal.flow.draft.facts import Facts
from shoal.flow.draft.kinds import Kind
from shoal.flow.draft.places import COUNTRIES, STATES, by_region
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.calendar import CalendarStep
from shoal.hierarchies.values import text

# Calendar steps, by the most days between the first and the last date.
STEPS = [
    (92, ["week"]),
    (3 * 366, ["month", "quarter", "year"]),
    (inf, ["month", "year", "5 years", "decade"]),
]
HINT = "; a hierarchy that groups them would lose less (draft --levels)"
LEAST = 3  # values from which on joining some of them keeps information


def propose_hierarchy(facts: Facts, kind: Kind) -> tuple[Hierarchy | None, str]:
    """How the values of a quasi-identifier may be generalized, and what they are."""
    match kind:
        case "dates":
            return _calendar(facts), many(facts.distinct, "date")
        case "spelled dates":
            return None, "birth dates, not written as 2024-05-17"
        case "postcodes" | "long codes" | "ICD codes":
            return Hierarchy.prefixes(), f"{many(facts.distinct, 'code')}, shortened from the right"
        case "community codes":
            return _communities(facts)
        case "states":
            return (
                Hierarchy.from_tree(by_region(facts.values, STATES)),
                f"{many(facts.distinct, 'state')}, in the regions of the US census",
            )
        case "countries":
            return (
                Hierarchy.from_tree(by_region(facts.values, COUNTRIES)),
                f"{_countries(facts.distinct)}, in continents",
            )
        case "ages" | "numbers":
            return _ranges(facts, kind)
        case "bands":
            return (
                Hierarchy.from_tree(_joined_bands(facts)),
                f"{many(facts.distinct, 'band')}, neighbours joined",
            )
        case "codes":
            return None, many(facts.distinct, "code") + _hint(facts)
        case _:
            return None, many(facts.distinct, "value") + _hint(facts)


def _communities(facts: Facts) -> tuple[Hierarchy, str]:
    """Communities by district and by state; as numbers, these are ranges."""
    note = f"{many(facts.distinct, 'community code')}, by district and by state"
    if facts.whole and any(len(one) < 8 for one in facts.texts):  # no leading zeros
        return Hierarchy.ranges([1_000, 1_000_000]), note
    return Hierarchy.prefixes([5, 2]), note


def _calendar(facts: Facts) -> Hierarchy | None:
    """Calendar steps that fit the span of the dates; days if they have times."""
    moments = facts.moments
    assert moments is not None
    first, last = min(moments), max(moments)
    steps = next(steps for most, steps in STEPS if (last - first).days <= most)
    if any(moment.time() != time() for moment in moments):
        steps = ["day", *steps]
    # A step that contains all dates says no more than a suppressed value.
    apart = [CalendarStep.of(step).around for step in steps]
    kept = [step for step, of in zip(steps, apart, strict=True) if of(first) != of(last)]
    return Hierarchy.dates(kept) if kept else None


def _countries(number: int) -> str:
    return f"{number:,} countries"


def _hint(facts: Facts) -> str:
    if facts.distinct <= LEAST:
        return ""
    return HINT


def _joined_bands(facts: Facts) -> dict[str, Any]:
    """A tree over bands in which neighbours are joined, by two and again by two."""
    nodes: list[tuple[str, str, Any]] = [  # first band, last band, what is inside
        (band, band, None) for band in sorted(map(text, facts.values), key=_lower_end)
    ]
    while len(nodes) > LEAST:
        pairs = [nodes[i : i + 2] for i in range(0, len(nodes), 2)]
        nodes = [
            (pair[0][0], pair[-1][1], _inside(pair)) if len(pair) > 1 else pair[0] for pair in pairs
        ]
    return {"*": _inside(nodes)}


def _inside(nodes: list[tuple[str, str, Any]]) -> dict[str, Any]:
    return {first if below is None else f"{first} … {last}": below for first, last, below in nodes}


def _lower_end(band: str) -> tuple[int, bool]:
    """The order of bands: <5 before 5-9, and 65+ after 60-64."""
    below = band.lstrip().startswith(("<", "≤"))
    return int(re.findall("[0-9]+", band)[0]), not below


def _ranges(facts: Facts, kind: Kind) -> tuple[Hierarchy | None, str]:
    """Ranges of numbers; ages in the usual ones, others by the span of most of the values."""
    numbers, whole = facts.numbers, facts.whole
    assert numbers is not None
    low, high = np.quantile(numbers, [0.0, 0.9])
    least, most = float(numbers.min()), float(numbers.max())
    widths: list[Any] = [5, 10, 20] if kind == "ages" else _widths(float(low), float(high), whole)
    # A range of all numbers says no more than a suppressed value.
    span = most - least + whole
    widths = [width for width in widths if width < span]
    if facts.distinct <= LEAST or not widths:
        return None, many(facts.distinct, "number")
    # Months and weekdays start at 1; a range [0, 2) would contain only one of them.
    start = 1 if whole and least == 1 and most <= 31 else None
    return Hierarchy.ranges(widths, start), f"{many(facts.distinct, 'number')}, in ranges"


def _widths(low: float, high: float, whole: bool) -> list[float]:
    """Three widths that double, the first about a fifteenth of the span: 5, 10, 20 for ages."""
    span = high - low
    if span <= 0:
        return []
    power = 10.0 ** floor(log10(span / 15))
    width = next(step * power for step in (1, 2, 5, 10) if step * power >= span / 15)
    if whole:
        width = max(2.0, width)
    widths = [width, 2 * width, 4 * width]
    return [int(w) if float(w).is_integer() else float(f"{w:.12g}") for w in widths]
