"""The part of a report about what was tried before an algorithm was chosen."""

from __future__ import annotations

from shoal.choose import Tried
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Table, Text
from shoal.report.words import sentence


def chosen(facts: Facts) -> list[Block]:
    """What was tried, the least loss first; on the whole table, then on the sample."""
    order = sorted(facts.tried, key=lambda one: (one.on == "sample", _lost(one)))
    rows: list[list[Cell | str]] = [
        [
            Cell(one.algorithm, "chosen" if one.chosen else sentence(one.reason)),
            one.loss,
            f"{one.rows:,}" + (" (all)" if one.on == "table" else ""),
            "–" if one.lost is None else f"{one.lost:.2f}\u00a0%",
            f"{one.seconds:.2f}",
        ]
        for one in order
    ]
    return [
        Text(
            "The plan left the choice of the algorithm, or of the loss that guides it, to the "
            "program. It tried what could keep the promises on a sample of the table, then the "
            "best of it on the whole table, and kept what lost least. Every promise was verified "
            "on the published table afterwards, as for any other release."
        ),
        Table(
            ["algorithm", "guided by", "rows", "lost", "seconds"],
            rows,
            "Lost is measured as the note on the choice says, under “What was promised”. A sample "
            "has fewer people than the table, so everything loses more on it: compare lines with "
            "the same number of rows.",
            widths=(36, 18, 18, 14, 14),
        ),
    ]


def _lost(one: Tried) -> float:
    return float("inf") if one.lost is None else one.lost
