"""A session: from the command to its end, with what is kept and what is removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from shoal.base.errors import BadFile, BadPlan
from shoal.databases.kind import is_address
from shoal.plan import Plan
from shoal.studio.invented import invented_table
from shoal.studio.server import Address, serve
from shoal.studio.sources.source import of_database, of_file, of_invented, title_of
from shoal.studio.studio import Studio, Wanted


def folder_of_user() -> Path:
    """Where the studio keeps things, unless a folder is named."""
    state = os.environ.get("XDG_STATE_HOME")
    home = Path(state) if state else Path.home() / ".local" / "state"
    return home / "shoal" / "studio"


def run_session(
    wanted: Wanted | None,
    address: Address,
    browser: bool,
    folder: Path | None,
    keep: bool,
    say: Callable[[str], None],
    invented: bool = False,
) -> None:
    """Serve the studio until it is interrupted; copies of originals are removed then."""
    address.check()
    studio = Studio(folder or folder_of_user(), Path.cwd(), wanted=wanted)
    if invented:
        source = of_invented(invented_table(studio.uploads))
        studio.wanted = Wanted("hospital.csv", source, None)
    try:
        serve(studio, address, browser, say)
    finally:
        studio.end(keep)


def wanted_table(
    data: str, plan: Path | None = None, table: str | None = None, query: str | None = None
) -> Wanted:
    """The table that the command names, to be opened first."""
    given = None if plan is None else Plan.load(plan)
    if is_address(data):
        if table is not None and query is not None:
            raise BadPlan("give either a table (--table) or a query (--query), not both")
        return Wanted(title_of(data, table), of_database(data, table, query), given)
    if table is not None or query is not None:
        raise BadPlan(f"--table and --query are for databases, and {data} is a file; remove them")
    path = Path(data).resolve()
    if not path.is_file():
        raise BadFile(f"there is no file {data}")
    return Wanted(path.name, of_file(path), given)
