"""`shoal list`: what the catalog has, with all options."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.app import command

KINDS = ("models", "losses", "algorithms", "attacks", "hierarchies", "formats")


@command
def list_(
    kind: Annotated[
        str | None, typer.Argument(metavar=f"[{'|'.join(KINDS)}]", help="List only these.")
    ] = None,
) -> None:
    """List models, losses, algorithms, attacks, hierarchies and formats, with all options."""
    from shoal.base.errors import BadPlan, did_you_mean
    from shoal.cli.console import open_console
    from shoal.cli.screens.catalog_tables import show_catalog

    if kind is not None and kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        there = f"{' There' if hint else '; there'} are {', '.join(KINDS)}"
        raise BadPlan(f"cannot list {kind!r}{hint}{there}")
    show_catalog(open_console(), kind)
