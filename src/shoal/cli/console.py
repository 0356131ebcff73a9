"""What the command line shows: tables of numbers, and progress with the time left."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from shoal.base.errors import preview
from shoal.base.progress import Progress as Tell
from shoal.flow.audit import Audit
from shoal.flow.release import Release
from shoal.measures.applied import ADVICE
from shoal.measures.column_disclosure import ColumnDisclosure, told
from shoal.measures.exposure import Exposure
from shoal.measures.findings import TOP
from shoal.measures.findings import findings as important
from shoal.measures.utility import Utility
from shoal.models import Check
from shoal.table.roles import columns_with_role

WORDS = {
    "read": "reading",
    "encode": "encoding",
    "recode": "choosing what to publish",
    "trying": "trying algorithms on a sample",
    "merging": "merging classes",
    "expanding": "widening each record to cover k",
    "tossing": "tossing for each record",
    "covering": "covering everybody k times",
    "concealing": "concealing everybody",
    "diversifying": "mixing sensitive values",
    "clustering": "clustering people",
    "settling": "settling who is left over",
    "lifting": "lifting columns",
    "decode": "writing the release in memory",
    "verify": "verifying the release",
    "attack": "trying the attacks on it",
    "sampling": "sampling who could be whom",
    "explain": "leaving out each promise once",
    "bounding": "finding what any release would lose",
    "placing": "placing new rows",
    "promises": "keeping the promises in the new table",
}


PATIENCE = 5.0  # seconds between two lines where no bar can be drawn
WARNED = 3  # columns that are warned of, one by one
LITTLE = 99.0  # percent of all values held back from which on a release says next to nothing


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


def _table(title: str, *headings: str, left: int = 1) -> Table:
    """A table whose first columns hold words, and the others numbers; no word of it is cut."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if i < left else "right", overflow="fold")
    return table


def _print(console: Console, *parts: Callable[[], Table]) -> None:
    """Print tables one by one; what cannot be shown does not spoil what was written to files."""
    for part in parts:
        try:
            table = part()
        except Exception as error:
            if os.environ.get("SHOAL_DEBUG"):
                raise
            console.print(
                f"A table cannot be shown here: a defect of shoal ({type(error).__name__}). The "
                "files are complete. Run it again with SHOAL_DEBUG=1 and report it.",
                markup=False,
            )
        else:
            console.print(table)


def show_release(console: Console, release: Release) -> None:
    """The promises, and what the release cost."""
    _print(console, lambda: _promises(release))
    _warn(console, release.checks, columns_with_role(release.plan.columns, "sensitive"))
    _warn_findings(console, release.after)
    _warn_counted(console, release.after)
    worrying = release.worrying
    _warn_known(console, release.if_known, worrying, release.after.people)
    one = release.after.classes == 1 < release.before.classes
    applied = release.applied
    if one or release.quality.root_percent >= LITTLE:
        _warning(
            console,
            "the release says next to nothing: "
            + ("all rows look the same" if one else "nearly every value is held back")
            + (
                "; smaller promises, fewer quasi-identifiers or finer hierarchies would leave more"
                if applied is None
                else ""
            ),
        )
    if applied is not None and applied.much:
        share = percent(100 * applied.left_out / applied.rows)
        _warning(
            console,
            f"{share} of the rows are suppressed ({applied.why()}): what is left may not stand for "
            f"the table, nor its sensitive values. {ADVICE}; --most-left-out refuses such a "
            "release",
        )
    _print(console, lambda: _compared(release))
    if release.explainer is not None and release.explainer.known:
        _print(console, lambda: _explained(release))
        for reason in release.reasons():
            if reason.by_search:
                note = (
                    f"without {reason.key} more is lost, not less: that is an effect of the "
                    "search, which goes step by step, and not of this promise"
                )
                show_notes(console, [note])
    _print(
        console,
        lambda: _lost(release),
        lambda: _attacked(release.before, release.after),
    )
    _say_unweighed(console, release.after)
    show_notes(console, release.notes)


def _promises(release: Release) -> Table:
    table = _table("Promises, as published", "promise", "asked", "reached", "")
    for check in release.checks:
        name = check.model if check.column is None else f"{check.model} [{check.column}]"
        held = "[green]held[/]" if check.holds else "[red]broken[/]"
        table.add_row(shown(name), f"{check.required:g}", f"{check.reached:g}", held)
    return table


def _compared(release: Release) -> Table:
    table = _table("The table", "", "before", "after")
    loss = release.plan.loss.name
    for label, before, after in (
        ("rows", f"{release.rows:,}", f"{release.published:,}"),
        *_left_out(release),
        ("people", f"{release.before.people:,}", f"{release.after.people:,}"),
        *_exposures(release.before, release.after),
        (f"information lost ({loss})", percent(0), percent(release.losses[loss])),
        *_at_least(release),
        ("values generalized", percent(0), percent(release.quality.generalized_percent)),
        ("values suppressed altogether", "", percent(release.quality.root_percent)),
        *((label, "", now) for label, now in _useful(release.utility)),
    ):
        table.add_row(label, before, after)
    return table


def _left_out(release: Release) -> Iterator[tuple[str, str, str]]:
    """Rows that are not published, beside how many may not be."""
    if release.suppressed:
        applied = release.applied
        allowed = (
            getattr(release.plan.algorithm, "suppression", None)
            if applied is None
            else applied.most_left_out
        )
        of = "" if allowed is None else f" of {100 * allowed:.3g} % allowed"
        share = percent(100 * release.suppressed / release.rows)
        yield f"left out ({share}{of})", "", many(release.suppressed, "row")


def _at_least(release: Release) -> Iterator[tuple[str, str, str]]:
    """What no release could avoid, where that was found out for a file."""
    bound = release.bound if release.bound_known else None
    if bound is not None and bound.percent is not None:
        yield f"  lower bound on the loss {shown(bound.scope)}", "", percent(bound.percent)


def _explained(release: Release) -> Table:
    """What each promise did: rows that lose less without it, and what is lost without it."""
    table = _table("What each promise did", "promise", "rows it forced", "lost", "without it")
    for reason in release.reasons():
        name = reason.model if reason.column is None else f"{reason.model} [{reason.column}]"
        known = reason.percent is not None and reason.loss_without is not None
        table.add_row(
            shown(name),
            percent(reason.percent or 0.0) if known else "–",
            percent(reason.loss),
            percent(reason.loss_without or 0.0) if known else "–",
        )
    return table


def _useful(utility: Utility) -> Iterator[tuple[str, str]]:
    """What a release is good for, a line a number."""
    if utility.normalized_loss is not None:
        yield "normalized information loss (0 to 1)", f"{utility.normalized_loss:.4f}"
    answers = utility.answers
    if answers is not None and answers.mean is not None and answers.median is not None:
        yield (
            f"error of counting queries (median {percent(100 * answers.median)})",
            percent(100 * answers.mean),
        )
    for one in utility.vulnerable:
        yield (
            shown(f"vulnerable classes: fail {one.enhanced} [{one.column}]"),
            f"{one.classes:,} of {one.all_classes:,}",
        )


def _lost(release: Release) -> Table:
    table = _table(f"Lost per column ({release.plan.loss.name})", "quasi-identifier", "lost")
    table.add_column("")
    for name, share in release.quality.columns.items():
        table.add_row(shown(name), percent(share), "█" * round(share / 4))
    return table


def _attacked(before: Exposure, after: Exposure) -> Table:
    """The rows on which each attack succeeds, before and after."""
    table = _table("Attacks: rows on which they succeed", "attack", "on", "before", "after", left=2)
    for name, finding in after.attacks.items():
        old = {line.on: line.share for line in findings(name, before.attacks.get(name, {}))}
        for line in findings(name, finding):
            table.add_row(line.attack, line.on, old.get(line.on, ""), line.share)
    return table


def _warn(console: Console, checks: Sequence[Check], sensitive: Sequence[str]) -> None:
    """Say which sensitive columns no promise is about."""
    about = {check.column for check in checks}
    bare = [name for name in sensitive if name not in about]
    if checks and bare:
        _warning(console, f"nothing is promised about {preview(bare)}; see the attacks")


def _warn_findings(console: Console, exposure: Exposure) -> None:
    """Show the most important findings of the attacks."""
    shown_below = "record-count"  # together with the chance that it qualifies
    for one in [one for one in important(exposure) if one.attack != shown_below][:TOP]:
        _warning(console, one.words.removesuffix("."))


def _warn_counted(console: Console, exposure: Exposure) -> None:
    """Say whom the number of their rows gives away."""
    if exposure.row_count is not None and exposure.row_count.words:
        chance = _prosecutor(exposure)
        _warning(console, f"highest chance to find a person, {chance}: {exposure.row_count.words}")


def _warn_known(
    console: Console, known: dict[str, ColumnDisclosure], worrying: Sequence[str], people: int
) -> None:
    """Say which columns that are published as they are would tell people apart."""
    for name in worrying[:WARNED]:
        _warning(console, told(known[name], name, people))
    if (more := len(worrying) - WARNED) > 0:
        columns = "1 more column" if more == 1 else f"{more:,} more columns"
        _warning(console, f"{columns} would leave people alone so; see the report or the JSON")


def _warning(console: Console, text: str) -> None:
    console.print(f"[yellow]Warning:[/] {shown(text)}")


def _say_unweighed(console: Console, exposure: Exposure) -> None:
    least = exposure.smallest_class
    if not exposure.weighed and least > 1:
        note = f"at least {least:,} rows cannot be excluded for anybody; they need not be equally "
        show_notes(console, [note + "likely, so no chance to find a person is told"])


def show_notes(console: Console, notes: Sequence[str]) -> None:
    """What the reader should know besides."""
    for note in notes:
        console.print(f"Note: {note}", markup=False)


def _exposures(*tables: Exposure) -> list[tuple[str, ...]]:
    """What tables give away, side by side; of people first, where there are persons."""
    persons = all(table.risks.unique_people is not None for table in tables)
    if any(table.linked for table in tables):
        counts: Counts = [
            ("rows that could be the most exposed person's", lambda t: f"{t.smallest_class:,}"),
            ("people of whom one row only could be theirs", lambda t: _chance(t, "unique")),
            ("highest chance to find a person, by the likeliest row", _prosecutor),
            ("average chance to find a person, by the likeliest row", _average),
        ]
    else:
        counts = [
            ("people in the smallest class", lambda t: f"{t.smallest_class:,}"),
            ("classes", lambda t: f"{t.classes:,}"),
            *_alone(persons),
            ("highest chance to find a person", _prosecutor),
            *_averages(persons),
        ]
    if all(table.risks.journalist is not None for table in tables):
        counts += [
            (
                "highest chance to find a person among the population",
                lambda t: _chance(t, "journalist"),
            ),
            (
                "average chance to find a person among the population",
                lambda t: _chance(t, "marketer_over_people" if persons else "marketer"),
            ),
        ]
    return [(label, *(show(table) for table in tables)) for label, show in counts]


Counts = list[tuple[str, Callable[[Exposure], str]]]


def _alone(persons: bool) -> Counts:
    if not persons:
        return [("rows that are alone in their class", lambda t: _chance(t, "unique"))]
    return [
        ("people whom nobody else looks like", lambda t: _chance(t, "unique_people")),
        ("rows of these people", lambda t: _chance(t, "unique")),
    ]


def _averages(persons: bool) -> Counts:
    if not persons:
        return [("average chance to find a person", _average)]
    return [
        ("average chance to find a person", lambda t: _chance(t, "average_over_people")),
        ("the same, on average over rows", _average),
    ]


def _chance(table: Exposure, name: str) -> str:
    chance = table.chances()[name]
    return "–" if chance is None else percent(100 * chance)


def _prosecutor(table: Exposure) -> str:
    return _chance(table, "prosecutor")


def _average(table: Exposure) -> str:
    return _chance(table, "average")


def show_audit(console: Console, audit: Audit) -> None:
    """What a table promises and gives away."""
    _print(console, lambda: _measured(audit), lambda: _levels(audit))
    _warn(console, audit.checks, [column.name for column in audit.published.sensitive])
    _warn_findings(console, audit.exposure)
    _warn_counted(console, audit.exposure)
    _warn_known(console, audit.if_known, audit.worrying, audit.people)
    _print(console, lambda: _attacks(audit))
    _say_unweighed(console, audit.exposure)
    show_notes(console, audit.notes)


def _measured(audit: Audit) -> Table:
    table = _table("Audit", "", "")
    table.add_row("rows", f"{audit.rows:,}")
    if audit.people != audit.rows:
        table.add_row("people", f"{audit.people:,}")
    for row in _exposures(audit.exposure):
        table.add_row(*row)
    if not audit.exposure.linked:
        table.add_row("average class size", f"{audit.average_class_size:,.1f}")
    if audit.quality is not None:
        table.add_row(f"information lost ({audit.loss})", percent(audit.quality.losses[audit.loss]))
        table.add_row("information lost, mean of seven metrics", percent(audit.quality.mean_loss))
        table.add_row("values generalized", percent(audit.quality.generalized_percent))
        table.add_row("values suppressed altogether", percent(audit.quality.root_percent))
    if audit.utility is not None:
        for label, now in _useful(audit.utility):
            table.add_row(label, now)
    return table


def _levels(audit: Audit) -> Table:
    table = _table("Promises", "promise", "asked", "reached", "")
    asked = {
        check.model if check.column is None else f"{check.model}[{check.column}]": check
        for check in audit.checks
    }
    for name, level in audit.levels.items():
        check = asked.get(name)
        verdict = "" if check is None else "[green]held[/]" if check.holds else "[red]broken[/]"
        required = "" if check is None else f"{check.required:g}"
        table.add_row(shown(name), required, f"{level:g}", verdict)
    return table


def _attacks(audit: Audit) -> Table:
    """What each attack finds; the detail has a line of its own, so that no name is cut."""
    table = _table("Attacks", "attack", "on", "rows found", "", left=2)
    table.columns[0].min_width = 22
    for name, finding in audit.attacks.items():
        for line in findings(name, finding):
            detail = f"\n  [dim]{line.detail}[/]" if line.detail else ""
            table.add_row(line.attack + detail, line.on, line.found, line.share)
    return table


class Finding(NamedTuple):
    """What an attack found, as one line of a table."""

    attack: str
    on: str  # the sensitive column, or nothing
    found: str  # records or people
    share: str
    detail: str


# What an attack counts, where it says so by another name.
COUNTS = ("records", "singled_out", "people_below", "people", "rows")


def findings(name: str, finding: dict[str, Any]) -> Iterator[Finding]:
    """One line for what an attack found, and one for each sensitive column.

    >>> [line.share for line in findings("an attack of tomorrow", {"percent": 5.0, "x": 1})]
    ['5.0 %']
    """
    flat = {key: value for key, value in finding.items() if not isinstance(value, dict)}
    if flat:
        yield _finding(name, "", flat)
    for column, found in finding.items():
        if isinstance(found, dict):
            yield _finding(name, column, found)


def _finding(name: str, column: str, found: dict[str, Any]) -> Finding:
    count = next((found[key] for key in COUNTS if isinstance(found.get(key), int)), None)
    shares = [value for key, value in found.items() if key.endswith("_percent")]
    share = found.get("percent", shares[0] if shares else None)
    told = (
        "–" if count is None else f"{count:,}",
        "–" if share is None else percent(share),
        shown(_detail(name, found)),
    )
    if found.get("judged_by") == "nothing":
        told = "–", "–", "not judged: no hierarchy, no numbers"
    return Finding(name, shown(column), *told)


def _detail(name: str, found: dict[str, Any]) -> str:
    """What is most worth knowing besides; nothing where the attack does not tell it."""
    match name, found:
        case "linkage", {"fewest_candidates": int(fewest)}:
            return f"at least {fewest:,} candidates"
        case "skewness", {"value": value, "belief_before": before, "belief_after": after}:
            value = "missing" if value is None else value
            of = " of the people" if found.get("counted_by") == "people" else ""
            return f"{value}: {percent(100 * before)} → {percent(100 * after)}{of}"
        case "background-knowledge", {"fewest_to_rule_out": int(fewest)}:
            return f"at least {fewest:,} to rule out"
        case "similarity", {"judged_by": judged}:
            return f"by {judged}"
        case "graph", {"fewest_that_fit": int(fit), "fewest_left": int(left)}:
            return f"at least {fit:,} rows fit, at least {left:,} are left"
        case "matching", {"largest_probability": float(largest)}:
            mean = found.get("mean_largest_probability")
            average = "" if mean is None else f", mean {percent(100 * mean)}"
            return f"likeliest row: {percent(100 * largest)} or more{average}"
    return ""


def show_roles(console: Console, plan: Any) -> None:
    """The columns of a plan, their roles and why they were guessed."""
    table = _table("Columns", "column", "role", "why", left=3)
    for name, column in plan.columns.items():
        table.add_row(shown(name), column.role, shown(plan.notes.get(name, "")))
    console.print(table)
    show_notes(console, plan.remarks)


def many(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count:,} {what if count == 1 else what + 's'}"


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
