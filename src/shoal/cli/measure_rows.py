"""Rows that the tables of releases and audits share, in the words of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.table import Table

from shoal.base.wording import number
from shoal.cli.console import new_table, percent, shown
from shoal.measures.exposure import Exposure
from shoal.measures.information_loss import Quality
from shoal.measures.utility import Utility
from shoal.measures.verdicts.verdict import Verdict
from shoal.models import Check
from shoal.report.limit_facts import limit_facts


def add_rows(table: Table, *parts: Iterable[Iterable[str]]) -> None:
    """Add rows of text to a table."""
    for rows in parts:
        for row in rows:
            table.add_row(*(cell.replace("\xa0", " ") for cell in row))


def attacker_table(attackers: Mapping[str, Exposure]) -> Table:
    """What each of several attackers sees."""
    table = new_table(
        "Attackers", "attacker", "classes", "smallest class", "highest risk", "average risk"
    )
    for name, one in attackers.items():
        table.add_row(
            shown(name),
            f"{one.classes:,}",
            f"{one.smallest_class:,}",
            percent(100 * one.risks.prosecutor),
            percent(100 * one.risks.mean),
        )
    return table


def verdict(check: Check) -> str:
    """Whether a requirement is satisfied."""
    return "[green]satisfied[/]" if check.holds else "[red]violated[/]"


COLOURS = {"green": "green", "amber": "yellow", "red": "red", "unknown": "dim"}


def limit_table(verdicts: Sequence[Verdict], loss: str) -> Table:
    """The limits of the plan, and what is reached."""
    table = new_table("Limits", "", "limit", "reached", "")
    for one in limit_facts(verdicts, loss):
        cells = [cell.replace("\xa0", " ") for cell in (one.what, one.allowed, one.reached)]
        table.add_row(shown(cells[0]), *cells[1:], f"[{COLOURS[one.verdict]}]{one.word}[/]")
    return table


def loss_rows(quality: Quality, loss: str) -> list[tuple[str, str]]:
    """What generalization cost."""
    return [
        (f"information loss ({loss})", percent(quality.losses[loss])),
        ("generalized values", percent(quality.generalized_percent)),
        ("suppressed values", percent(quality.root_percent)),
    ]


def weighted_rows(losses: Mapping[str, float] | None, loss: str) -> list[tuple[str, str]]:
    """What generalization cost, if each record counts as often as its weight says."""
    if losses is None:
        return []
    return [(f"information loss ({loss}), weighted", percent(losses[loss]))]


def utility_rows(utility: Utility) -> Iterator[tuple[str, str]]:
    """What a release is useful for."""
    if utility.normalized_loss is not None:
        yield "normalized information loss (0 to 1)", number(utility.normalized_loss)
    answers = utility.answers
    if answers is not None and answers.mean is not None and answers.median is not None:
        median = percent(100 * answers.median)
        yield f"mean error of counting queries (median {median})", percent(100 * answers.mean)
    weighted = utility.weighted
    if weighted is not None and weighted.mean is not None and weighted.median is not None:
        median = percent(100 * weighted.median)
        label = f"mean error of weighted counts (median {median})"
        yield label, percent(100 * weighted.mean)
    for lost in utility.microaggregated:
        share = "–" if lost.share is None else percent(100 * lost.share)
        yield shown(f"variance lost by the {lost.published} per class [{lost.column}]"), share
    for one in utility.vulnerable:
        yield (
            shown(f"vulnerable classes: violate {one.enhanced} [{one.column}]"),
            f"{one.classes:,} of {one.all_classes:,}",
        )
