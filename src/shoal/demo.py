"""Demo: a whole run on a table that the package makes itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from shoal import frames
from shoal.anonymize import anonymize
from shoal.audit import audit
from shoal.datasets import hospital
from shoal.draft import draft
from shoal.errors import BadFile
from shoal.progress import Progress
from shoal.screen import show_release, show_roles, shown


def demo(out: Path, rows: int, seed: int, progress: Progress) -> Callable[[Console], None]:
    """Draft, anonymize and audit an invented hospital table; returns what to show of it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot make the folder {out}: {error.strerror}") from None
    original = hospital(rows, seed)
    plan = draft(original).with_seed(seed)
    before = audit(original, plan)
    release = anonymize(original, plan, progress=progress)
    after = audit(release.frame, plan, original=original)

    with frames.atomic(out / "hospital.csv") as target:
        frames.write(frames.open_frame(original), target)
    plan.save(out / "plan.toml")
    release.save(out / "release.csv")
    with frames.atomic(out / "release.json") as target:
        target.write_text(json.dumps(release.as_dict(), indent=2) + "\n", encoding="utf-8")

    def story(console: Console) -> None:
        console.rule("1  The table, as the hospital has it")
        console.print(_excerpt(frames.open_frame(original)))
        console.rule("2  The plan, as `shoal draft` guesses it")
        show_roles(console, plan)
        console.rule("3  The release")
        console.print(_excerpt(frames.open_frame(release.frame)))
        console.rule("4  Before and after")
        show_release(console, release, before)
        found = before.attacks["linkage"]["singled_out"]
        left = after.attacks["linkage"]["singled_out"]
        console.print(
            f"Somebody who knows everybody's quasi-identifiers could point at the person behind "
            f"{found:,} of {before.rows:,} rows of the original, and behind {left:,} of "
            f"{after.rows:,} rows of the release."
        )
        console.print(
            f"\nwritten to {out}/: hospital.csv (the invented table), plan.toml, release.csv, "
            "release.json",
            markup=False,
        )
        console.print(
            "Try it on a table of your own: shoal draft DATA -o plan.toml, edit plan.toml, then "
            "shoal anonymize DATA --plan plan.toml --out release.csv",
            markup=False,
        )

    return story


def _excerpt(frame: frames.Frame, rows: int = 6) -> Table:
    """The first rows of a table."""
    table = Table()
    cells = [frame.column(name).slice(0, rows).to_pylist() for name in frame.names]
    for name in frame.names:
        table.add_column(shown(name), overflow="ellipsis", no_wrap=True)
    for row in zip(*cells, strict=True):
        table.add_row(*("" if cell is None else shown(str(cell)) for cell in row))
    return table
