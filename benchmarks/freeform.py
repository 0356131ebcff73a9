"""Rows without classes: what `freeform` loses on Adult next to `peel`, and what a bound allows.

The bound is the one of normal effort, which holds for both. Times are processor seconds.
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
from shoal.models.k_belief import KBelief

SIZES = (2, 5, 10, 100)


def run() -> list[dict]:
    return [measured(k) for k in SIZES]


def measured(k: int) -> dict:
    """The losses of both algorithms for k people, in percent, and their times."""
    table, loss = encoded(), NLLM()
    seconds, lost = [], []
    for name, model in (("peel", KAnonymity(k=k)), ("freeform", KBelief(k=k))):
        begin = process_time()
        made = catalog.algorithms[name]().recode(table, [model], loss, np.random.default_rng(0))
        seconds.append(process_time() - begin)
        codes = made.vectors[made.record]
        after = [np.bincount(codes[:, j], minlength=t.size) for j, t in enumerate(table.trees)]
        counts = [domain.counts for domain in table.domains]
        lost.append(alteration(loss.costs(table.domains), counts, after))
    bound = lower_bound(table, k, loss).percent
    return {
        "what": f"Adult, k = {k}: freeform loses {lost[1]:.3f} %, peel {lost[0]:.3f} %, and none "
        f"can lose less than {bound:.3f} %; ratio of the losses, processor seconds",
        "shoal": seconds[1],
        "plain scan": seconds[0],
        "ratio": lost[1] / lost[0],
        "goal": "< 1",
    }
