"""`shoal studio`: a page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.app import command
from shoal.cli.options import Query, Table


@command
def studio(
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Table to open, as for `shoal draft`.")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plan for the table; by default a draft.")
    ] = None,
    table: Table = None,
    query: Query = None,
    invented: Annotated[
        bool, typer.Option("--invented", help="Open an invented hospital table to try things on.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port to listen on; by default any that is free.")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, but do not open a browser.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Private folder for plans and runs, by default in the "
            "folder of your account for such things.",
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep", help="Keep uploaded tables at the end, too; they are removed otherwise."
        ),
    ] = False,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine need --i-know.")
    ] = "127.0.0.1",
    i_know: Annotated[
        bool, typer.Option("--i-know", help="Let other machines reach the studio, with TLS.")
    ] = False,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TLS certificate, with --i-know.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Key of the certificate.")
    ] = None,
) -> None:
    """Open a page in the browser: look at a table, decide, run, and read the report."""
    from shoal.base.errors import BadPlan

    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise BadPlan(
            "the studio needs libraries that are not installed: pip install 'shoal[studio]'"
        ) from None
    from shoal.studio.server import Address
    from shoal.studio.session import run_session, wanted_table

    def say(page: str) -> None:
        typer.echo(f"The studio is open: {page}\nCtrl-C ends it.")

    address = Address(host, port, i_know, certificate, key)
    if data is None and (plan or table or query):
        raise BadPlan("--plan, --table and --query are about a table: name it, as DATA")
    wanted = None if data is None else wanted_table(data, plan, table, query)
    run_session(wanted, address, not no_browser, folder, keep, say, invented=invented)
    typer.echo("The studio has ended.")
