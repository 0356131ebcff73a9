"""What the screen shows of records that are unique on few columns."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from shoal.base.wording import number
from shoal.cli.console import new_table, percent, print_tables, shown
from shoal.measures.samples.special_uniques import SpecialUniques

SETS = 10  # sets of columns that are shown, those that single out most


def show_uniques(console: Console, uniques: SpecialUniques) -> None:
    """Show how many records are unique on few columns, and on which."""
    tables = [lambda: _records(uniques)]
    if any(one.minimal for one in uniques.sets):
        tables.append(lambda: _sets(uniques))
    print_tables(console, *tables)


def _records(uniques: SpecialUniques) -> Table:
    table = new_table("Special uniques", "", "")
    found, total = int((uniques.smallest > 0).sum()), len(uniques.smallest)
    sizes = many_columns(uniques.most)
    share = percent(100 * found / total)
    table.add_row(f"records that are unique on {sizes} or fewer", f"{found:,} ({share})")
    for size in range(1, uniques.most + 1):
        alone = int((uniques.smallest == size).sum())
        table.add_row(f"of these, on {many_columns(size)} at the least", f"{alone:,}")
    table.add_row("highest score", number(float(uniques.scores.max(initial=0.0))))
    correct = percent(100 * uniques.correct_match) if uniques.unique else "–"
    table.add_row("a unique match is correct with", correct)
    return table


def many_columns(size: int) -> str:
    """A number of columns."""
    return "1 column" if size == 1 else f"{size} columns"


def _sets(uniques: SpecialUniques) -> Table:
    table = new_table(
        "Minimal uniques by columns", "columns", "minimal for", "unique records", "average risk"
    )
    worst = sorted(uniques.sets, key=lambda one: (-one.minimal, len(one.columns)))
    for one in worst[:SETS]:
        if one.minimal:
            table.add_row(
                shown(", ".join(one.columns)),
                f"{one.minimal:,}",
                f"{one.unique:,}",
                percent(100 * one.average_risk),
            )
    return table
