"""The section about what was tried before an algorithm was chosen."""

from __future__ import annotations

from shoal.base.wording import listed, sentence
from shoal.measures.tried import Tried
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, HtmlTable, Text


def selection(facts: Facts) -> list[Block]:
    """What was tried on the whole table, then on the sample; the lowest loss first."""
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
            "The plan left the choice of the algorithm, or of the metric that guides it, to shoal. "
            "It ran the default on the whole table, tried the alternatives that can satisfy the "
            "requirements on a sample, then ran the best of them on the whole table, and kept the "
            "release with the lowest loss. Every requirement was verified on the published table "
            "afterwards, as for any other release."
        ),
        HtmlTable(
            ["algorithm", "guided by", "records", "loss", "seconds"],
            rows,
            "The note on the choice, under “Requirements”, says how the loss is measured. On a "
            "sample, which has fewer people, every loss is higher: compare lines with the same "
            "number of records.",
            widths=(36, 18, 18, 14, 14),
        ),
    ]


def _note(one: Tried) -> str:
    """Whether it was chosen, which columns were free, and why it did not finish."""
    free = f"free ranges or sets of {listed(list(one.free))}" if one.free else ""
    parts = ["chosen" if one.chosen else "", free, one.reason]
    said = "; ".join(part for part in parts if part)
    return sentence(said) if one.reason else said


def _lost(one: Tried) -> float:
    return float("inf") if one.lost is None else one.lost
