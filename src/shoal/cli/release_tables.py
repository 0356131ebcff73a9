"""What the screen shows of a release: requirements, risks, information loss, attacks, warnings."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from shoal.base.wording import many, number
from shoal.cli.attack_table import attack_changes
from shoal.cli.console import new_table, percent, print_tables, show_notes, shown
from shoal.cli.measure_rows import (
    add_rows,
    attacker_table,
    limit_table,
    loss_rows,
    utility_rows,
    verdict,
    weighted_rows,
)
from shoal.cli.screens.analysis_tables import show_learning
from shoal.cli.warnings import (
    note_attackers,
    note_unweighed,
    warn_of_exposure,
    warn_of_linked_members,
    warn_of_little_left,
    warn_uncovered,
)
from shoal.flow.release import Release
from shoal.report.exposure_facts import count_rows, risk_rows
from shoal.report.sample_facts import sample_rows
from shoal.table.roles import columns_with_role


def show_release(console: Console, release: Release) -> None:
    """Show what was required and reached, what it cost, and what to look at."""
    print_tables(console, lambda: _requirements(release))
    if release.limits:
        print_tables(console, lambda: limit_table(release.limits, release.plan.loss.name))
    if release.attackers:
        print_tables(console, lambda: attacker_table(release.attackers))
    warn_of_linked_members(console, release.linked_members)
    warn_uncovered(console, release.checks, columns_with_role(release.plan.columns, "sensitive"))
    warn_of_exposure(console, release.after, release.attackers, release.if_known, release.worrying)
    warn_of_little_left(console, release)
    print_tables(console, lambda: _changes(release))
    if release.explainer is not None and release.explainer.known:
        print_tables(console, lambda: _reasons(release))
        for reason in release.reasons():
            if reason.by_search:
                note = (
                    f"without {reason.key} the loss is higher, not lower: this is an effect of the "
                    "search, which goes step by step, and not of the requirement"
                )
                show_notes(console, [note])
    print_tables(
        console,
        lambda: _column_losses(release),
        lambda: attack_changes(release.before, release.after),
    )
    note_unweighed(console, release.after)
    note_attackers(console, release.after, release.checks)
    for one in release.learned.values():
        show_learning(console, one)
    show_notes(console, release.notes)


def _requirements(release: Release) -> Table:
    table = new_table("Requirements, verified on the release", "model", "required", "reached", "")
    for check in [*release.checks, *release.at_most]:
        table.add_row(shown(check.key), check.asked, number(check.reached), verdict(check))
    return table


def _changes(release: Release) -> Table:
    """Counts, risks and information loss, before and after."""
    table = new_table("Before and after", "", "original", "release")
    both = release.before, release.after
    records, *counts = count_rows(*both)
    sampled = sample_rows(release.sample_before, release.sample)
    add_rows(table, [records], _suppressed(release), counts, risk_rows(*both), sampled)
    loss, *rest = loss_rows(release.quality, release.plan.loss.name)
    weighted = weighted_rows(release.weighted_losses, release.plan.loss.name)
    after = [
        loss,
        *weighted,
        *_lower_bound(release),
        *rest,
        *utility_rows(release.utility),
    ]
    add_rows(table, [(label, "", value) for label, value in after])
    return table


def _suppressed(release: Release) -> list[tuple[str, str, str]]:
    """Suppressed records, and how many may be suppressed."""
    if not release.suppressed:
        return []
    applied = release.applied
    allowed = release.plan.allowed_suppression if applied is None else applied.most_left_out
    of = "" if allowed is None else f" of {percent(100 * allowed)} allowed"
    share = percent(100 * release.suppressed / release.rows)
    return [(f"suppressed ({share}{of})", "", many(release.suppressed, "record"))]


def _lower_bound(release: Release) -> Iterator[tuple[str, str]]:
    """The lower bound on the loss, where it was computed for a report or JSON."""
    bound = release.bound if release.bound_known else None
    if bound is not None and bound.percent is not None:
        yield f"  lower bound on the loss {shown(bound.scope)}", percent(bound.percent)


def _reasons(release: Release) -> Table:
    """Per requirement: the records that lose less without it, and the loss without it."""
    table = new_table(
        "What forced the generalization", "model", "records it forced", "loss", "loss without it"
    )
    for reason in release.reasons():
        name = reason.model if reason.column is None else f"{reason.model} [{reason.column}]"
        forced, without = reason.percent, reason.loss_without
        known = forced is not None and without is not None
        table.add_row(
            shown(name),
            percent(forced or 0.0) if known else "–",
            percent(reason.loss),
            percent(without or 0.0) if known else "–",
        )
    return table


def _column_losses(release: Release) -> Table:
    table = new_table(
        f"Information loss per column ({release.plan.loss.name})", "quasi-identifier", "loss"
    )
    table.add_column("")
    for name, share in release.quality.columns.items():
        table.add_row(shown(name), percent(share), "█" * round(share / 4))
    return table
