"""The first look at a large table: what some of its records say, until all of them are counted."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from shoal.base.errors import ShoalError
from shoal.flow.draft.draft import examine
from shoal.flow.draft.spellings import Stated
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.plan import Plan
from shoal.studio.tasks._columns import ColumnView, view_of

LARGE = 500_000  # cells of a table that takes longer to examine than anybody wants to wait
TIMES = 10  # how many times as many records it has as are looked at
PLACES, BLOCK = 100, 20  # from how many places of the table, and how many records of each


@dataclass(frozen=True)
class FirstLook:
    """What a page can show of a table that was read and not examined yet."""

    rows: int  # of the whole table
    seen: int  # records that the columns were looked at in
    columns: tuple[ColumnView, ...]
    roles: Mapping[str, str]  # of a plan, or proposed by these records


def is_large(frame: Frame) -> bool:
    """Whether it takes so long to examine a table that a look at some records is worth it."""
    cells = frame.height * len(frame.names)
    return cells >= LARGE and frame.height >= TIMES * PLACES * BLOCK


def first_look(
    frame: Frame, read: Reading, dictionary: str | None, stated: Stated, plan: Plan | None
) -> FirstLook | None:
    """The columns of a large table, by records from all of its parts; None: there is no need."""
    if frame.kind != "arrow" or not is_large(frame):
        return None
    some = Frame(_some(frame.native))
    with suppress(ShoalError):  # the same of the whole table is the one to show
        found = examine(some, dictionary, read, stated=stated, tried=False)
        roles = {name: guess.role for name, guess in found.guesses.items()}
        if plan is not None:
            roles |= {name: one.role for name, one in plan.columns.items() if name in roles}
        views = tuple(view_of(found, name) for name in found.frame.names)
        return FirstLook(frame.height, some.height, views, roles)
    return None


def _some(table: pa.Table) -> pa.Table:
    """Short blocks of records that are as far apart as possible: slices copy next to nothing."""
    many = max(1, min(PLACES, table.num_rows // BLOCK))
    step = (table.num_rows - BLOCK) // max(many - 1, 1)
    return pa.concat_tables([table.slice(i * step, BLOCK) for i in range(many)]).combine_chunks()
