"""What is kept of a run for the page Look, written when the run ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.base.arrays import Floats, Ints
from shoal.flow.release import Release
from shoal.io.frames import Frame
from shoal.measures.analyses.variables import Tables
from shoal.measures.breakdowns.cell_losses import CellLosses, cell_losses
from shoal.measures.breakdowns.distributions import distributions
from shoal.measures.breakdowns.lossy_classes import class_numbers, lossy_classes
from shoal.measures.key_sets import View, views
from shoal.plan import Plan
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.tasks.look._files import (
    AFTER,
    BEFORE,
    CELLS,
    CLASS,
    LOSS,
    LOST,
    PERSON,
    PLACE,
    SUMMARY,
    write_table,
)
from shoal.studio.tasks.look._reasons import keep_reasons
from shoal.table.recoding import SUPPRESSED
from shoal.table.roles import not_published
from shoal.table.written.ranges import bound_names, range_columns

WORST = 20  # classes that lose most


@dataclass(frozen=True)
class LookColumn:
    """A column of the original: its role, and what becomes of it."""

    name: str
    role: str
    published: bool
    quasi: int | None  # its number among the quasi-identifiers; None: it is none
    written: tuple[str, ...]  # the columns of the file, if it has other ones


def keep_look(release: Release, folder: Path) -> None:
    """Write the files of a run; a release whose records are not in memory has no rows."""
    place = PrivateFolder(folder)
    tables = release.tables
    assert tables is not None
    assert tables.recoding is not None
    lost = cell_losses(tables.original, tables.recoding, release.plan.loss)
    summary = _summary(release, tables, lost)
    if release.frame is not None:
        assert tables.before is not None
        assert tables.after is not None
        write_table(place, BEFORE, _columns(tables.before))
        write_table(place, AFTER, _columns(tables.after))
        write_table(place, CELLS, _cells(release, tables, lost))
        keep_reasons(release, place)
    place.write_json(SUMMARY, summary)  # the last one: then the others are complete


def look_columns(plan: Plan, names: Sequence[str], quasi: Sequence[str]) -> list[LookColumn]:
    """The columns of a table, those that are published first."""
    dropped = not_published(plan.columns)
    number = {name: j for j, name in enumerate(quasi)}
    ranges = range_columns(plan.columns) if plan.write.ranges != "label" else []
    bounds = plan.write.ranges == "bounds"
    found = []
    for name in sorted(names, key=lambda one: one in dropped):
        role = plan.columns[name].role
        written = bound_names(name)[:2] if bounds else ["midpoint"]
        found.append(
            LookColumn(
                name, role, name not in dropped, number.get(name),
                tuple(written) if name in ranges else (),
            )
        )  # fmt: skip
    return found


def _columns(frame: Frame) -> pa.Table:
    """The cells of a frame; texts stay dictionaries, and nothing is copied."""
    return pa.table({name: frame.stored(name) for name in frame.names})


def _cells(release: Release, tables: Tables, lost: CellLosses) -> pa.Table:
    """What is known of each record of the original, in their order."""
    original = tables.original
    rows = len(original.codes)
    assert tables.taken is not None
    place = np.full(rows, SUPPRESSED, np.int32)  # the row of the release that each became
    place[tables.taken] = np.arange(len(tables.taken))
    found: dict[str, Any] = {PLACE: place, LOSS: lost.records}
    if original.people is not None:
        found[PERSON] = original.people.astype(np.int32)
    if not release.after.linked:
        for i, view in enumerate(views(release.seen, release.plan.attackers)):
            found[f"{CLASS}{i}"] = _class_of_row(view, place)
    for j, share in enumerate(lost.columns):
        found[f"{LOST}{j}"] = in_percent(share)
    return pa.table(found)


def _class_of_row(view: View, place: Ints) -> Ints:
    """The number of the class of each record, counted from the smallest; 0: it is suppressed."""
    number = class_numbers(view.published)[view.published.class_of_row].astype(np.int32)
    return np.append(number, np.int32(0))[place]  # the last one, where SUPPRESSED points to


def in_percent(share: Floats) -> npt.NDArray[np.uint8]:
    """Shares in whole percent; 0 and 100 are only those that have lost nothing, or everything.

    >>> in_percent(np.array([0, 0.001, 0.5, 0.999, 1])).tolist()
    [0, 1, 50, 99, 100]
    """
    percent = np.clip(np.rint(100.0 * share), 1, 99).astype(np.uint8)
    percent[share <= 0] = 0
    percent[share >= 1] = 100
    return percent


def _summary(release: Release, tables: Tables, lost: CellLosses) -> dict[str, Any]:
    """What the page shows of the whole table."""
    plan, quasi = release.plan, tables.original.names
    seen_by = [] if release.after.linked else views(release.seen, plan.attackers)
    rows = tables.taken
    assert rows is not None
    weight = tables.original.weight
    has_rows = release.frame is not None and tables.before is not None
    names = tables.before.names if has_rows and tables.before is not None else list(plan.columns)
    return {
        "rows": release.rows,
        "has_rows": has_rows,
        "loss": plan.loss.name,
        "columns": [asdict(one) for one in look_columns(plan, names, quasi)],
        "losses": dict(release.quality.columns),
        "distributions": [asdict(one) for one in distributions(tables)],
        "attackers": [
            {
                "name": view.attacker,
                "classes": len(view.published.classes),
                "worst": [
                    asdict(one)
                    for one in lossy_classes(
                        view.published,
                        lost.records[rows],
                        None if weight is None else weight[rows],
                        WORST,
                    )
                ],
            }
            for view in seen_by
        ],
        "most": _most_exposed(release),
    }


def _most_exposed(release: Release) -> int:
    """The place of the attacker who learns most."""
    named = list(release.attackers.values())
    return next((i for i, one in enumerate(named) if one is release.after), 0)
