"""The files of a run for the page Look: they are read page by page, also after a restart.

They contain original records, so that they are in a folder of their own, which is removed with the
other copies when the studio ends.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.base.errors import ShoalError
from shoal.studio.private_folder import PrivateFolder, private

BEFORE, AFTER, CELLS, SUMMARY = "before.arrow", "after.arrow", "cells.arrow", "summary.json"
# Columns of the cells, one row per record of the original:
PLACE = "place"  # the row of the release that it became; -1: it is suppressed
LOSS = "loss"  # the share of its information that is lost
PERSON = "person"  # the number of its person, from 0; not there: each record is one person
CLASS = "class"  # with the number of an attacker: its class, from 1; 0: it is suppressed
LOST = "lost"  # with the number of a quasi-identifier: what is lost of the cell, in percent


def write_table(folder: PrivateFolder, name: str, table: pa.Table) -> None:
    """Write a table to a file that only its owner can read."""
    options = pa.ipc.IpcWriteOptions(unify_dictionaries=True)
    with (
        private(folder.inside(name)) as file,
        pa.ipc.new_file(file, table.schema, options=options) as writer,
    ):
        writer.write_table(table)


def mapped(path: Path) -> pa.Table:
    """A file as a table; only what is looked at is read."""
    try:
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    except (OSError, pa.ArrowInvalid):
        raise ShoalError("the rows of this run cannot be read; run its plan again") from None


def read_summary(folder: Path) -> dict[str, Any] | None:
    """What the page shows of the whole table; None: the files are not there, or not complete."""
    try:
        found: dict[str, Any] = json.loads((folder / SUMMARY).read_bytes())
    except (OSError, ValueError):
        return None
    return found
