"""`shoal audit` of the two files of an anatomy."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from shoal.cli import outputs, tables
from shoal.cli.console import open_console, show
from shoal.cli.progress import progress_on
from shoal.cli.screens.anatomy_table import show_anatomy
from shoal.plan import Plan


def audit_two_files(
    quasi: Any,
    sensitive: Path,
    plan: Path,
    original: str | None,
    sheet: str | None,
    json_file: str | None,
) -> bool:
    """Audit both files together; whether all requirements are satisfied."""
    from shoal.flow.anatomy.audit_anatomy import audit_anatomy  # seldom needed

    asked = Plan.load(plan)
    before = None if original is None else tables.source_of(original)
    read = [*tables.files_of([quasi, before]), sensitive, plan, *asked.files()]
    outputs.check_targets([], json_file, read)
    console = open_console(json_file)
    with progress_on(console) as progress:
        found = audit_anatomy(
            quasi,
            sensitive,
            asked,
            original=before,
            read=tables.sheet_of(sheet),
            progress=progress,
        )
    numbers = found.as_dict()
    with ExitStack() as files:
        outputs.write_json(files, json_file, numbers)
    outputs.print_json(json_file, numbers)
    show(lambda: show_anatomy(console, found))
    return found.holds
