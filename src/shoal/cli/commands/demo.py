"""`shoal demo`: a complete run on a made-up table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.base import own_process
from shoal.cli.app import command


@command
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder to write to.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="Number of records.", min=10)] = 3000,
    seed: Annotated[int, typer.Option(help="Random seed; another seed, another table.", min=0)] = 7,
) -> None:
    """Try everything on a made-up hospital table: draft, anonymize, audit."""
    with own_process.loading():
        from shoal.cli.console import open_console
        from shoal.cli.demo import demo as run
        from shoal.cli.progress import progress_on

    console = open_console()
    with progress_on(console) as progress:
        show = run(out, rows, seed, progress)
    show(console)
