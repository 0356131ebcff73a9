"""Rows that the tables of releases and audits share, in the words of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.table import Table

from shoal.base.wording import number
from shoal.cli.console import percent, shown
from shoal.measures.information_loss import Quality
from shoal.measures.utility import Utility
from shoal.models import Check


def add_rows(table: Table, *parts: Iterable[Iterable[str]]) -> None:
    """Add rows of text to a table."""
    for rows in parts:
        for row in rows:
            table.add_row(*(cell.replace("\xa0", " ") for cell in row))


def verdict(check: Check) -> str:
    """Whether a requirement is satisfied."""
    return "[green]satisfied[/]" if check.holds else "[red]violated[/]"


def loss_rows(quality: Quality, loss: str) -> list[tuple[str, str]]:
    """What generalization cost."""
    return [
        (f"information loss ({loss})", percent(quality.losses[loss])),
        ("generalized values", percent(quality.generalized_percent)),
        ("suppressed values", percent(quality.root_percent)),
    ]


def utility_rows(utility: Utility) -> Iterator[tuple[str, str]]:
    """What a release is useful for."""
    if utility.normalized_loss is not None:
        yield "normalized information loss (0 to 1)", number(utility.normalized_loss)
    answers = utility.answers
    if answers is not None and answers.mean is not None and answers.median is not None:
        median = percent(100 * answers.median)
        yield f"mean error of counting queries (median {median})", percent(100 * answers.mean)
    for one in utility.vulnerable:
        yield (
            shown(f"vulnerable classes: violate {one.enhanced} [{one.column}]"),
            f"{one.classes:,} of {one.all_classes:,}",
        )
