"""Proposed cells are drawn with their probabilities."""

from __future__ import annotations

import numpy as np

from shoal.kernels.annealing.proposals import Proposals, draw_proposal, no_proposals


def test_cells_are_drawn_with_their_probabilities():
    cells = np.arange(8, dtype=np.int32).reshape(4, 2)
    proposals = Proposals(
        np.array([0, 3, 3, 4]), np.array([2, 0, 3, 1]),
        np.array([0.5, 0.7, 1.0, 1.0]), cells,
    )  # fmt: skip
    random, cell = np.array([12345], np.uint64), np.zeros(2, np.int32)
    drawn = np.zeros((3, 4))
    for x in range(3):
        for _ in range(20_000):
            if draw_proposal(proposals, random, x, cell):
                drawn[x, cell[0] // 2] += 1
    assert np.abs(drawn[0] / 20_000 - [0.2, 0.0, 0.5, 0.3]).max() < 0.02
    assert drawn[1].sum() == 0
    assert drawn[2].tolist() == [0, 20_000, 0, 0]


def test_nothing_is_written_without_proposals():
    cell = np.full(3, 7, np.int32)
    proposals = no_proposals(5, 3)
    assert not any(draw_proposal(proposals, np.ones(1, np.uint64), x, cell) for x in range(5))
    assert cell.tolist() == [7, 7, 7]
