"""Demo: a whole run on a table that the package makes itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from shoal.base.errors import BadFile
from shoal.base.progress import Progress
from shoal.cli.console import percent, show_release, show_roles, shown
from shoal.datasets import hospital
from shoal.datasets.hospital import hospital_hierarchies
from shoal.flow.anonymize import anonymize
from shoal.flow.draft import draft
from shoal.hierarchies.base import Hierarchy
from shoal.io import frames
from shoal.plan import Plan
from shoal.table.roles import Column


def demo(out: Path, rows: int, seed: int, progress: Progress) -> Callable[[Console], None]:
    """Draft, anonymize and audit an invented hospital table; returns what to show of it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot make the folder {out}: {error.strerror}") from None
    original = hospital(rows, seed)
    plan = edited(draft(original)).with_seed(seed)
    release = anonymize(original, plan, progress=progress)
    before, after = release.before, release.after

    with frames.atomic(out / "hospital.csv") as target:
        frames.write(frames.open_frame(original), target)
    plan.save(out / "plan.toml")
    release.save(out / "release.csv")
    with frames.atomic(out / "release.json", private=True) as target:
        target.write_text(json.dumps(release.as_dict(progress), indent=2) + "\n", encoding="utf-8")
    release.report(out / "report.html", progress=progress)

    def story(console: Console) -> None:
        console.rule("1  An invented table, as a hospital might have it", align="left")
        console.print(_excerpt(frames.open_frame(original)))
        console.rule("2  The plan: what `shoal draft` guessed, and two edits", align="left")
        show_roles(console, plan)
        console.rule("3  The release: nobody stands alone", align="left")
        console.print(_excerpt(frames.open_frame(release.frame)))
        console.rule("4  Before and after", align="left")
        show_release(console, release)
        found, left = (a.attacks["linkage"]["singled_out"] for a in (before, after))
        console.print(
            "Somebody who knows everybody's quasi-identifiers could point at the person behind "
            f"[bold]{found:,}[/] of {before.rows:,} rows of the original "
            f"({percent(100 * found / before.rows)}), and behind [bold]{left:,}[/] of "
            f"{after.rows:,} rows of the release.\n"
        )
        console.rule("5  Written", align="left")
        for name, what in (
            ("hospital.csv", "the invented table"),
            ("plan.toml", "what was asked for; edit it and run it again"),
            ("release.csv", "what may be published"),
            ("release.json", "all numbers"),
            ("report.html", "a page for whoever signs the release: open it in a browser"),
        ):
            console.print(f"  {out / name}  {what}", markup=False, soft_wrap=True)
        console.print(
            "\nNow a table of your own:\n  shoal draft DATA -o plan.toml   (then edit plan.toml)\n"
            "  shoal anonymize DATA --plan plan.toml --out release.csv --report report.html",
            markup=False,
            soft_wrap=True,
        )

    return story


def edited(plan: Plan) -> Plan:
    """What a data manager would change in the draft: a hierarchy for jobs, and the stays."""
    jobs = Hierarchy.of({"tree": hospital_hierarchies()["job"]})
    plan.notes["job"] = "edited: jobs can be published as groups of jobs"
    plan.notes["length-of-stay"] = "edited: no outsider knows it"
    return plan.changed(
        columns={
            **plan.columns,
            "job": Column(role="quasi", hierarchy=jobs),
            "length-of-stay": Column(role="other"),
        }
    )


def _excerpt(frame: frames.Frame, rows: int = 5) -> Table:
    """The first rows of a table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    cells = [frame.column(name).slice(0, rows).to_pylist() for name in frame.names]
    for name, column in zip(frame.names, cells, strict=True):
        width = max(len(name), *(len(str(cell)) for cell in column if cell is not None), 4)
        table.add_column(shown(name), overflow="ellipsis", no_wrap=True, min_width=min(width, 6))
    for row in zip(*cells, strict=True):
        table.add_row(*("" if cell is None else shown(str(cell)) for cell in row))
    return table
