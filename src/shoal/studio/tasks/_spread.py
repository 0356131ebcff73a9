"""The values of a column as a small picture: bars of the most frequent ones, or a histogram."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from itertools import pairwise

import numpy as np
import pyarrow as pa

from shoal.flow.draft.facts import Facts
from shoal.hierarchies.values import text
from shoal.io.native.values import cell_values

BARS = 12
BINS = 24


@dataclass(frozen=True)
class Spread:
    """How often values occur: of single values, or of ranges of numbers or dates."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    rest: int = 0  # records with values that are not shown
    low: float | None = None  # the ends of a histogram; None: these are single values
    high: float | None = None


def spread_of(facts: Facts) -> Spread:
    """The picture of a column."""
    places = _places(facts)
    if places is None or facts.distinct <= BARS:
        return _bars(facts, in_order=places)
    edges = _edges(float(places.min()), float(places.max()), facts)
    counts, _ = np.histogram(places, bins=edges, weights=facts.counts)
    return Spread(
        tuple(_edge(facts, a, b) for a, b in pairwise(edges)),
        tuple(int(count) for count in counts),
        low=float(edges[0]),
        high=float(edges[-1]),
    )


def _edges(low: float, high: float, facts: Facts) -> np.ndarray:
    """The ends of up to `BINS` ranges of one width, so that people can read them."""
    if facts.numbers is None or facts.whole:  # days and whole numbers: each range has as many
        width = max(1.0, np.ceil((high - low + 1) / BINS))
    else:
        width = _round_width((high - low) / BINS)
        low = float(np.floor(low / width) * width)
    many = max(1, int(np.floor((high - low) / width)) + 1)
    return np.asarray(low + width * np.arange(many + 1))


def _round_width(least: float) -> float:
    """The smallest width of 1, 2 or 5 times a power of ten that is not smaller.

    >>> _round_width(3.1), _round_width(0.02)
    (5.0, 0.02)
    """
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= least))


def _places(facts: Facts) -> np.ndarray | None:
    """Numbers for values that have an order; None: they have none."""
    if not facts.distinct:
        return None
    if facts.numbers is not None:
        return facts.numbers
    if facts.moments is not None:
        return np.array([one.toordinal() for one in facts.moments], np.float64)
    return None


def _bars(facts: Facts, in_order: np.ndarray | None) -> Spread:
    order = np.argsort(-facts.counts, kind="stable")[:BARS]
    if in_order is not None:
        order = order[np.argsort(in_order[order], kind="stable")]
    shown = int(facts.counts[order].sum())
    return Spread(
        tuple(map(text, cell_values(facts.coded.array.take(pa.array(order))))),
        tuple(int(facts.counts[i]) for i in order),
        rest=facts.filled - shown,
    )


def _edge(facts: Facts, low: float, high: float) -> str:
    """A range in words; of days and whole numbers it names the first and the last."""
    if facts.numbers is None:
        first, last = date.fromordinal(int(low)), date.fromordinal(int(high) - 1)
        return f"{first.isoformat()} – {last.isoformat()}" if first < last else first.isoformat()
    if facts.whole:
        return f"{low:.0f} – {high - 1:.0f}" if high - 1 > low else f"{low:.0f}"
    return f"{low:.6g} – {high:.6g}"
