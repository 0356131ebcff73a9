"""The indexed merge against the plain compiled scan, in one run."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from benchmarks.plain_scan import plain_merge
from benchmarks.tables import encoded
from shoal.algorithms.gaa import _merge, flat_trees, index_order
from shoal.base.progress import silent
from shoal.losses._integer_costs import exact_costs
from shoal.losses.nllm import NLLM
from shoal.table.equivalence_classes import tally

GOALS = {"unit": 40, "size": 20}


def run() -> list[dict]:
    table = encoded()
    start = tally(table.codes)
    costs = exact_costs(NLLM(), table.domains, table.rows)
    order = index_order(table, start, costs)
    flat = flat_trees(table, costs, np.arange(len(order)))
    vectors = np.ascontiguousarray(table.codes[start.first])

    def indexed(k, by_size):
        return _merge(table, start, costs, order, k, by_size, False, silent)[1]

    def plain(k, by_size, most=None):
        return plain_merge(
            flat.start, flat.parent, flat.end, flat.cost,
            vectors[:most].copy(), start.size[:most].copy(), start.first[:most].copy(), k, by_size,
        )  # fmt: skip

    indexed(2, True), plain(2, True, 50)  # compile
    results = []
    for k in (2, 10, 100):
        for weight in ("unit", "size"):
            by_size = weight == "size"
            # The best of several runs: other load on the machine only adds time.
            fast = min(_timed(indexed, k, by_size)[0] for _ in range(25))
            slow = min(_timed(plain, k, by_size)[0] for _ in range(3))
            same = _same(indexed(k, by_size), plain(k, by_size))
            assert same, "the index found other merges than the plain scan"
            results.append(
                {
                    "what": f"merge Adult, k = {k}, {weight} weights",
                    "shoal": fast, "plain scan": slow, "ratio": slow / fast,
                    "goal": f"≥ {GOALS[weight]}" if k > 2 else "",
                }
            )  # fmt: skip
    return results


def _timed(function, *args):
    begin = perf_counter()
    result = function(*args)
    return perf_counter() - begin, result


def _same(a, b) -> bool:
    """Whether two labelings form the same groups of classes."""
    return len(np.unique(np.stack([a, b]), axis=1).T) == len(np.unique(a)) == len(np.unique(b))
