"""Small random tables, each with a release and the same as lists of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import shoal
from shoal import Plan

PATHS = {
    "a1": ["a1", "a", "ab", "*"],
    "a2": ["a2", "a", "ab", "*"],
    "b1": ["b1", "b", "ab", "*"],
    "c1": ["c1", "c", "*"],
    "c2": ["c2", "c", "*"],
    "c3": ["c3", "c", "*"],
}
NUMBERS = ({"ranges": [5, 20]}, {"ranges": [2.5]}, {"free_ranges": True}, None)


@dataclass
class Case:
    """A release, and both tables as lists of texts by column, in an order of their own."""

    plan: Plan
    original: pa.Table
    release: Any
    before: dict[str, list[str | None]]
    after: dict[str, list[str | None]]


def case(seed: int, algorithm: str | None = None, rows: int = 40) -> Case:
    """A random table, now and then with missing values, suppressed records and free values."""
    rng = np.random.default_rng(seed)
    values = [*PATHS]
    table = {
        "number": [str(n) for n in rng.integers(0, 60, rows)],
        "half": [str(n / 2) for n in rng.integers(-20, 60, rows)],
        "kind": rng.choice(values, rows, p=rng.dirichlet(np.ones(len(values)))).tolist(),
        "sex": rng.choice(["f", "m"], rows).tolist(),
        "disease": rng.choice(["flu", "cold", "gout"], rows).tolist(),
        "pay": [str(n) for n in rng.integers(0, 5, rows)],
    }
    for name in ("kind", "number", "pay", "disease"):
        if rng.random() < 0.3:
            for row in rng.choice(rows, 3, replace=False):
                table[name][row] = None
    hierarchies = NUMBERS[: 2 if algorithm in ("full-domain", "mondrian", "peel") else None]
    number, half = (hierarchies[rng.integers(len(hierarchies))] for _ in range(2))
    if algorithm is None:
        algorithm = ["peel", "mondrian", "full-domain", "gaa"][rng.integers(4)]
        number, half = (NUMBERS[rng.integers(2 if algorithm != "gaa" else 4)] for _ in range(2))
    plan = Plan(
        columns={
            "number": {"role": "quasi", "hierarchy": number},
            "half": {"role": "quasi", "hierarchy": half},
            "kind": {"role": "quasi", "hierarchy": {"levels": [*PATHS.values()]}},
            "sex": "quasi",
            "disease": "sensitive",
            "pay": "other",
        },
        models=[{"name": "k-anonymity", "k": int(rng.integers(2, 6))}],
        algorithm={"name": "full-domain", "suppression": 0.3}
        if algorithm == "full-domain"
        else algorithm,
        seed=int(rng.integers(100)),
    )
    original = pa.table({name: pa.array(column, pa.string()) for name, column in table.items()})
    release = shoal.anonymize(original, plan)
    after = {
        name: [None if v is None else str(v) for v in release.frame[name].to_pylist()]
        for name in table
    }
    return Case(plan, original, release, table, after)
