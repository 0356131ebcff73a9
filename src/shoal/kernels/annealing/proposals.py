"""Cells that are proposed for tuples, each with a probability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.kernels import lean_kernel
from shoal.kernels.annealing.recreate import draw


class Proposals(NamedTuple):
    """Cells that may be worth opening at each tuple; all of them cover it."""

    start: np.ndarray  # int64[tuples + 1], where those of a tuple begin
    row: np.ndarray  # int32[…], rows of `cell`
    upto: np.ndarray  # float64[…], the probability of this one and those before it
    cell: np.ndarray  # int32[cells, q]


def no_proposals(tuples: int, q: int) -> Proposals:
    """No cells for so many tuples with so many columns."""
    nothing = np.zeros(0, np.int32), np.zeros(0), np.zeros((0, q), np.int32)
    return Proposals(np.zeros(tuples + 1, np.int64), *nothing)


@lean_kernel
def draw_proposal(proposals, random, x, cell):
    """Write one of the cells that are proposed for a tuple; whether there is one."""
    i, last = proposals.start[x], proposals.start[x + 1] - 1
    if i > last:
        return False
    chance = draw(random)
    while i < last and proposals.upto[i] <= chance:
        i += 1
    row = proposals.row[i]
    for j in range(len(cell)):
        cell[j] = proposals.cell[row, j]
    return True
