"""Encoding of columns in which all values differ, against Arrow's dictionary encoding of them.

1,000,000 rows × 5 columns of text, 13 characters each. Both run in one process; the best of three
runs counts, in processor seconds. The goal, twice the time of Arrow, applies to unchanged text:
quasi-identifiers without a hierarchy, other columns and identifiers. Hierarchies build a tree as
well; sensitive values and persons are encoded twice, as written and as normalized for comparison.
Their ratios are shown without a goal.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
import pyarrow as pa

from shoal import Hierarchy
from shoal.io.frames import Frame
from shoal.table.encode import encode
from shoal.table.roles import Column

ROWS, COLUMNS, RUNS = 1_000_000, 5, 3


def run() -> list[dict]:
    text, numbers, days = _text(), _numbers(), _days()
    plain, whole, dated = (_fastest(lambda t=t: _arrow(t)) for t in (text, numbers, days))
    months = Hierarchy.dates(["month", "year"])
    prefixes, ranges = Hierarchy.prefixes([10, 7, 4]), Hierarchy.ranges([1000, 100_000])
    cases = {
        "quasi, flat": (text, "quasi", None, plain, "≤ 2"),
        "other": (text, "other", None, plain, "≤ 2"),
        "identifier": (text, "identifier", None, plain, "≤ 2"),
        "sensitive": (text, "sensitive", None, plain, ""),
        "person and four other": (text, "person", None, plain, ""),
        "quasi, prefixes of three lengths": (text, "quasi", prefixes, plain, ""),
        "quasi, ranges of whole numbers": (numbers, "quasi", ranges, whole, ""),
        "quasi, dates (50,000 different)": (days, "quasi", months, dated, ""),
    }  # fmt: skip
    results = []
    for name, (table, role, hierarchy, arrow, goal) in cases.items():
        columns = _columns(table, role, hierarchy)
        seconds = _fastest(lambda t=table, c=columns: encode(Frame(t), c))
        what = f"encoding 1,000,000 × {COLUMNS} different values: {name}"
        results.append(
            {"what": what, "shoal": seconds, "plain scan": arrow, "ratio": seconds / arrow}
            | {"goal": goal}
        )
    return results


def _columns(table: pa.Table, role: str, hierarchy: Hierarchy | None) -> dict[str, Column]:
    """All columns in this role, but only one person column and always a quasi-identifier."""
    columns = {name: Column(role=role, hierarchy=hierarchy) for name in table.column_names}
    if role != "quasi":
        columns["c0"] = Column(role="quasi")
    if role == "person":
        columns |= {f"c{i}": Column(role="other") for i in range(2, COLUMNS)}
    return columns


def _arrow(table: pa.Table) -> None:
    for name in table.column_names:
        table[name].combine_chunks().dictionary_encode()


def _fastest(do: Callable[[], object]) -> float:
    seconds = []
    for _ in range(RUNS):
        begin = process_time()
        do()
        seconds.append(process_time() - begin)
    return min(seconds)


def _text() -> pa.Table:
    rng = np.random.default_rng(1)
    drawn = [rng.permutation(7 * ROWS)[:ROWS] * 7919 + i for i in range(COLUMNS)]
    return pa.table({f"c{i}": [f"v{x:012x}" for x in one] for i, one in enumerate(drawn)})


def _numbers() -> pa.Table:
    rng = np.random.default_rng(2)
    return pa.table(
        {f"c{i}": pa.array(rng.permutation(ROWS)).cast(pa.string()) for i in range(COLUMNS)}
    )


def _days() -> pa.Table:
    rng = np.random.default_rng(3)
    days = [pa.array(rng.integers(-20_000, 30_000, ROWS).astype("datetime64[D]")) for _ in "12345"]
    return pa.table({f"c{i}": one.cast(pa.string()) for i, one in enumerate(days)})
