"""Tables of odd shapes: DuckDB finds in them what memory finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import shoal
from shoal import Plan


def test_more_columns_than_duckdb_groups_by_at_once(tmp_path: Path) -> None:
    """GROUPING_ID takes 63 columns; what each column discloses is counted all the same."""
    rng = np.random.default_rng(1)
    notes = {f"n{i}": pa.array(rng.integers(0, 2 + i, 40)) for i in range(70)}
    path = tmp_path / "wide.parquet"
    pq.write_table(pa.table({"sex": ["f", "m"] * 20, **notes}), path)
    asked = Plan(columns={"sex": "quasi", **dict.fromkeys(notes, "other")}, seed=1,
                 models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    found, expected = (
        shoal.anonymize(path, asked.changed(engine=engine)).if_known
        for engine in ("duckdb", "memory")
    )
    assert found == expected
    assert len(found) == 70
