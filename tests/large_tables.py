"""A small table that stands for a large one, and its plan, for tests of engines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal import Plan


def plan(**change: object) -> Plan:
    """A plan for the table, by DuckDB."""
    asked: dict = {
        "columns": {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi",
                    "note": "other"},
        "models": [{"name": "k-anonymity", "k": 2}],
        "engine": "duckdb",
    }  # fmt: skip
    return Plan(**asked | change)


def table(rows: int = 200) -> pa.Table:
    """People with a note each, all of them different."""
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(20, 40, rows),
            "sex": rng.choice(["f", "m"], rows),
            "note": [f"note {i}" for i in range(rows)],
        }
    )


def nothing_left(folder: Path) -> bool:
    """Whether a folder has no temporary files."""
    return not list(folder.glob(".shoal-*"))


def written(folder: Path, **files: pa.Table) -> Path:
    """A new folder of Parquet files."""
    folder.mkdir()
    for name, rows in files.items():
        pq.write_table(rows, folder / f"{name}.parquet")
    return folder
