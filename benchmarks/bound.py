"""The lower bound with high effort: the linear program over groups of k records of Adult.

Next to it the bound of normal effort, and what `peel` loses. Times are processor seconds.
"""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.tables import encoded
from shoal import catalog
from shoal.losses import alteration
from shoal.losses.nllm import NLLM
from shoal.measures.bounds.lower_bound import lower_bound
from shoal.models.k_anonymity import KAnonymity

SIZES = (2, 5, 10, 100)


def run() -> list[dict]:
    return [measured(k) for k in SIZES]


def measured(k: int) -> dict:
    """Both bounds for classes of k people, and the loss of `peel`, in percent."""
    table, loss = encoded(), NLLM()
    begin = process_time()
    normal = lower_bound(table, k, loss).percent
    middle = process_time()
    high = lower_bound(table, k, loss, effort="high").percent
    end = process_time()
    made = catalog.algorithms["peel"]().recode(
        table, [KAnonymity(k=k)], loss, np.random.default_rng(0)
    )
    codes = made.vectors[made.record]
    after = [np.bincount(codes[:, j], minlength=t.size) for j, t in enumerate(table.trees)]
    lost = alteration(loss.costs(table.domains), [d.counts for d in table.domains], after)
    return {
        "what": f"Adult, k = {k}: the bound with high effort is {high:.3f} %, with normal effort "
        f"{normal:.3f} %, peel loses {lost:.3f} %; processor seconds",
        "shoal": end - middle,
        "plain scan": middle - begin,
        "ratio": (end - middle) / (middle - begin),
        "goal": "",
    }
