"""Rows without classes: what `freeform` loses next to `peel` and both concealments.

On Adult and on Census-Income (299,285 people, eight columns), with components of different sizes,
as `shoal anonymize` runs them.

Belief is what the attack `matching` finds: the probability of a person's most likely record, if all
complete assignments are equally likely, on average and for the most exposed person. In a class it
is one in the number of its records. The bound is the one of normal effort, which holds for `peel`
and `freeform`. Times are processor seconds.
"""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.peel import DATA, EIGHT, census
from benchmarks.tables import encoded
from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.algorithms._shared.recode import recode
from shoal.algorithms.concealment import Concealment
from shoal.algorithms.freeform import Freeform
from shoal.algorithms.peel import Peel
from shoal.attacks.matching import Matching
from shoal.losses import alteration
from shoal.losses.nllm import NLLM
from shoal.measures.bounds.lower_bound import lower_bound
from shoal.models import Model
from shoal.table.encode import Table
from shoal.table.match_graph import link
from shoal.table.published_table import Published
from shoal.table.recoding import Recoding

DEFAULT = Freeform().component
# The size of a class, and the most people of a component; in 40,000 all of Adult is one part.
ADULT = (
    (2, DEFAULT), (5, 500), (5, 2_000), (5, DEFAULT), (5, 40_000), (10, DEFAULT), (10, 40_000),
    (20, DEFAULT), (20, 40_000), (100, DEFAULT), (100, 40_000),
)  # fmt: skip
CENSUS = (
    (5, DEFAULT), (5, 150_000), (10, DEFAULT), (10, 150_000), (100, DEFAULT), (100, 150_000),
)  # fmt: skip
BELIEFS = (5, 10)  # sizes for which beliefs are estimated
SAMPLES = 40

WAYS: dict[str, tuple[Algorithm, str]] = {
    "peel": (Peel(), "k-anonymity"),
    "freeform": (Freeform(), "k-belief"),
    "concealment": (Concealment(), "k-concealment"),
    "concealment, not randomized": (Concealment(randomized=False), "k-concealment"),
}


def run() -> list[dict]:
    lines = [measured("Adult", encoded(), k, most) for k, most in ADULT]
    if (DATA / "census_income").is_dir():
        lines += [measured("Census-Income", census(EIGHT), k, most) for k, most in CENSUS]
    return lines + [line for k in BELIEFS for line in frontier(k)]


def recoded(
    table: Table, way: str, k: int, other: Algorithm | None = None
) -> tuple[Recoding, float, float]:
    """The release of an algorithm, its loss in percent, and the seconds it took."""
    algorithm, name = WAYS[way]
    algorithm = other or algorithm
    model: Model = catalog.models[name](k=k)
    loss, begin = NLLM(), process_time()
    made = recode(algorithm, table, [model], loss, np.random.default_rng(0))
    seconds = process_time() - begin
    codes = made.codes()
    after = [np.bincount(codes[:, j], minlength=t.size) for j, t in enumerate(table.trees)]
    lost = alteration(loss.costs(table.domains), [d.counts for d in table.domains], after)
    return made, lost, seconds


def measured(name: str, table: Table, k: int, most: int) -> dict:
    """The losses of both algorithms for k people, in percent, and their times."""
    _, classes, plain = recoded(table, "peel", k)
    made, free, seconds = recoded(table, "freeform", k, Freeform(component=most))
    bound = lower_bound(table, k, NLLM()).percent
    return {
        "what": f"{name}, k = {k}, component = {most:,} ({made.notes[-1]}): freeform "
        f"loses {free:.3f} %, peel {classes:.3f} %, and none can lose less than {bound:.3f} %; "
        "ratio of the losses, processor seconds",
        "shoal": seconds,
        "plain scan": plain,
        "ratio": free / classes,
        "goal": "< 0.95",
    }


def frontier(k: int) -> list[dict]:
    """Loss, mean and highest belief of each algorithm."""
    table, lines = encoded(), []
    for way in WAYS:
        made, lost, seconds = recoded(table, way, k)
        mean, highest = beliefs(table, made)
        lines.append(
            {
                "what": f"Adult, k = {k}, {way}: loses {lost:.3f} %, mean belief {mean:.3f}, "
                f"highest {highest:.3f}; processor seconds",
                "shoal": seconds,
                "goal": "",
            }
        )
    return lines


def beliefs(table: Table, made: Recoding) -> tuple[float, float]:
    """The mean and the highest probability of a person's most likely record."""
    labels = tuple([str(label) for label in tree.labels] for tree in table.trees)
    mixed = made.codes()[np.random.default_rng(1).permutation(table.rows)]
    linkage = link(table, Published(table.names, mixed, labels, None, ()))
    found = Matching(samples=SAMPLES).run_on(linkage)
    return found["mean_largest_probability"], found["largest_probability"]
