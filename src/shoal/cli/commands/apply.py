"""`shoal apply`: publish new records by the recoding of an earlier release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.base import own_process
from shoal.cli.app import command
from shoal.cli.options import Codebook, Data, Json, KeepOrder, Out, Report, Seed


@command
def apply(
    data: Data,
    recoding: Annotated[
        Path, typer.Option("--recoding", help="File that `shoal anonymize --recoding` wrote.")
    ],
    out: Out,
    json_file: Json = None,
    report: Report = None,
    codebook: Codebook = None,
    most_left_out: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Fail if more than this share of the records is suppressed; 0.05 is 5 %.",
        ),
    ] = None,
    drop_extra: Annotated[
        bool, typer.Option("--drop-extra", help="Drop columns that the recoding does not know.")
    ] = False,
    seed: Seed = None,
    keep_order: KeepOrder = False,
) -> None:
    """Publish new records by the recoding of an earlier release, and verify the requirements."""
    with own_process.loading():
        from shoal.cli import outputs
        from shoal.cli.console import open_console, show
        from shoal.cli.progress import progress_on
        from shoal.cli.release_tables import show_release
        from shoal.flow.apply.fitted import Fitted
        from shoal.io.frames import check_target
        from shoal.report.codebook import check_codebook

    if codebook is not None:
        check_codebook(codebook)
    check_target(out)
    fitted = Fitted.load(recoding)
    outputs.check_targets([out, report, codebook], json_file, [data, recoding])
    console = open_console(json_file)
    with progress_on(console) as progress:
        release = fitted.apply(
            data,
            seed=seed,
            keep_order=keep_order or None,
            drop_extra=drop_extra,
            most_left_out=most_left_out,
            progress=progress,
        )
        outputs.write_release(release, out, report, json_file, progress, codebook=codebook)
    show(lambda: show_release(console, release))
    outputs.show_written(console, [out, report, codebook], json_file)
