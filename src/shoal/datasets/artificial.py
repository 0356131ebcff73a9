"""The artificial table ART of Tassa, Mazza and Gionis 2012 (Sec. 9)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadInput

Span: TypeAlias = tuple[int, int]  # the values a_i from the first to the last, both included

ROWS = 5_000

# The probabilities of the values a1, a2, … of each attribute are.
DISTRIBUTIONS: dict[str, tuple[float, ...]] = {
    "A1": (0.7, 0.3),
    "A2": (0.3, 0.3, 0.2, 0.2),
    "A3": (0.25, 0.25, 0.4, 0.1),
    "A4": (*6 * (0.07,), *10 * (0.04,), *9 * (0.02,)),
    "A5": 10 * (0.1,),
    "A6": (0.05, 0.05, 0.5, 0.3, 0.1),
}

# The sets that may be published, in addition to single values and the whole attribute.
SUBSETS: dict[str, tuple[Span, ...]] = {
    "A1": (),
    "A2": ((1, 2), (3, 4)),
    "A3": ((1, 2), (3, 4)),
    "A4": ((1, 12), (13, 25), (1, 6), (7, 12), (13, 18), (19, 25)),
    "A5": ((1, 5), (6, 10), (1, 2), (3, 4), (6, 7), (8, 9)),
    "A6": ((1, 2), (3, 5), (4, 5)),
}


def artificial(rows: int = ROWS, seed: int = 0) -> pa.Table:
    """Draw ART: six independent attributes, each by its own distribution.

    The same seed gives the same rows. The paper's own draw is not published.

    >>> artificial(2).column_names
    ['A1', 'A2', 'A3', 'A4', 'A5', 'A6']
    """
    if rows < 0:
        raise BadInput(f"a table has 0 rows or more, got rows={rows}")
    rng = np.random.default_rng(seed)
    columns = {}
    for name, chances in DISTRIBUTIONS.items():
        drawn = rng.choice(len(chances), size=rows, p=chances)  # int64[rows]
        values = pa.array([_value(i) for i in range(1, len(chances) + 1)], pa.string())
        columns[name] = values.take(pa.array(drawn))
    return pa.table(columns)


def hierarchies() -> dict[str, object]:
    """Build the trees of the six attributes, as nested mappings from `*` to the leaves.

    >>> hierarchies()["A6"]
    {'*': {'{a1, a2}': {'a1': None, 'a2': None}, '{a3..a5}': {'a3': None, \
'{a4, a5}': {'a4': None, 'a5': None}}}}
    """
    return {
        name: {"*": _below((1, len(chances)), SUBSETS[name])}
        for name, chances in DISTRIBUTIONS.items()
    }


def _below(span: Span, subsets: tuple[Span, ...]) -> dict[str, object]:
    """The values of a span, grouped by the widest sets within it."""
    first, last = span
    inside = [one for one in subsets if one != span and first <= one[0] and one[1] <= last]
    found: dict[str, object] = {}
    while first <= last:
        here = max((one for one in inside if one[0] == first), default=None)
        if here is None:
            found[_value(first)] = None
            first += 1
        else:
            found[_label(here)] = _below(here, subsets)
            first = here[1] + 1
    return found


def _value(i: int) -> str:
    return f"a{i}"


def _label(span: Span) -> str:
    """A set in the notation of the paper; long ones have dots."""
    first, last = span
    between = ", " if last == first + 1 else ".."
    return f"{{{_value(first)}{between}{_value(last)}}}"
