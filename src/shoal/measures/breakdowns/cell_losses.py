"""Cell losses: the share of its information that each cell and each record has lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.base.arrays import Floats
from shoal.losses import Loss
from shoal.measures.information_loss import kept
from shoal.table.encode import Table
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class CellLosses:
    """What a recoding has lost, by a loss: shares from 0 (unchanged) to 1 (suppressed)."""

    columns: tuple[Floats, ...]  # per quasi-identifier, float32[n]
    records: Floats  # float32[n], of all quasi-identifiers together


def cell_losses(table: Table, recoding: Recoding, loss: Loss) -> CellLosses:
    """Compare what the published values keep with what the original ones kept.

    An original value that says nothing has nothing to lose.
    """
    columns = []
    possible, now = np.zeros(len(table.codes)), np.zeros(len(table.codes))
    for j, keeps in enumerate(kept(table, loss, recoding.covers)):
        own, published = keeps[table.codes[:, j]], keeps[recoding.column(j)]
        columns.append(_shares(own, published))
        possible += own
        now += published
    return CellLosses(tuple(columns), _shares(possible, now))


def _shares(possible: Floats, now: Floats) -> Floats:
    share = np.divide(possible - now, possible, out=np.zeros(len(now)), where=possible > 0)
    return np.clip(share, 0.0, 1.0).astype(np.float32)
