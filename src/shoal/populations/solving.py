"""Digamma and roots, without the seconds that it takes to load a library for them."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, log
from typing import Any

import numpy as np

from shoal.base.arrays import Floats

STEPS = 12  # the recurrence moves x so far up; there eight terms of the series are exact
MOST = 400  # evaluations of a function; halving alone would need 60


def digamma(x: Floats) -> Floats:
    """ψ(x) for x > 0: ψ(x) = ψ(x + 1) − 1/x, and its asymptotic series.

    >>> digamma(np.array([1.0, 0.5])).round(8)
    array([-0.57721566, -1.96351003])
    """
    x = np.asarray(x, np.float64)
    below = np.zeros_like(x)
    for step in range(STEPS):
        below += 1 / (x + step)
    y = x + STEPS
    found: Floats = np.log(y) - 0.5 / y - _series(1 / (y * y)) - below
    return found


def digamma_of(x: float) -> float:
    """The same for one number, which is faster."""
    below = 0.0
    for step in range(STEPS):
        below += 1 / (x + step)
    y = x + STEPS
    return log(y) - 0.5 / y - float(_series(1 / (y * y))) - below


def _series(w: Any) -> Any:
    return w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w * (1 / 132)))))


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that is above 0 at `low` and below at `high`, or the reverse, is 0.

    By secants between the two ends, and by halving where that is slow, so that it cannot fail.

    >>> round(root(lambda x: x * x - 2, 0.0, 2.0), 12)
    1.414213562373
    """
    at_low, at_high = function(low), function(high)
    halve = False
    for _ in range(MOST):
        width = abs(high - low)
        middle = (low + high) / 2
        if middle in (low, high) or at_low == 0:
            break
        step = middle
        if not halve and isfinite(at_low) and isfinite(at_high):
            step = low - at_low * (high - low) / (at_high - at_low)
            # Just beyond the root, so that both ends come close to it.
            step += (middle - step) * 1e-9
        there = function(step)
        if there == 0:
            return step
        if (there < 0) == (at_low < 0):
            low, at_low = step, there
        else:
            high, at_high = step, there
        halve = not halve and abs(high - low) > width / 2
    return low if at_low == 0 else (low + high) / 2
