"""The sharpest caps: the optimum of the linear program over groups of k records, or close to it."""

from __future__ import annotations

from collections.abc import Callable

from shoal.algorithms._shared.relaxation.columns import Columns
from shoal.algorithms._shared.relaxation.pricing import Pricing
from shoal.algorithms._shared.relaxation.relaxation import Relaxation
from shoal.base import interrupt
from shoal.base.arrays import Longs
from shoal.base.progress import Progress, Stage

# Of the loss: the bound is as close to what the program loses as a solver's own precision.
GAP = 1e-6
CLOSE = 2e-4  # the same for programs that are solved by the first-order method
PATIENCE = 10  # rounds without new groups, and without much gain


def relaxed_caps(
    pricing: Pricing, cap: Longs, most: int, progress: Progress, alone: bool = False
) -> Longs:
    """Lower caps on what tuples keep, int64[tuples], from valid ones, by so many looks at tuples.

    They are valid for all releases with classes of k people (see `lower_bound`). No other caps
    would be lower by more than `GAP` of the loss if the program is small (see `Master`), otherwise
    by more than `CLOSE`; unless the looks are used up before, or many rounds gain almost nothing.
    Ctrl-C ends it with the caps so far, which are valid too. `alone`: there are other requirements,
    for which another bound may be higher.
    """
    if interrupt.asked():  # Ctrl-C has ended the search for a release: the user waits for it
        return cap
    possible = int((pricing.lattice.own[:, -1] * pricing.size).sum())
    relaxation = Relaxation(pricing, cap, Columns(len(cap), pricing.k))
    try:
        _improve(relaxation, most, _reporter(relaxation, possible, most, progress, alone), possible)
    except KeyboardInterrupt:
        if not interrupt.keeps_best():
            raise
    return relaxation.cap


def _improve(relaxation: Relaxation, most: int, report: Callable[[], None], possible: int) -> None:
    """Rounds of column generation until the bound is close to what the program loses."""
    report()
    if not relaxation.begin(most, report):
        return
    idle = 0
    while relaxation.work < most and idle < PATIENCE:
        report()
        before = relaxation.bound
        new = relaxation.improve(most, report)
        lost = possible - relaxation.bound
        enough = (GAP if relaxation.is_small else CLOSE) * lost
        if new is None or relaxation.bound - relaxation.best <= enough:
            break
        idle = 0 if new or before - relaxation.bound > enough / PATIENCE else idle + 1
    report()


def _reporter(
    relaxation: Relaxation, possible: int, most: int, progress: Progress, alone: bool
) -> Callable[[], None]:
    """Reports the bound so far, and the gap: how much higher it could become, as a share of it."""

    bound, gap = ("for the class size alone: bound", "its gap") if alone else ("bound", "gap")

    def report() -> None:
        lost, least = possible - relaxation.bound, possible - relaxation.best
        found = {bound: 100 * lost / max(possible, 1)}
        if lost > 0 and relaxation.best > 0:
            found[gap] = 100 * max(0.0, least - lost) / lost
        progress(Stage("bounding", **found), min(relaxation.work / most, 1.0))

    return report
