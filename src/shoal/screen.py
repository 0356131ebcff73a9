"""What the command line shows: tables of numbers, and progress with the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from time import monotonic
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from shoal.audit import Audit
from shoal.exposure import Exposure
from shoal.progress import Progress as Tell
from shoal.release import Release

WORDS = {
    "read": "reading",
    "encode": "encoding",
    "recode": "choosing what to publish",
    "merging": "merging classes",
    "decode": "writing the release in memory",
    "verify": "verifying the release",
}


PATIENCE = 5.0  # seconds between two lines where no bar can be drawn


@contextmanager
def progress_on(console: Console) -> Iterator[Tell]:
    """A callback that draws a bar, which goes away when all is done; in a log, a line at times."""
    if not console.is_terminal:
        yield _lines(console)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bars:
        tasks: dict[str, Any] = {}

        def tell(stage: str, share: float) -> None:
            for known, task in tasks.items():
                bars.update(task, visible=known == stage)
            if stage not in tasks:
                total = 1.0 if stage not in ("read", "recode") else None
                tasks[stage] = bars.add_task(WORDS.get(stage, stage), total=total)
            bars.update(tasks[stage], completed=share)

        yield tell


def _lines(console: Console) -> Tell:
    since = monotonic()

    def tell(stage: str, share: float) -> None:
        nonlocal since
        if monotonic() - since > PATIENCE:
            since = monotonic()
            console.print(f"{WORDS.get(stage, stage)}: {100 * share:.0f} %", markup=False)

    return tell


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)


def show_release(console: Console, release: Release) -> None:
    """The promises, and what the release cost."""
    promises = _table("Promises, as published")
    for heading in ("promise", "asked", "reached", ""):
        promises.add_column(heading, justify="left" if heading == "promise" else "right")
    for check in release.checks:
        name = check.model if check.column is None else f"{check.model} [{check.column}]"
        held = "[green]held[/]" if check.holds else "[red]broken[/]"
        promises.add_row(name, f"{check.required:g}", f"{check.reached:g}", held)
    console.print(promises)

    table = _table("The table")
    for heading in ("", "before", "after"):
        table.add_column(heading, justify="right" if heading else "left")
    loss = release.plan.loss.name
    for label, before, after in (
        ("rows", f"{release.rows:,}", f"{release.published:,}"),
        ("people", f"{release.before.people:,}", f"{release.after.people:,}"),
        *_exposures(release.before, release.after),
        (f"information lost ({loss})", percent(0), percent(release.losses[loss])),
        ("values generalized", percent(0), percent(release.quality.generalized_percent)),
        ("values suppressed altogether", "", percent(release.quality.root_percent)),
    ):
        table.add_row(label, before, after)
    console.print(table)

    lost = _table(f"Lost per column ({loss})")
    lost.add_column("quasi-identifier")
    lost.add_column("lost", justify="right")
    lost.add_column("")
    for name, share in release.quality.columns.items():
        lost.add_row(shown(name), percent(share), "█" * round(share / 4))
    console.print(lost)
    console.print(_attacked(release.before, release.after))
    show_notes(console, release.notes)


def _attacked(before: Exposure, after: Exposure) -> Table:
    """The rows on which each attack succeeds, before and after."""
    table = _table("Attacks: rows on which they succeed")
    for heading in ("attack", "on", "before", "after"):
        table.add_column(heading, justify="left" if heading in ("attack", "on") else "right")
    for name, finding in after.attacks.items():
        found = _findings(name, finding)
        old = _findings(name, before.attacks[name]) if name in before.attacks else repeat(None)
        for line, was in zip(found, old, strict=False):
            table.add_row(line[0], line[1], "" if was is None else was[3], line[3])
    return table


def show_notes(console: Console, notes: Sequence[str]) -> None:
    """What the reader should know besides."""
    for note in notes:
        console.print(f"Note: {note}", markup=False)


def _exposures(*tables: Exposure) -> list[tuple[str, ...]]:
    """What tables give away, side by side."""
    rows: list[tuple[str, Callable[[Exposure], str]]] = [
        ("people in the smallest class", lambda table: f"{table.smallest_class:,}"),
        ("classes", lambda table: f"{table.classes:,}"),
        ("rows that are alone in their class", lambda table: percent(100 * table.risks.unique)),
        ("highest chance to find a person", lambda table: percent(100 * table.risks.prosecutor)),
        ("average chance to find a person", lambda table: percent(100 * table.risks.average)),
    ]
    if all(table.risks.journalist is not None for table in tables):
        rows.append(
            ("in the population", lambda table: percent(100 * (table.risks.journalist or 0.0)))
        )
    return [(label, *(show(table) for table in tables)) for label, show in rows]


def show_audit(console: Console, audit: Audit) -> None:
    """What a table promises and gives away."""
    table = _table("Audit")
    table.add_column("")
    table.add_column("", justify="right")
    table.add_row("rows", f"{audit.rows:,}")
    if audit.people != audit.rows:
        table.add_row("people", f"{audit.people:,}")
    for row in _exposures(audit.exposure):
        table.add_row(*row)
    table.add_row("average class size", f"{audit.average_class_size:,.1f}")
    if audit.quality is not None:
        table.add_row(f"information lost ({audit.loss})", percent(audit.quality.losses[audit.loss]))
        table.add_row("information lost, mean of seven metrics", percent(audit.quality.mean_loss))
        table.add_row("values generalized", percent(audit.quality.generalized_percent))
        table.add_row("values suppressed altogether", percent(audit.quality.root_percent))
    console.print(table)

    levels = _table("Promises")
    for heading in ("promise", "asked", "reached", ""):
        levels.add_column(heading, justify="left" if heading == "promise" else "right")
    asked = {
        check.model if check.column is None else f"{check.model}[{check.column}]": check
        for check in audit.checks
    }
    for name, level in audit.levels.items():
        check = asked.get(name)
        verdict = "" if check is None else "[green]held[/]" if check.holds else "[red]broken[/]"
        levels.add_row(name, "" if check is None else f"{check.required:g}", f"{level:g}", verdict)
    console.print(levels)

    attacks = _table("Attacks")
    for heading in ("attack", "on", "rows found", "", "detail"):
        attacks.add_column(heading, justify="right" if heading in ("rows found", "") else "left")
    for name, finding in audit.attacks.items():
        for row in _findings(name, finding):
            attacks.add_row(*row)
    console.print(attacks)
    show_notes(console, audit.notes)


def _findings(name: str, finding: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """One line for what an attack found, or one for each sensitive column."""
    if name == "linkage":
        least = f"at least {finding['fewest_candidates']:,} candidates"
        found = f"{finding['singled_out']:,}", percent(finding["singled_out_percent"])
        yield name, "", *found, least
        return
    for column, found in finding.items():
        detail, share = "", percent(found["percent"])
        if name == "skewness":
            value = "missing" if found["value"] is None else str(found["value"])
            before, after = found["belief_before"], found["belief_after"]
            detail = f"{shown(value)}: {percent(100 * before)} → {percent(100 * after)}"
        elif name == "background-knowledge":
            detail = f"at least {found['fewest_to_rule_out']:,} to rule out"
        elif name == "similarity":
            judged = found["judged_by"]
            detail = f"by {judged}"
            if judged == "nothing":
                detail, share = "not judged: no hierarchy, no numbers", "–"
        yield name, shown(column), f"{found['records']:,}", share, detail


def show_roles(console: Console, plan: Any) -> None:
    """The columns of a plan, their roles and why they were guessed."""
    table = _table("Columns")
    for heading in ("column", "role", "why"):
        table.add_column(heading)
    for name, column in plan.columns.items():
        table.add_row(shown(name), column.role, plan.notes.get(name, ""))
    console.print(table)


def percent(share: float) -> str:
    """A percentage with as many digits as it deserves.

    >>> percent(0.0), percent(6.66), percent(0.004)
    ('0 %', '6.7 %', '< 0.01 %')
    """
    if share == 0:
        return "0 %"
    return f"{share:.1f} %" if share >= 0.1 else f"{share:.2f} %" if share >= 0.01 else "< 0.01 %"


def shown(name: str) -> str:
    """A name from the data, with nothing in it that could format or move the screen."""
    return escape("".join(c if c.isprintable() else "?" for c in name))
