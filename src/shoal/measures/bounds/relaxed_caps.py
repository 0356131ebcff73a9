"""The sharpest caps: the optimum of the linear program over groups of k records, or close to it."""

from __future__ import annotations

from functools import partial

import numpy as np

from shoal.algorithms._shared.relaxation.columns import Columns
from shoal.algorithms._shared.relaxation.pricing import Pricing
from shoal.algorithms._shared.relaxation.relaxation import Relaxation
from shoal.base import interrupt
from shoal.base.arrays import Longs
from shoal.base.progress import Progress

GAP = 0.002  # of the loss: when the bound is so close to what the program loses, it is over
PATIENCE = 10  # rounds without new groups, and without much gain


def relaxed_caps(pricing: Pricing, cap: Longs, most: int, progress: Progress) -> Longs:
    """Lower caps on what tuples keep, int64[tuples], from valid ones, by so many looks at tuples.

    They are valid for all releases with classes of k people (see `lower_bound`), and no other caps
    would be lower by more than `GAP` of the loss, unless the looks are used up before, or many
    rounds gain almost nothing. Ctrl-C ends it with the caps so far, which are valid too.
    """
    possible = int((pricing.lattice.own[:, -1] * pricing.size).sum())
    relaxation = Relaxation(pricing, cap, Columns(len(cap), pricing.k))
    try:
        _improve(relaxation, possible, most, progress)
    except KeyboardInterrupt:
        if not interrupt.keeps_best():
            raise
    return relaxation.cap


def _improve(relaxation: Relaxation, possible: int, most: int, progress: Progress) -> None:
    """Rounds of column generation until the bound is close to what the program loses."""
    first = relaxation.pricing.price(relaxation.cap, most, lambda: None)
    if first is None:
        return
    relaxation.columns.add(first.groups)
    relaxation.cap, relaxation.price = first.cap, first.cap.astype(np.float64)
    relaxation.work = first.looks
    idle = 0
    while relaxation.work < most and idle < PATIENCE:
        report = partial(progress, "bounding", relaxation.work / most)
        report()
        before = relaxation.bound
        new = relaxation.improve(most, report)
        close = GAP * (possible - relaxation.bound)
        if new is None or relaxation.bound - relaxation.kept <= close:
            break
        idle = 0 if new or before - relaxation.bound > close / PATIENCE else idle + 1
