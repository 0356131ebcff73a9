"""The recodings of parts, put together."""

from __future__ import annotations

import numpy as np

from shoal.base.arrays import Ints, Longs
from shoal.hierarchies.free_values import Covers
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import SUPPRESSED, Recoding

NOTES = 3  # remarks on parts that are repeated


class Joined:
    """The recodings of parts, as one of the whole table."""

    def __init__(self, table: Table) -> None:
        self.covers = tuple(Covers(tree) for tree in table.trees)
        self.record = np.full(len(table.codes), SUPPRESSED, np.int64)
        self.vectors: list[Ints] = []
        self.notes: list[tuple[str, ...]] = []  # of each part
        self.many = 0  # vectors, also those that no record has any more

    def add_part(self, rows: Longs, found: Recoding) -> None:
        """Add the recoding of a part, which has these rows."""
        self.add(rows, found)
        self.notes.append(found.notes)

    def add(self, rows: Longs, found: Recoding) -> None:
        """Publish these rows so, whatever was published of them before."""
        vectors = found.vectors.copy()
        for j, covers in enumerate(found.covers):
            if len(covers):  # free values have codes of their own in every recoding
                mine = [self.covers[j].code(cover) for cover in covers.covers]
                code = np.append(np.arange(covers.tree.size), mine).astype(np.int32)
                vectors[:, j] = code[vectors[:, j]]
        there = found.record != SUPPRESSED
        self.record[rows] = np.where(there, found.record + self.many, SUPPRESSED)
        self.vectors.append(vectors)
        self.many += len(vectors)

    def recoding(self) -> Recoding:
        """The whole; classes of several parts with the same published values are one class."""
        there = self.record != SUPPRESSED
        used, label = np.unique(self.record[there], return_inverse=True)
        vectors = np.ascontiguousarray(np.concatenate(self.vectors)[used])
        same = tally(vectors)
        record = self.record.copy()
        record[there] = same.label[label]
        return Recoding(
            vectors[same.first], record, self.covers, self._noted(), parts=len(self.notes)
        )

    def _noted(self) -> tuple[str, ...]:
        """The first remarks on parts."""
        parts = len(self.notes)
        have = [(part, note) for part, notes in enumerate(self.notes) for note in notes]
        said = [f"part {part + 1} of {parts}: {note}" for part, note in have[:NOTES]]
        more = len(have) - NOTES
        return (*said, f"and {more} more such remarks on parts") if more > 0 else tuple(said)
