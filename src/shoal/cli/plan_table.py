"""What the screen shows of a plan: its columns, their roles, and why."""

from __future__ import annotations

from rich.console import Console

from shoal.cli.console import new_table, show_notes, shown
from shoal.flow.draft.plan_lines import HEADINGS, ranking_rows, ranking_title
from shoal.flow.draft.ranking import Ranking
from shoal.plan import Plan


def show_roles(console: Console, plan: Plan) -> None:
    """Show the columns of a plan, their roles, and why a draft chose them."""
    table = new_table("Columns", "column", "role", "why", left=3)
    for name, column in plan.columns.items():
        table.add_row(shown(name), column.role, shown(plan.notes.get(name, "")))
    console.print(table)
    show_notes(console, plan.remarks)


def show_ranking(console: Console, ranking: Ranking) -> None:
    """Show the quasi-identifiers by how much they single people out."""
    table = new_table(ranking_title(ranking), *HEADINGS)
    for name, *cells in ranking_rows(ranking):
        table.add_row(shown(name), *cells)
    console.print(table)
