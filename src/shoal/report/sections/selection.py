"""The part of a report about what was tried before an algorithm was chosen."""

from __future__ import annotations

from shoal.base.wording import listed, sentence
from shoal.measures.tried import Tried
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Table, Text


def chosen(facts: Facts) -> list[Block]:
    """What was tried, the least loss first; on the whole table, then on the sample."""
    order = sorted(facts.tried, key=lambda one: (one.on == "sample", _lost(one)))
    rows: list[list[Cell | str]] = [
        [
            Cell(one.algorithm, _note(one)),
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
            "program. It ran what the plan would run by default on the whole table, tried what "
            "else could satisfy the requirements on a sample, then the best of that on the whole "
            "table, and kept what lost least. Every requirement was verified on the published "
            "table afterwards, as for any other release."
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


def _note(one: Tried) -> str:
    """Whether it was chosen, which columns were free, and why it did not come to an end."""
    free = f"free ranges or sets of {listed(list(one.free))}" if one.free else ""
    parts = ["chosen" if one.chosen else "", free, one.reason]
    said = "; ".join(part for part in parts if part)
    return sentence(said) if one.reason else said


def _lost(one: Tried) -> float:
    return float("inf") if one.lost is None else one.lost
