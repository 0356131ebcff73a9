"""Notes: sentences on what the reader of a release or of an audit should know besides."""

from __future__ import annotations

import numpy as np

from shoal.base.errors import preview
from shoal.hierarchies.values import plain, text
from shoal.io.frames import Frame
from shoal.plan import Plan
from shoal.table.coded_columns import coded, coded_as_text
from shoal.table.coding import merged_note
from shoal.table.published_table import Published
from shoal.table.roles import columns_with_role


def without_person(frame: Frame, plan: Plan) -> list[str]:
    """Warn of records that do not say which person they belong to."""
    notes = []
    for name in columns_with_role(plan.columns, "person"):
        if name not in frame.names:
            counted = "each row counts as a person of its own, which overstates k if somebody has"
            if plan.columns[name].publish:
                notes.append(f"the table has no column {name!r}: {counted} several")
            else:
                notes.append(
                    f"the table has no column {name!r}, as the plan leaves it out: {counted} "
                    "several; people were counted when the release was made"
                )
        else:
            codes, _ = coded(frame, name, plan.missing_values)
            nobody = int((codes < 0).sum())
            if nobody:
                rows = "1 row has" if nobody == 1 else f"{nobody:,} rows have"
                notes.append(
                    f"{rows} no {name!r}: each counts as a person of its own, which "
                    "overstates k if several of them are one person's"
                )
    return notes


def merged_values(published: Published) -> list[str]:
    """Name the sensitive values of a table that were counted as one."""
    return [merged_note(one.name, one.spellings) for one in published.sensitive if one.spellings]


def persons_left_out(plan: Plan, keep_order: bool) -> list[str]:
    """Say if the release has no person numbers, and what may still reveal them."""
    notes = []
    for name in columns_with_role(plan.columns, "person"):
        if not plan.columns[name].publish:
            notes.append(
                f"the person numbers ({name!r}) are not in the release: people were counted by "
                "them, every promise was verified with them, and then they were left out"
            )
            if keep_order:
                notes.append(
                    "the rows stand in the order of the original: where the rows of a person "
                    "stood side by side they still do, which tells who has which rows as a number "
                    "would"
                )
    return notes


def identifiers(frame: Frame, plan: Plan) -> list[str]:
    """Warn of columns that should not be in a published table."""
    notes = []
    names = [name for name in columns_with_role(plan.columns, "identifier") if name in frame.names]
    if names:
        notes.append(f"the table holds the identifiers {preview(names)}: as it is, it names people")
    for name in columns_with_role(plan.columns, "person"):
        if name in frame.names and not plan.columns[name].publish:
            notes.append(f"the table holds {name!r}, which the plan leaves out of the release")
    return notes


def differences(release: Frame, original: Frame, plan: Plan) -> list[str]:
    """Say what else a release lacks or has, compared with its original."""
    missing = original.height - release.height
    if missing:
        return [f"{missing:,} rows of the original are not in the release; they count as lost"]
    notes = []
    for name in [
        *columns_with_role(plan.columns, "sensitive"),
        *columns_with_role(plan.columns, "other"),
    ]:
        if name in release.names and name in original.names:
            now, before = (
                _amounts(table, name, plan.missing_values) for table in (release, original)
            )
            if now != before:
                notes.append(f"column {name!r} holds other values than in the original")
    return notes


def _amounts(frame: Frame, name: str, missing_values: list[str]) -> dict[str, int]:
    """How often each value of a column occurs, whatever its type and the order of rows."""
    codes, values = coded_as_text(frame, name, missing_values)
    counts = np.bincount(codes + 1, minlength=len(values) + 1)
    amounts: dict[str, int] = {}
    for value, count in zip(["", *(plain(text(v)) for v in values)], counts, strict=True):
        amounts[value] = amounts.get(value, 0) + int(count)
    return {value: count for value, count in amounts.items() if count}
