"""A small table, its plan, and a comparison in this process."""

from __future__ import annotations

import pyarrow as pa

import shoal
from shoal import Plan


def table(rows=60):
    return pa.table(
        {
            "age": [20 + 7 * i % 40 for i in range(rows)],
            "sex": ["fm"[i % 2] for i in range(rows)],
            "disease": [f"d{i % 5}" for i in range(rows)],
        }
    )


def plan(**change):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
        "sex": "quasi",
        "disease": "sensitive",
    }
    asked = {"columns": columns, "models": [{"name": "k-anonymity", "k": 3}], "seed": 5}
    return Plan(**asked | change)


def compare(*args, **options):
    return shoal.compare(*args, **{"apart": False} | options)
