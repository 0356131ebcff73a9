"""Fitted: the published vectors of a release, to be applied to new rows of the same kind."""

from __future__ import annotations

from collections.abc import Sequence
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
from shoal.measures.information_loss import kept
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.recoding import SUPPRESSED, Recoding
from shoal.table.roles import columns_with_role


@dataclass(frozen=True, eq=False)
class Fitted:
    """A plan and the vectors that a release publishes, those that lose least first.

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

    plan: Plan  # without its seed, and with hierarchies that need no file
    vectors: tuple[Vector, ...]
    order: tuple[str, ...] = ()  # of the columns in the release; those of the plan if it is empty

    @staticmethod
    def of(plan: Plan, table: Table, recoding: Recoding, order: Sequence[str] = ()) -> Fitted:
        """What a recoding publishes, with its columns in this order.

        Of vectors that cover the same row the first one is taken. What a row loses is what it
        kept less what the vector keeps, so the vectors that keep most come first, whatever the
        row; of those that keep the same the first by the alphabet.
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

        It holds the plan without its seed, what is published, and whole hierarchies, also their
        values that are not published. It is for internal use, not for publication.
        """
        recoding_file.write(recoding_file.Content(self.plan, self.vectors, self.order), path)

    @staticmethod
    def load(path: str | Path) -> Fitted:
        """Read the file that `save` wrote."""
        return Fitted(*recoding_file.read(path))

    def apply(
        self,
        table: Any,
        *,
        seed: int | None = None,
        keep_order: bool | None = None,
        drop_extra: bool = False,
        most_left_out: float | None = None,
        progress: Progress = silent,
    ) -> Release:
        """Publish new rows by the vectors that are there, and verify the requirements on them.

        A row gets the vector that covers it and loses least; all rows of a person get the same
        one. Where its class would violate a requirement in this table it gets the next one that
        covers it. What no class covers is suppressed. An error if nothing is left, or if more than
        the share `most_left_out` of the rows is suppressed. Columns stand as in the release that
        the recoding was made with; `drop_extra` leaves out those that it did not have.
        """
        return apply(self, table, seed, keep_order, drop_extra, most_left_out, progress)
