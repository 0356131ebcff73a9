"""The demo: a complete run on a made-up hospital table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from shoal.base.errors import BadFile
from shoal.base.progress import Progress
from shoal.cli.console import percent, print_plain, shown
from shoal.cli.plan_table import show_roles
from shoal.cli.release_tables import show_release
from shoal.datasets import hospital
from shoal.datasets.hospital import hospital_hierarchies
from shoal.flow.anonymize import anonymize
from shoal.flow.draft.draft import draft
from shoal.flow.release import Release
from shoal.hierarchies.base import Hierarchy
from shoal.io import frames
from shoal.plan import Plan
from shoal.table.roles import Column

FILES = ("hospital.csv", "plan.toml", "release.csv", "release.json", "report.html")

ABOUT = {
    "title": "Stays at a made-up hospital",
    "owner": "Hospital of Springfield",
    "purpose": "Showing what shoal does",
    "recipient": "Anyone who runs the demo",
    "signers": ["Dr. Ada Moreau, data-protection officer"],
}


def demo(out: Path, rows: int, seed: int, progress: Progress) -> Callable[[Console], None]:
    """Draft, anonymize and audit a made-up table; returns a function that shows the results."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot create the folder {out}: {error.strerror}") from None
    for name in FILES:
        frames.check_writable(out / name)
    original = hospital(rows, seed)
    plan = edited(draft(original)).with_seed(seed)
    release = anonymize(original, plan, progress=progress)
    before, after = release.before, release.after

    _write(out, original, plan, release, progress)

    def show_results(console: Console) -> None:
        console.rule("1  A made-up hospital table", align="left")
        console.print(_excerpt(frames.open_frame(original)))
        console.rule("2  The plan: drafted by `shoal draft`, and edited", align="left")
        show_roles(console, plan)
        console.rule("3  The release", align="left")
        console.print(_excerpt(frames.open_frame(release.frame)))
        console.rule("4  Before and after", align="left")
        show_release(console, release)
        found, left = (a.attacks["linkage"]["singled_out"] for a in (before, after))
        console.print(
            "An attacker who knows everybody's quasi-identifiers can identify the person behind "
            f"[bold]{found:,}[/] of {before.rows:,} records of the original "
            f"({percent(100 * found / before.rows)}), and behind [bold]{left:,}[/] of "
            f"{after.rows:,} records of the release.\n"
        )
        console.rule("5  Files", align="left")
        for name, what in (
            ("hospital.csv", "the made-up table"),
            ("plan.toml", "the plan: edit it and run again"),
            ("release.csv", "the release, for publication"),
            ("release.json", "all numbers"),
            ("report.html", "HTML report for the approver: open it in a browser"),
        ):
            print_plain(console, f"  {out / name}  {what}")
        print_plain(
            console,
            "\nNow try your own table:\n  shoal draft DATA -o plan.toml   (then edit plan.toml)\n"
            "  shoal anonymize DATA --plan plan.toml --out release.csv --report report.html",
        )

    return show_results


def _write(out: Path, original: Any, plan: Plan, release: Release, progress: Progress) -> None:
    """Write the files; an error between two of them says which ones are there."""

    def write_original(path: Path) -> None:
        with frames.atomic(path) as target:
            frames.write(frames.open_frame(original), target)

    def write_numbers(path: Path) -> None:
        with frames.atomic(path, private=True) as target:
            numbers = json.dumps(release.as_dict(progress), indent=2)
            target.write_text(numbers + "\n", encoding="utf-8")

    writers: dict[str, Callable[[Path], object]] = {
        "hospital.csv": write_original,
        "plan.toml": plan.save,
        "release.csv": release.save,
        "release.json": write_numbers,
        "report.html": lambda path: release.report(path, progress=progress),
    }
    for place, name in enumerate(FILES):
        try:
            writers[name](out / name)
        except BaseException as error:
            if place:
                done, missing = ", ".join(FILES[:place]), ", ".join(FILES[place:])
                error.add_note(f"written in {out}: {done}; not written: {missing}")
            raise


def edited(plan: Plan) -> Plan:
    """What a data manager would edit: a hierarchy, a role, a limit, and words for the report."""
    jobs = Hierarchy.of({"tree": hospital_hierarchies()["job"]})
    plan.notes["job"] = "edited: jobs can be published as groups of jobs"
    plan.notes["length-of-stay"] = "edited: outsiders do not know it"
    return plan.changed(
        columns={
            **plan.columns,
            "job": Column(role="quasi", hierarchy=jobs),
            "length-of-stay": Column(role="other"),
        },
        about=ABOUT,
        limits={"preset": "non-public", "suppressed": 0},
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
