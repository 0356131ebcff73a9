"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.io.format import known_endings

Data = Annotated[Path, typer.Argument(metavar="DATA", help=f"Table to read: {known_endings()}.")]
PlanFile = Annotated[Path, typer.Option("--plan", help="Plan: a TOML file.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="File to write the release to.")]
Report = Annotated[
    Path | None,
    typer.Option(help="Write an HTML report for the approver to this file. Do not publish it."),
]
Seed = Annotated[
    int | None,
    typer.Option(help="Random seed for repeatable experiments; omit it for a real release."),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Number of threads; by default one per available core. The result does not change.",
    ),
]
KeepOrder = Annotated[
    bool,
    typer.Option("--keep-order", help="Do not shuffle the records. The order may identify people."),
]
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write all numbers as JSON; - prints them."),
]
