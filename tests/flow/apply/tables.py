"""Tables and columns for tests that apply a recoding to new records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

K2 = [{"name": "k-anonymity", "k": 2}]

FREE = {
    "age": {"role": "quasi", "hierarchy": {"free_ranges": True}},
    "zip": {"role": "quasi", "hierarchy": {"free_sets": True}},
}

TREES = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}},
    "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
}


def drawn(rng, n, persons=False):
    zips = ["02138", "02139", "02141", "10001", "10002"]
    columns = {
        "age": rng.integers(20, 60, n),
        "zip": rng.choice(zips, n),
        "row": np.arange(n),
        "disease": rng.choice(["flu", "cold", "gout"], n),
    }
    return pa.table(({"who": rng.integers(0, n, n)} if persons else {}) | columns)
