"""The command line: all commands together, and the function that runs them."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from shoal.base import interrupt
from shoal.cli.app import app
from shoal.cli.commands import (  # noqa: F401 (each registers one command)
    anatomy,
    anonymize,
    apply,
    audit,
    compare,
    demo,
    draft,
    frontier,
    list,
    reproduce,
    setup,
    studio,
)


def _version(asked: bool) -> None:
    if asked:
        from shoal.base.version import __version__

        print(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def _all(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may be limited to ASCII
    interrupt.run(_run)


def _run() -> None:
    try:
        app()
    except KeyboardInterrupt:  # outside of a command: before it was loaded, or after it ended
        sys.exit(interrupt.status())


if __name__ == "__main__":
    main()
