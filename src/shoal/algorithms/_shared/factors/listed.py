"""Cells that may be useful to rows, and how many rows each would have if they could be fractions.

For large k: column generation finds few new groups at a time there, and takes too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any

import numpy as np

from shoal.algorithms._shared.cells import tight_cells
from shoal.algorithms._shared.factors.factor import Factor, People
from shoal.base.arrays import Floats, Ints, Longs
from shoal.kernels.matching.factor import Rows
from shoal.kernels.search.cells import Lattice

LOOKS = 4_000  # for each tuple, in the search for cells
FALLS = 3  # passes that find cells which records far from others share with many
PAUSE = 0.1  # seconds until Ctrl-C is handled


def candidates(
    people: People, lattice: Lattice, cost: Longs, level: Ints, report: Callable[[], None]
) -> Iterator[Ints]:
    """Cells that rows may be published as, int32[…, q]."""
    yield _at(lattice, level)
    cap = lattice.own[:, -1] - cost
    for _ in range(FALLS):
        fall, level, looks = tight_cells(
            lattice, people.size, cap, people.k, LOOKS * len(cap), report
        )
        if looks >= LOOKS * len(cap):
            return
        cap = cap - fall
    yield _at(lattice, level)[level[:, 0] >= 0]


def _at(lattice: Lattice, level: Ints) -> Ints:
    """The cells of the tuples at these levels."""
    columns = [
        lattice.climb[np.maximum(level[:, j], 0), lattice.start[j] + lattice.vector[:, j]]
        for j in range(level.shape[1])
    ]
    return np.stack(columns, axis=1)


def below(people: People, factor: Factor) -> Iterator[Ints]:
    """Each cell of a factor one step more specific in one column, towards each of its members."""
    wide, inside = factor.vector[factor.cell], people.tuples.vector[factor.tuple]
    for j, tree in enumerate(people.layout.shapes):
        node, top = inside[:, j].copy(), wide[:, j]
        while (up := (node != top) & (tree.parent[node] != top)).any():
            node[up] = tree.parent[node[up]]
        cells = wide.copy()
        cells[:, j] = node
        yield cells[node != top]


def rows_of_cells(rows: Rows, k: int, report: Callable[[], None]) -> Floats | None:
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
    solve = partial(
        linprog,
        np.concatenate([-rows.keeps / unit, np.zeros(pairs)]),
        A_ub=room,
        b_ub=np.zeros(pairs),
        A_eq=vstack([of_tuple, of_cell]),
        b_eq=np.concatenate([k * rows.size.astype(np.float64), np.zeros(m)]),
        method="highs-ipm",
    )
    found = _aside(solve, report)
    if found is None or found.status != 0 or found.x is None:
        return None
    return np.asarray(found.x[:m])


def _aside(solve: Callable[[], Any], report: Callable[[], None]) -> Any:
    """The result of a long call, or None if it fails; Ctrl-C does not wait for it."""
    found: list[Any] = []

    def work() -> None:
        with suppress(Exception):  # without a solution rows are searched in another way
            found.append(solve())

    thread = Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(PAUSE)
        report()
    return found[0] if found else None
