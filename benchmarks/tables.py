"""The tables that the benchmarks share."""

from __future__ import annotations

import numpy as np
import pandas as pd

from shoal import Hierarchy, Plan
from shoal.datasets import adult
from shoal.datasets.adult import hierarchies
from shoal.io.frames import open_frame
from shoal.table.encode import Table, encode

QUASI = list(hierarchies())


def plan(k: int = 5, **change) -> Plan:
    """Nine quasi-identifiers, k-anonymity by the greedy merge, the built-in hierarchies."""
    columns = {
        name: {"role": "quasi", "hierarchy": Hierarchy.from_tree(tree)}
        for name, tree in hierarchies().items()
    }
    models = [{"name": "k-anonymity", "k": k}]
    return Plan(**{"columns": columns, "models": models, "algorithm": "gaa", **change})


def frame() -> pd.DataFrame:
    """Adult: 30,162 complete records, 19,502 distinct tuples."""
    return adult().select(QUASI).to_pandas()


def mixed(rows: int, seed: int = 0, share: float = 0.15) -> pd.DataFrame:
    """Records of Adult in which each cell is from another random record with this probability."""
    rng = np.random.default_rng(seed)
    people = frame()
    base = rng.integers(0, len(people), rows)
    columns = {}
    for name in QUASI:
        other = rng.integers(0, len(people), rows)
        taken = np.where(rng.random(rows) < share, other, base)
        columns[name] = people[name].take(taken).reset_index(drop=True)
    return pd.DataFrame(columns)


def encoded() -> Table:
    """Adult as integer codes."""
    return encode(open_frame(frame()), plan().columns)
