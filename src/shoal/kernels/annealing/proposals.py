"""Cells that are proposed for tuples, each with a probability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.annealing.formed import draw


class Proposals(NamedTuple):
    """Cells that may be worth opening at each tuple; all of them cover it."""

    start: np.ndarray  # int64[tuples + 1], where those of a tuple begin
    which: np.ndarray  # int64[…], places in `cell`
    upto: np.ndarray  # float64[…], the probability of this one and those of the tuple before it
    cell: np.ndarray  # int32[cells, q]


def no_proposals(tuples: int, q: int) -> Proposals:
    """No cells for so many tuples with so many columns."""
    nothing = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, q), np.int32)
    return Proposals(np.zeros(tuples + 1, np.int64), *nothing)


@lean_kernel
def draw_proposal(proposals, random, x, cell):
    """Write one of the cells that are proposed for a tuple; whether there is one."""
    low, high = proposals.start[x], proposals.start[x + 1] - 1
    if low > high:
        return False
    chance = draw(random)
    while low < high:
        middle = (low + high) // 2
        if proposals.upto[middle] <= chance:
            low = middle + 1
        else:
            high = middle
    which = proposals.which[low]
    for j in range(len(cell)):
        cell[j] = proposals.cell[which, j]
    return True
