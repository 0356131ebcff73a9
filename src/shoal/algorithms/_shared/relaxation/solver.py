"""The exact optimum of a small master program, by HiGHS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.algorithms._shared.relaxation.columns import Columns
from shoal.base.arrays import Floats, Longs

MOST_STEPS = 200_000  # of the simplex method; counted, so that results are the same everywhere
OPTIMAL = 0  # the status of scipy


class Solved(NamedTuple):
    """The optimum of a master program."""

    price: Floats  # float64[tuples]
    weight: Floats  # float64[groups]


def is_installed() -> bool:
    """Whether the solver can be used."""
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        return False
    return True


def solve_exactly(
    columns: Columns, size: Longs, unit: float, low: Floats, high: Floats
) -> Solved | None:
    """The prices from `low` to `high` that cost least and pay for all groups, and their weights.

    None if the solver is not installed, or has failed.
    """
    if not len(columns):
        return Solved(low.copy(), np.zeros(0))
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix
    except ImportError:
        return None
    groups = columns.groups
    share = groups.times / columns.k
    matrix = csr_matrix((-share, groups.member, groups.start), shape=(len(groups), len(size)))
    found = linprog(
        size.astype(np.float64),
        A_ub=matrix,
        b_ub=-groups.keeps / unit,
        bounds=np.stack([low / unit, high / unit], axis=1),
        method="highs",
        options={"maxiter": MOST_STEPS},
    )
    if found.status != OPTIMAL:
        return None
    return Solved(found.x * unit, np.maximum(-found.ineqlin.marginals, 0.0))
