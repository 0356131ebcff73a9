"""Parts: what is lost if a table is cut and recoded part by part, against recoding it as a whole.

Adult is always there; Census-Income and the births are skipped if their files are not available.
`python -m benchmarks.parts adult 10 4 16` measures one table and k alone; 0 parts are those that
threads share, one for a table that is too small.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
import pandas as pd

from benchmarks.peel import DATA, EIGHT, adult, census
from benchmarks.tables import mixed, plan
from shoal import Hierarchy, Plan
from shoal.algorithms._shared.parts.cuts import Parting
from shoal.algorithms._shared.recode import recode
from shoal.algorithms.peel import Peel
from shoal.io.frames import open_frame
from shoal.losses._alterations import alterations
from shoal.losses.nllm import NLLM
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table, encode

SIZES = (5, 10, 100)
PARTS = (2, 4, 16)
THREADS = 0  # parts as threads share them, if the table is large enough
GOAL = 1.02


def births() -> Table:
    """A sample of the births in the US in 2006: 427,323 records, 134,768 distinct tuples."""
    columns = {
        "DOB_MM": [3, 6], "DOB_WK": [], "MAGER": [5, 10, 20], "TBO_REC": [2, 4], "SEX": [],
        "DMEDUC": [], "DPLURAL": [],
    }  # fmt: skip
    people = pd.read_csv(DATA / "births2006" / "births2006.csv.xz", usecols=list(columns))
    given = {
        name: {"role": "quasi", **({"hierarchy": Hierarchy.ranges(steps)} if steps else {})}
        for name, steps in columns.items()
    }
    return encode(open_frame(people), Plan(columns=given, missing_values=["", "NULL"]).columns)


def tables() -> dict[str, Callable[[], Table]]:
    """The tables that are available."""
    found: dict[str, Callable[[], Table]] = {"adult": adult}
    if (DATA / "census_income").is_dir():
        found["census"] = lambda: census(EIGHT)
    if (DATA / "births2006").is_dir():
        found["births"] = births
    found["mixed"] = lambda: encode(open_frame(mixed(1_000_000)), plan(10).columns)
    return found


def measure(table: Table, k: int, parts: int) -> dict:
    """The loss in percent, and the time, with so many parts."""
    parting = Parting(shared=True) if parts == THREADS else Parting(parts)
    begin, spent = perf_counter(), process_time()
    rng = np.random.default_rng(0)
    found = recode(Peel(), table, [KAnonymity(k=k)], NLLM(), rng, parting=parting)
    seconds, processor = perf_counter() - begin, process_time() - spent
    (percent,) = alterations(table, found, [NLLM()])
    return {
        "k": k, "parts": found.parts, "percent": percent, "seconds": seconds,
        "processor": processor,
    }  # fmt: skip


def compared(name: str, k: int, parts: tuple[int, ...]) -> list[dict]:
    """One row for the whole, and one for each number of parts with the ratio of the losses."""
    table = tables()[name]()
    whole = measure(table, k, 1)
    cut = [measure(table, k, many) for many in parts]
    return [
        {"table": name, **one, "ratio": one["percent"] / whole["percent"]} for one in [whole, *cut]
    ]


def run() -> list[dict]:
    measure(adult(), 200, 2)  # compile, or load compiled kernels
    return [
        {
            "what": f"peel of {name}, k = {k}, in {one['parts']} parts: loss against the whole",
            "ratio": one["ratio"],
            "goal": f"≤ {GOAL}",
        }
        for name in tables()
        for k in SIZES
        for one in compared(name, k, (THREADS,) if name == "mixed" else (*PARTS, THREADS))[1:]
    ]


if __name__ == "__main__":
    name, k, *parts = sys.argv[1:]
    measure(adult(), 200, 2)
    for row in compared(name, int(k), tuple(map(int, parts)) or PARTS):
        print(json.dumps(row))
