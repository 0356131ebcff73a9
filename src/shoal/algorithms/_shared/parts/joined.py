"""The recodings of parts, put together."""

from __future__ import annotations

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.hierarchies.free_values import Covers
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import SUPPRESSED, Recoding

NOTES = 3  # parts whose remarks are noted


class Joined:
    """The recodings of parts, as one of the whole table."""

    def __init__(self, table: Table) -> None:
        self.covers = tuple(Covers(tree) for tree in table.trees)
        self.record = np.full(len(table.codes), SUPPRESSED, np.int64)
        self.vectors: list[Ints] = []
        self.notes: list[tuple[str, ...]] = []
        self.many = 0

    def add(self, rows: Longs, found: Recoding) -> None:
        """Add the recoding of these rows."""
        vectors = found.vectors.copy()
        for j, covers in enumerate(found.covers):
            size = covers.tree.size
            if len(covers):
                own = [*range(size), *(self.covers[j].code(cover) for cover in covers.covers)]
                vectors[:, j] = np.array(own, np.int32)[vectors[:, j]]
        there = found.record != SUPPRESSED
        self.record[rows[there]] = found.record[there] + self.many
        self.vectors.append(vectors)
        self.notes.append(found.notes)
        self.many += len(vectors)

    def recoding(self) -> Recoding:
        """The whole; classes of several parts with the same published values are one class."""
        vectors = np.concatenate(self.vectors)
        there = self.record != SUPPRESSED
        used, record = np.unique(self.record[there], return_inverse=True)
        vectors = np.ascontiguousarray(vectors[used])
        same = tally(vectors)
        whole = self.record.copy()
        whole[there] = same.label[record]
        return Recoding(
            vectors[same.first], whole, self.covers, self._noted(), parts=len(self.vectors)
        )

    def _noted(self) -> tuple[str, ...]:
        """The remarks of the first parts that have some."""
        parts = len(self.notes)
        have = [(part, note) for part, notes in enumerate(self.notes) for note in notes]
        said = [f"part {part + 1} of {parts}: {note}" for part, note in have[:NOTES]]
        more = len(have) - NOTES
        return (*said, f"and {more} more such remarks on parts") if more > 0 else tuple(said)
