"""Fitted: the published vectors of a release, to be applied to new rows of the same kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.base.progress import Progress, silent
from shoal.flow.apply import recoding_file
from shoal.flow.apply.apply import apply
from shoal.flow.apply.labels import Vector
from shoal.flow.apply.portable_plan import portable
from shoal.flow.release import Release
from shoal.io.reading import Reading
from shoal.measures.information_loss import kept
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding
from shoal.table.roles import columns_with_role


@dataclass(frozen=True, eq=False)
class Fitted:
    """A plan and the published vectors of a release, the least general first.

    >>> import pyarrow as pa, shoal
    >>> plan = Plan(
    ...     columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}},
    ...     models=[{"name": "k-anonymity", "k": 2}],
    ... )
    >>> fitted = shoal.anonymize(pa.table({"age": [31, 38, 52, 57]}), plan).recoding
    >>> fitted
    Fitted(2 vectors of 1 quasi-identifier)
    >>> fitted.apply(pa.table({"age": [33, 39, 71]})).frame["age"].to_pylist()
    ['[30, 40)', '[30, 40)']
    """

    plan: Plan  # without a seed, and with hierarchies that need no file
    vectors: tuple[Vector, ...]
    order: tuple[str, ...] = ()  # of the columns in the release; empty: that of the plan

    @staticmethod
    def of(plan: Plan, table: Table, recoding: Recoding, order: Sequence[str] = ()) -> Fitted:
        """The published vectors of a recoding, with its columns in this order.

        A new record gets the first vector that covers it, so the vectors that preserve most come
        first; among equals the order is alphabetical.
        """
        used = recoding.vectors[np.unique(recoding.record[recoding.record != SUPPRESSED])]
        worth = kept(table, plan.loss, recoding.covers)
        most = sum(float(one.max()) for one in worth) or 1.0
        keeps = sum((one[used[:, j]] for j, one in enumerate(worth)), np.zeros(len(used)))
        labels = [
            recoding.covers[j].labels() if recoding.covers else list(tree.labels)
            for j, tree in enumerate(table.trees)
        ]
        vectors = [tuple(labels[j][code] for j, code in enumerate(vector)) for vector in used]
        # Sums in floating point differ in their last digits: those must not break a tie.
        rank = {
            vector: (-round(keep / most, 12), [(label is None, label or "") for label in vector])
            for vector, keep in zip(vectors, keeps.tolist(), strict=True)
        }
        trees = dict(zip(table.names, table.trees, strict=True))
        best = tuple(sorted(rank, key=rank.__getitem__))
        return Fitted(portable(plan, trees), best, tuple(order))

    def __repr__(self) -> str:
        columns = len(self.names)
        some_columns = "1 quasi-identifier" if columns == 1 else f"{columns} quasi-identifiers"
        return f"Fitted({len(self.vectors):,} vectors of {some_columns})"

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return columns_with_role(self.plan.columns, "quasi")

    def save(self, path: str | Path) -> None:
        """Write a JSON file from which `load` makes the same again.

        It contains the plan without its seed, the published vectors, and whole hierarchies, also
        values that are not published. It is for internal use, not for publication.
        """
        recoding_file.write(recoding_file.Content(self.plan, self.vectors, self.order), path)

    @staticmethod
    def load(path: str | Path) -> Fitted:
        """Read a file that `save` wrote."""
        return Fitted(*recoding_file.read(path))

    def apply(
        self,
        table: Any,
        *,
        read: Reading | Mapping[str, Any] | None = None,
        seed: int | None = None,
        keep_order: bool | None = None,
        drop_extra: bool = False,
        most_left_out: float | None = None,
        progress: Progress = silent,
    ) -> Release:
        """Publish new records with these vectors, and verify the requirements on them.

        A record gets the least general vector that covers it; all records of a person get the
        same one. If its class would violate a requirement in this table, it gets the next vector
        that covers it. Records that no class covers are suppressed. Raises an error if nothing is
        left, or if more than the share `most_left_out` of the records is suppressed. Columns are
        in the order of the release that the recoding was made with; `drop_extra` drops columns
        that it did not have. `read` says how the file is read where that differs from the plan.
        """
        return apply(self, table, read, seed, keep_order, drop_extra, most_left_out, progress)
