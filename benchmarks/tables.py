"""The tables that the benchmarks share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from shoal import Hierarchy, Plan
from shoal.base.errors import ShoalError
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


def everyone() -> pa.Table:
    """Eight columns of Adult, both parts: 45,222 records, or 30,162 where only one is found."""
    files = Path(__file__).parents[2] / "shared" / "data" / "adult"
    try:
        people = adult(files if files.is_dir() else None, part="all")
    except ShoalError:
        people = adult()
    return people.select([name for name in QUASI if name != "salary-class"])


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
