"""What the screen shows of a frontier: the settings, and what to do."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from shoal.cli.console import new_table, percent, print_tables, show_notes, shown
from shoal.comparing.frontier.points import RISK_WORDS, Frontier, Point

NONE = "–"
SHORT = 26  # characters of a setting that fit on a line with its numbers


def show_frontier(console: Console, found: Frontier) -> None:
    """Show the settings by risk, the limits that they exceed, and the recommendation."""
    if found.holds:
        print_tables(console, lambda: _settings(found))
        for one in found.on_table:
            if one.beyond:
                limits = ", ".join(one.beyond)
                console.print(f"  {shown(one.setting.label)} is beyond: {shown(limits)}")
        for sentence in found.advice:
            console.print(f"[bold]►[/] {shown(sentence)}")
    show_notes(console, found.notes)


def _settings(found: Frontier) -> Table:
    title = f"Loss against risk, {found.rows:,} records ({RISK_WORDS[found.by]})"
    limited = any(one.within is not None for one in found.on_table)
    heads = ["setting", "loss", "average risk", "highest risk", "inference"]
    table = new_table(title, *heads, "limits" if limited else "")
    table.columns[0].no_wrap = all(len(one.setting.label) <= SHORT for one in found.on_table)
    best, knee = found.best, found.knee
    for one in found.on_table:
        words = ["plan"] if found.is_own(one) else []
        words += ["knee"] if one == knee else []
        if one.within is not None:
            words.append("within" if one.within else "beyond")
        style = "bold" if one == knee else None if one in best else "dim"
        table.add_row(shown(one.setting.label), *_numbers(one), ", ".join(words), style=style)
    return table


def _numbers(one: Point) -> list[str]:
    risks = [one.average, one.highest, one.inference]
    shares = [NONE if risk is None else percent(100 * risk) for risk in risks]
    return [NONE if one.lost is None else percent(one.lost), *shares]
