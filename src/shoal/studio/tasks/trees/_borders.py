"""Borders for numbers or dates: where they could be cut at first, and a histogram to cut."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from math import floor, log10
from typing import Any

import numpy as np

from shoal.base.arrays import Floats
from shoal.flow.draft.facts import Facts

BARS = 60
SHARES = (0.2, 0.4, 0.6, 0.8)  # of the records below the first borders that are offered
LARGEST = 1e15


@dataclass(frozen=True)
class Histogram:
    """How often numbers or days occur, to cut them at borders."""

    low: float  # of dates their ordinal number
    high: float
    counts: tuple[int, ...]  # records of bars of one width
    step: float  # borders are moved by so much
    dates: bool


def places_of(facts: Facts) -> Floats | None:
    """The numbers, or the days, of the values of a column; None: it has others."""
    if not facts.distinct:
        return None
    if facts.numbers is not None:
        return facts.numbers if np.abs(facts.numbers).max() < LARGEST else None
    if facts.moments is not None:
        return np.array([one.toordinal() for one in facts.moments], np.float64)
    return None


def histogram_of(facts: Facts) -> Histogram | None:
    """The histogram of a column; None: it has neither numbers nor dates, or only one of them."""
    places = places_of(facts)
    if places is None or places.min() == places.max():
        return None
    dates = facts.numbers is None
    whole = dates or facts.whole
    low, high = float(places.min()), float(places.max()) + whole
    bars = int(high - low) if whole and high - low <= BARS else BARS
    counts, _ = np.histogram(places, bins=bars, range=(low, high), weights=facts.counts)
    return Histogram(low, high, tuple(map(int, counts)), _step(high - low, whole), dates)


def _step(span: float, whole: bool) -> float:
    """A round number, about a two-hundredth of the span; at least 1 for whole numbers."""
    step = 10.0 ** floor(log10(span / 100))
    return max(step, 1.0) if whole else step


def proposed_borders(facts: Facts) -> list[list[Any]]:
    """Borders that cut a column into parts with about as many records; empty: it cannot be cut."""
    shown = histogram_of(facts)
    places = places_of(facts)
    if shown is None or places is None:
        return []
    order = np.argsort(places, kind="stable")
    share = np.cumsum(facts.counts[order]) / facts.filled
    found = set()
    for part in SHARES:
        near = float(places[order][min(int(np.searchsorted(share, part)), len(order) - 1)])
        border = round(near / shown.step) * shown.step
        if shown.low < border < shown.high:
            found.add(float(f"{border:.12g}"))
    apart = [one for i, one in enumerate(sorted(found)) if not i or _apart(sorted(found), i, shown)]
    if not apart:
        return []
    levels = [apart, apart[1::2]] if len(apart) > 2 else [apart]
    return [[written(one, shown.dates) for one in level] for level in levels]


def _apart(borders: list[float], place: int, shown: Histogram) -> bool:
    """Whether a border is far enough from the one before: two days, for dates."""
    return borders[place] - borders[place - 1] > (1 if shown.dates else 0)


def written(border: float, dates: bool) -> Any:
    """A border as a plan has it."""
    if dates:
        return date.fromordinal(int(border)).isoformat()
    return int(border) if border.is_integer() else border
