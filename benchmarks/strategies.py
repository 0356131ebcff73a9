"""The strategies S1 to S7 on Adult, in one run: how much time the sensitive values cost."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from benchmarks.tables import QUASI
from shoal import Hierarchy
from shoal.algorithms.gaa import GAA
from shoal.base.progress import silent
from shoal.datasets import adult
from shoal.datasets.adult import hierarchies
from shoal.io.frames import open_frame
from shoal.losses.nllm import NLLM
from shoal.models.k_anonymity import KAnonymity
from shoal.plan import Plan
from shoal.table.encode import encode

KS = (10, 100)
NAMES = ("S1", "S2", "S3", "S4", "S5", "S6", "S7")


def run() -> list[dict]:
    columns = {
        name: {"role": "quasi", "hierarchy": Hierarchy.from_tree(tree)}
        for name, tree in hierarchies().items()
        if name != "occupation"
    }
    plan = Plan(columns={**columns, "occupation": "sensitive"}, models=[])
    table = encode(open_frame(adult().select(QUASI)), plan.columns)

    def recode(name: str, k: int) -> float:
        begin = perf_counter()
        rng = np.random.default_rng(0)
        GAA(strategy=name).recode(table, [KAnonymity(k=k)], NLLM(), rng, silent)
        return perf_counter() - begin

    for name in NAMES:
        recode(name, 2)  # compile
    results = []
    for k in KS:
        seconds = {name: min(recode(name, k) for _ in range(5)) for name in NAMES}
        for name in NAMES:
            results.append(
                {
                    "what": f"{name} against S1, Adult, k = {k}",
                    "shoal": seconds[name],
                    "ratio": seconds[name] / seconds["S1"],
                    "goal": "≤ 3" if name != "S1" else "",
                }
            )
    return results
