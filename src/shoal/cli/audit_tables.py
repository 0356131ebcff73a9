"""What the screen shows of an audit: measures, levels, attacks, warnings."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from shoal.base.wording import number
from shoal.cli.attack_table import attack_findings
from shoal.cli.console import new_table, percent, print_tables, show_notes, shown, warn
from shoal.cli.measure_rows import (
    add_rows,
    attacker_table,
    limit_table,
    loss_rows,
    utility_rows,
    verdict,
    weighted_rows,
)
from shoal.cli.screens.analysis_tables import show_analyses, show_learning
from shoal.cli.screens.uniques_tables import show_uniques
from shoal.cli.warnings import (
    note_attackers,
    note_unweighed,
    warn_of_exposure,
    warn_of_linked_members,
    warn_uncovered,
)
from shoal.flow.audit import Audit
from shoal.report.exposure_facts import count_rows, risk_rows
from shoal.report.sample_facts import sample_rows


def show_audit(console: Console, audit: Audit) -> None:
    """Show what a table satisfies, and what it reveals."""
    print_tables(console, lambda: _measures(audit), lambda: _levels(audit))
    if audit.limits:
        print_tables(console, lambda: limit_table(audit.limits, audit.loss))
    if audit.attackers:
        print_tables(console, lambda: attacker_table(audit.attackers))
    if audit.uniques is not None:
        show_uniques(console, audit.uniques)
    if not audit.dependency.holds:
        warn(console, f"violated: the table reveals too much: {audit.dependency.words}")
    warn_of_linked_members(console, audit.linked_members)
    warn_uncovered(console, audit.checks, [column.name for column in audit.published.sensitive])
    warn_of_exposure(console, audit.exposure, audit.attackers, audit.if_known, audit.worrying)
    print_tables(console, lambda: attack_findings(audit.attacks))
    note_unweighed(console, audit.exposure)
    note_attackers(console, audit.exposure, audit.checks)
    if audit.analyses is not None:
        show_analyses(console, audit.analyses)
    if audit.learning is not None:
        show_learning(console, audit.learning)
    show_notes(console, audit.notes)


def _measures(audit: Audit) -> Table:
    table = new_table("Audit", "", "")
    add_rows(
        table, count_rows(audit.exposure), risk_rows(audit.exposure), sample_rows(audit.sample)
    )
    if audit.quality is not None:
        loss, *rest = loss_rows(audit.quality, audit.loss)
        mean = ("information loss, mean of seven metrics", percent(audit.quality.mean_loss))
        add_rows(table, [loss, *weighted_rows(audit.weighted_losses, audit.loss), mean, *rest])
    if audit.utility is not None:
        add_rows(table, utility_rows(audit.utility))
    return table


def _levels(audit: Audit) -> Table:
    table = new_table("Privacy models", "model", "required", "reached", "")
    asked = {
        check.model if check.column is None else f"{check.model}[{check.column}]": check
        for check in audit.checks
    }
    for name, level in audit.levels.items():
        check = asked.get(name)
        if check is None:
            table.add_row(shown(name), "", number(level), "")
        else:
            table.add_row(shown(check.key), check.asked, number(level), verdict(check))
    for check in audit.at_most:
        table.add_row(shown(check.key), check.asked, number(check.reached), verdict(check))
    return table
