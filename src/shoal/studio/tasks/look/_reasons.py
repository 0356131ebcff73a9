"""Why rows are as they are, and what attackers see of them: from the release, or from its files.

A process that was started after the run has only the files. With the original, the recoding and the
seed, everything is explained as by the process that made the release.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Longs
from shoal.base.errors import ShoalError
from shoal.flow.explain import Explainer
from shoal.flow.release import Release
from shoal.hierarchies.free_values import Covers
from shoal.io.frames import Frame
from shoal.measures.analyses.variables import Tables
from shoal.measures.breakdowns.view_source import ViewSource
from shoal.measures.explanation import Explains
from shoal.measures.key_sets import views
from shoal.measures.record_counts import required_class_size
from shoal.plan import Plan
from shoal.studio.private_folder import PrivateFolder, private
from shoal.studio.runs.run import PLAN, SEED
from shoal.studio.tasks.look._files import AFTER, BEFORE, CELLS, PLACE, mapped
from shoal.studio.tasks.preview import plain
from shoal.table.encode import Table, encode
from shoal.table.published_table import Published, read_published
from shoal.table.recoding import Recoding
from shoal.table.roles import linking_columns

RECODING = "recoding.npz"


@dataclass(frozen=True, eq=False)
class Reasons:
    """What explains the rows of a release."""

    explainer: Explains
    sources: Sequence[ViewSource]  # one per attacker; none without classes
    models: int  # for each of which a run is repeated

    @staticmethod
    def of_release(release: Release) -> Reasons | None:
        """From the release itself; None: no algorithm ran."""
        if release.explainer is None or release.tables is None:
            return None
        return _reasons(release.plan, release.seen, release.tables, release.explainer)

    @staticmethod
    def of_files(folder: Path) -> Reasons | None:
        """From the files of a run; None: they do not say how it was made."""
        try:
            stored = json.loads((folder / SEED).read_bytes())
            arrays = np.load(folder / RECODING, allow_pickle=False)
            vectors, record = arrays["vectors"], arrays["record"].astype(np.int64)
            plan = plain(Plan.load(folder / PLAN))
        except (OSError, ValueError, KeyError, ShoalError):
            return None
        before, after = Frame(mapped(folder / BEFORE)), Frame(mapped(folder / AFTER))
        original = encode(before, plan.columns, plan.missing, plan.missing_values)
        covers = _covers(original, stored["covers"])
        recoding = Recoding(vectors, record, covers, levels=tuple(stored["levels"]))
        taken = _taken(mapped(folder / CELLS))
        published = _published(plan, original, after, taken)
        tables = Tables.of_release(
            plan.columns, plan.missing_values, original, published, (before, after), recoding, taken
        )
        explainer = Explainer(plan, original, recoding, stored["seed"], stored["seconds"])
        return _reasons(plan, published, tables, explainer)


def keep_reasons(release: Release, folder: PrivateFolder) -> None:
    """Keep what a later process needs to explain the rows; nothing if no algorithm ran."""
    made = release.explainer
    if not isinstance(made, Explainer):
        return
    recoding = made.recoding
    folder.write(PLAN, made.plan.inlined().to_toml().encode())
    with private(folder.inside(RECODING)) as file:
        np.savez(file, vectors=recoding.vectors, record=recoding.record.astype(np.int32))
    folder.write_json(
        SEED,
        {
            "seed": made.seed,
            "seconds": made.seconds,
            "levels": list(recoding.levels),
            "covers": [one.covers for one in recoding.covers],
        },
    )


def _reasons(plan: Plan, seen: Published, tables: Tables, explainer: Explains) -> Reasons:
    if plan.linked:
        return Reasons(explainer, (), len(plan.models))
    required = required_class_size(plan.models)
    sources = [
        ViewSource(view.published, required, tables, attacker=view.attacker)
        for view in views(seen, plan.attackers)
    ]
    return Reasons(explainer, sources, len(plan.models))


def _covers(table: Table, stored: list[list[list[int]]]) -> tuple[Covers, ...]:
    """The free values of each column, with the codes that they had."""
    found = []
    for tree, covers in zip(table.trees, stored, strict=False):
        one = Covers(tree)
        for cover in covers:
            one.code(tuple(cover))
        found.append(one)
    return tuple(found)


def _taken(cells: pa.Table) -> Longs:
    """The row of the original that each row of the release was, int64[published]."""
    place: Any = cells[PLACE].to_numpy()
    rows = np.flatnonzero(place >= 0)
    return rows[np.argsort(place[rows])]


def _published(plan: Plan, original: Table, after: Frame, taken: Longs) -> Published:
    people = None
    names = linking_columns(plan.columns)
    if original.people is not None and not any(name in after.names for name in names):
        people = np.unique(original.people[taken], return_inverse=True)[1].astype(np.int64)
    home = next((one for one in original.sensitive if one.is_household), None)
    homes = None if home is None else home.take(taken).codes.astype(np.int64)
    found = read_published(after, plan.columns, plan.missing_values, people, homes)
    return found if plan.linked else found.together()
