"""What attacks found, as tables on the screen."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from shoal.cli.console import new_table, shown
from shoal.measures.exposure import Exposure
from shoal.report.attack_facts import attack_lines


def attack_changes(before: Exposure, after: Exposure) -> Table:
    """The share of records on which each attack succeeds, before and after."""
    whom = "people on whom" if after.linked else "records on which"
    table = new_table(
        f"Attacks: {whom} they succeed", "attack", "on", "original", "release", left=2
    )
    old = {(line.attack, line.column): line.share for line in attack_lines(before.attacks)}
    for line in attack_lines(after.attacks):
        was = old.get((line.attack, line.column), "")
        name = f"{line.attack} (people)" if line.of_people and not after.linked else line.attack
        table.add_row(name, shown(line.column or ""), _plain(was), _plain(line.share))
    return table


def attack_findings(attacks: dict[str, dict[str, Any]]) -> Table:
    """What each attack found; the detail has a line of its own, so that no name is cut."""
    table = new_table("Attacks", "attack", "on", "succeeds on", "", left=2)
    table.columns[0].min_width = 22
    for line in attack_lines(attacks):
        detail = f"\n  [dim]{shown(_plain(line.detail))}[/]" if line.detail else ""
        on = shown(line.column or "")
        whom = "people" if line.of_people else "records"
        count = line.count if line.count == "–" else f"{line.count} {whom}"
        table.add_row(line.attack + detail, on, count, _plain(line.share))
    return table


def _plain(text: str) -> str:
    """With plain spaces: a terminal may have ASCII only."""
    return text.replace("\xa0", " ")
