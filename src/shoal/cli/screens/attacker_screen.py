"""What the screen shows of the view of an attacker on a class."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shoal.base.errors import BadPlan
from shoal.cli.console import new_table, print_tables, shown
from shoal.measures.breakdowns.attacker_view import AttackerView


def check_view(row: int | None, class_: int | None) -> None:
    """Raise an error unless at most one of them is given, and counts from 1."""
    if row is not None and class_ is not None:
        raise BadPlan("give --row or --class, not both: a record is in one class")
    for name, number in (("--row", row), ("--class", class_)):
        if number is not None and number < 1:
            raise BadPlan(f"{name} counts from 1, got {number}")


def show_view(
    console: Console, view: AttackerView, row: int | None = None, class_: int | None = None
) -> None:
    """Show what an attacker sees; `row` and `class_` are the numbers on the command line."""
    print_tables(console, lambda: _seen(view, row, class_))
    _, *rest = replace(view, row=row).lines()
    for line in rest:  # nothing in it may move the cursor
        words = Text("".join(c if c.isprintable() else "?" for c in line.strip()))
        console.print(Padding(words, (0, 0, 0, 2)))


def _seen(view: AttackerView, row: int | None, class_: int | None) -> Table:
    whose = "" if row is None else f" of record {row}"
    if class_ is not None:
        whose = f" of class {class_:,} (1 is the smallest)"
    who = "an attacker" if view.attacker is None else f"the attacker {shown(view.attacker)}"
    table = new_table(f"What {who} sees{whose}", "quasi-identifier", "published as", left=2)
    for name, value in view.published.items():
        table.add_row(shown(name), "(missing)" if value is None else shown(value))
    return table
