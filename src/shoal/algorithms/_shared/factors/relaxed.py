"""Which cells the best rows would have if numbers of rows could be fractions."""

from __future__ import annotations

import numpy as np

from shoal.base.arrays import Floats
from shoal.kernels.matching.factor import Rows


def relaxed_rows(rows: Rows, k: int) -> Floats | None:
    """The rows of each cell in an optimum of the linear program, float64[cells]; None: not found.

    It has a number of rows for each cell, and the memberships of each pair of a tuple and a cell
    that covers it: all those that a tuple has and a cell takes, none of them more often in a cell
    than the tuple has records and the cell has rows. It keeps at least as much as any whole
    numbers would.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, vstack

    n, m, pairs = len(rows.size), len(rows.many), len(rows.units)
    each, cells, ones = m + np.arange(pairs), np.arange(m), np.ones(pairs)
    shape = m + pairs  # numbers of rows first
    of_tuple = csr_array((ones, (rows.tuple, each)), shape=(n, shape))
    of_cell = csr_array(
        (
            np.concatenate([ones, np.full(m, -float(k))]),
            (np.concatenate([rows.cell, cells]), np.concatenate([each, cells])),
        ),
        shape=(m, shape),
    )
    own = np.arange(pairs)
    room = csr_array(
        (
            np.concatenate([ones, -rows.size[rows.tuple].astype(np.float64)]),
            (np.concatenate([own, own]), np.concatenate([each, rows.cell])),
        ),
        shape=(pairs, shape),
    )
    unit = max(1.0, float(rows.keeps.max(initial=1)))
    found = linprog(
        np.concatenate([-rows.keeps / unit, np.zeros(pairs)]),
        A_ub=room,
        b_ub=np.zeros(pairs),
        A_eq=vstack([of_tuple, of_cell]),
        b_eq=np.concatenate([k * rows.size.astype(np.float64), np.zeros(m)]),
        method="highs-ipm",
    )
    if found.x is None:
        return None
    return np.asarray(found.x[:m])
