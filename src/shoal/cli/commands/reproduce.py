"""`shoal reproduce`: run the experiment of a paper."""

from __future__ import annotations

from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated

import typer

from shoal.cli.app import command

# Found by their folders: to import them takes time.
FOLDER = Path(__file__).parents[2] / "papers"
PAPERS = sorted(one.name for one in iter_modules([str(FOLDER)]) if not one.name.startswith("_"))


@command
def reproduce(
    paper: Annotated[str, typer.Argument(help=f"One of {', '.join(PAPERS)}.")],
    data: Annotated[
        Path | None, typer.Option(help="Folder with the data, and with hierarchies if any.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("reproduce"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version that takes seconds.")
    ] = False,
) -> None:
    """Run the experiment of a paper and compare our figures with the printed ones."""
    from shoal.cli.console import open_console, print_plain
    from shoal.cli.progress import progress_on
    from shoal.papers import reproduce as run

    console = open_console()
    with progress_on(console) as progress:
        page = run(paper, data, out, quick, progress)
    print_plain(console, f"written: {page}")
