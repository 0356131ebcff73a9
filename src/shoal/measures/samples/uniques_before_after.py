"""Special uniques of an original and of its release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb
from typing import Any

from shoal.base.arrays import Ints
from shoal.base.progress import Progress, silent
from shoal.kernels.group import group_rows
from shoal.measures.samples.special_uniques import SpecialUniques, special_uniques
from shoal.table.encode import Table
from shoal.table.published_table import Published

SIZE = 3  # columns that are looked at together: few are easy to know
WORK = 100_000_000  # rows times sets of columns, from which on fewer columns are


@dataclass(frozen=True)
class UniquesBeforeAfter:
    """The minimal sample uniques of the original and of its release, up to the same size."""

    before: SpecialUniques
    after: SpecialUniques | None  # None: no record of the release is unique on any columns

    def as_dict(self) -> dict[str, Any]:
        """The numbers of the JSON file."""
        after = None if self.after is None else self.after.as_dict()
        return {"original": self.before.as_dict(), "release": after}


def uniques_before_after(
    table: Table, release: Published, fraction: float, progress: Progress = silent
) -> UniquesBeforeAfter | None:
    """Find both, with a sampling fraction for the DIS scores; None: not all records are at hand."""
    if table.weight is not None or (release.weight is not None and release.unit is None):
        return None
    published = release.codes if release.unit is None else release.codes[release.unit]
    most = _size(*table.codes.shape)

    def found(codes: Ints, report: Callable[[float], None]) -> SpecialUniques:
        return special_uniques(table.names, codes, most, fraction, report)

    progress("singling out", 0.0)
    before = found(table.codes, lambda share: progress("singling out", share / 2))
    # A record that is unique on some columns is unique on all of them.
    if not (group_rows(published)[2] == 1).any():
        return UniquesBeforeAfter(before, None)
    after = found(published, lambda share: progress("singling out", (1 + share) / 2))
    return UniquesBeforeAfter(before, after)


def _size(rows: int, columns: int) -> int:
    """How many columns are looked at together: fewer in a large table."""
    sizes = range(1, min(SIZE, columns) + 1)
    work = [sum(comb(columns, m) for m in range(1, size + 1)) * rows for size in sizes]
    return max([1, *(size for size, many in zip(sizes, work, strict=True) if many <= WORK)])
