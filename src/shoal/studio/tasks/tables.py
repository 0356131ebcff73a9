"""Tables: the names of the tables of a database, or of the sheets of a workbook."""

from __future__ import annotations

from typing import Any

from shoal.base.progress import Progress
from shoal.databases.database import tables_of
from shoal.io.files import sheets_of
from shoal.studio.tasks._serving import Held


def run(held: Held, progress: Progress, source: dict[str, Any]) -> list[str]:  # noqa: ARG001
    """The tables that can be read; none for a file that has only one."""
    if source["kind"] == "database":
        return tables_of(source["address"])
    return sheets_of(source["path"])
