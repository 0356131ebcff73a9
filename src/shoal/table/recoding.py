"""Recoding: the result of an algorithm, and how it becomes a frame again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Ints, Longs
from shoal.base.errors import ShoalError
from shoal.base.threads import in_threads
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.hierarchies.tree import Tree, label_array
from shoal.io.frames import Frame
from shoal.kernels.group import number_codes
from shoal.table.coded_columns import person_codes, person_numbers
from shoal.table.encode import Table
from shoal.table.roles import (
    Column,
    columns_with_role,
    linking_columns,
    missing_words,
    not_published,
)
from shoal.table.written.microaggregation import class_numbers

# In the note of an algorithm that stopped by the clock: even with a seed it is not reproducible.
MAY_DIFFER = "another run may find other classes"
NOT_USED = (
    "improving the classes did not lower the loss of the release, which has to satisfy more than "
    "their size; the classes without that are used"
)
SUPPRESSED = -1
FEW = 1_000  # rows


@dataclass(frozen=True, eq=False)
class Recoding:
    """The distinct published vectors, and the vector of each record (-1: suppressed)."""

    vectors: Ints  # int32[vectors, q], nodes of the trees, or free values
    record: Longs  # int64[n]
    covers: tuple[Covers, ...] = ()  # the free values, whose codes follow those of the nodes
    notes: tuple[str, ...] = ()  # remarks on how it was found
    levels: tuple[int, ...] = ()  # of each column, if it is the same for all records
    parts: int = 1  # into which the table was cut, each recoded by itself

    @property
    def suppressed(self) -> int:
        """Records that are not published."""
        return int((self.record == SUPPRESSED).sum())

    def suppressed_of(self, table: Table) -> int:
        """Records of a table that are not published, if its rows may stand for several."""
        if table.weight is None:
            return self.suppressed
        return int(table.weight[self.record == SUPPRESSED].sum())

    def codes(self) -> Ints:
        """The published codes of each record, int32[n, q]; a suppressed record is all roots."""
        codes = self.vectors[self.record]
        codes[self.record == SUPPRESSED] = 0
        return codes

    def column(self, j: int) -> Ints:
        """The published codes of one column, int32[n]; a suppressed record has the root."""
        root = np.zeros(1, self.vectors.dtype)  # the last one, where SUPPRESSED points to
        published: Ints = np.append(self.vectors[:, j], root)[self.record]
        return published


def check_covers(table: Table, recoding: Recoding) -> None:
    """Raise an error unless every published value covers its original, also by its label."""

    def check(j: int) -> None:
        tree = table.trees[j]
        wide, narrow = recoding.column(j), table.codes[:, j]
        sound = True
        if recoding.vectors[:, j].max(initial=0) >= tree.size:
            free = wide >= tree.size
            sound = _free_covers(recoding.covers[j], wide[free], narrow[free])
            wide, narrow = wide[~free], narrow[~free]
        sound = sound and _reads(tree, recoding, j)
        if not sound or not ((wide <= narrow) & (narrow < tree.end[wide])).all():
            raise ShoalError(
                f"column {table.names[j]!r}: a published value does not cover its original; "
                "this is a bug in the algorithm, and nothing is released"
            )

    in_threads(check, range(len(table.trees)))


def _reads(tree: Tree, recoding: Recoding, j: int) -> bool:
    """Whether the labels of all free values of a column state what they cover."""
    if not isinstance(tree, FreeTree):
        return True
    used = np.unique(recoding.vectors[recoding.record[recoding.record != SUPPRESSED], j]).tolist()
    return all(
        tree.reads(code if code < tree.size else recoding.covers[j].covers[code - tree.size])
        for code in used
    )


def _free_covers(covers: Covers, wide: Ints, narrow: Ints) -> bool:
    """Whether every free value covers its original."""
    size = covers.tree.size
    pairs = np.unique((wide.astype(np.int64) - size) * size + narrow)
    start, leaf = covers.lists()
    held = np.repeat(np.arange(len(covers)), np.diff(start)) * size + leaf
    return bool(np.isin(pairs, held).all())


class Decoded(NamedTuple):
    """The frame that would be published."""

    frame: Frame
    people: Longs | None  # int64[published], the person of each record; None: the frame has it
    rows: Longs  # int64[published], the record of the table that each row was
    households: Longs | None = None  # the same for households, if members are generalized apart


def decode(
    frame: Frame,
    columns: dict[str, Column],
    table: Table,
    recoding: Recoding,
    rng: np.random.Generator,
    keep_order: bool = False,
    missing_values: Sequence[str] = (),
) -> Decoded:
    """Turn a recoding into the frame that would be published.

    No number of a person is one of the `missing_values`: its records would be several people.
    """
    check_covers(table, recoding)
    rows = np.flatnonzero(recoding.record != SUPPRESSED)
    if not keep_order:
        rng.shuffle(rows)
    replaced: dict[str, pa.Array] = {}
    vector = recoding.record[rows]  # int64[published rows]

    def labelled(j: int) -> pa.Array | None:
        name = table.names[j]
        if columns[name].microaggregate is not None:
            words = missing_words(columns, name, missing_values)
            numbers = class_numbers(frame, columns, name, words, recoding.record)
            return numbers.take(pa.array(vector))
        faithful = table.exact[j] and frame.faithful(table.names[j])
        published = recoding.vectors[:, j].astype(np.int32)[vector]
        if faithful and _same(published, table.codes[:, j], rows):
            return None  # unchanged
        covers = recoding.covers[j] if recoding.covers else None
        own = table.trees[j].labels
        labels = label_array(covers.labels() if covers is not None and len(covers) else own)
        if frame.counted is not None:
            return _packed(published, labels.cast(pa.string()))
        return labels.cast(pa.string()).take(pa.array(published))

    for name, made in zip(table.names, in_threads(labelled, range(len(table.names))), strict=True):
        if made is not None:
            replaced[name] = made
    people = None
    links = linking_columns(columns)
    for name in dict.fromkeys([*links, *columns_with_role(columns, "person")]):
        # Random numbers, the same for all records of a person, with no other information.
        words = missing_words(columns, name, missing_values)
        number = table.people if name in links else person_codes(frame, name, words)
        assert number is not None
        drawn = rng.permutation(int(number.max()) + 1)[number[rows]]
        if columns[name].publish:
            replaced[name] = pa.array(person_numbers(drawn, words))
        elif name in links:
            people = np.unique(drawn, return_inverse=True)[1].astype(np.int64)
    homes = None
    for one in table.sensitive:
        if one.is_household:
            homes = np.unique(one.codes[rows], return_inverse=True)[1].astype(np.int64)
    made = frame.rebuild(rows, replaced, drop=not_published(columns))
    return Decoded(made, people, rows, homes)


def _packed(published: Ints, labels: pa.Array) -> pa.DictionaryArray:
    """Labels as a dictionary of those in use; a label that is null is a missing cell."""
    code = np.where(labels.is_valid().to_numpy(zero_copy_only=False), np.arange(len(labels)), -1)
    number, used = number_codes(code.astype(np.int32)[published], len(labels))
    indices = pa.array(number, mask=number < 0)
    return pa.DictionaryArray.from_arrays(indices, labels.take(pa.array(used)))


def _same(published: Ints, original: Ints, rows: Longs) -> bool:
    """Whether these rows are published unchanged; that most columns are not shows at once."""
    return all(
        np.array_equal(published[some], original[rows[some]])
        for some in (slice(0, FEW), slice(FEW, None))
    )
