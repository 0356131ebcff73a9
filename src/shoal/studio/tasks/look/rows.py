"""Rows: one page of a run, before and after."""

from __future__ import annotations

from pathlib import Path

from shoal.base.progress import Progress
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.look._view import Asked, LookView, RowPage


def run(held: Held, progress: Progress, folder: str, asked: Asked) -> RowPage:  # noqa: ARG001
    """The page; the files stay mapped for the next one."""
    return view_of(held, folder).page(asked)


def view_of(held: Held, folder: str) -> LookView:
    """The files of a run."""
    if held.get("look") != folder:
        held["view"], held["look"] = LookView(Path(folder)), folder
    found: LookView = held["view"]
    return found
