"""`shoal list`: what the catalog has, with all options."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from shoal.cli.app import command


class Kind(StrEnum):
    """What `shoal list` can list."""

    models = "models"
    losses = "losses"
    algorithms = "algorithms"
    attacks = "attacks"
    hierarchies = "hierarchies"
    formats = "formats"


@command
def list_(
    kind: Annotated[Kind | None, typer.Argument(help="List only these.")] = None,
) -> None:
    """List models, losses, algorithms, attacks, hierarchies and formats, with all options."""
    from shoal.cli.catalog_tables import show_catalog
    from shoal.cli.console import open_console

    show_catalog(open_console(), kind)
