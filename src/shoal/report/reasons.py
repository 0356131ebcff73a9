"""The part of a report about which promise made the table as general as it is."""

from __future__ import annotations

from shoal.report.facts import Facts
from shoal.report.found import on
from shoal.report.page import Block, Cell, Table, Text
from shoal.report.words import percent


def reasons(facts: Facts) -> list[Block]:
    """What each promise did, if that was found out."""
    found = facts.reasons
    if not found:
        return [Text(_APPLIED if facts.applied else _NOT_ASKED)]
    rows: list[list[Cell | str]] = [
        [
            on(reason.model, reason.column),
            Cell("–" if reason.percent is None else percent(reason.percent), tone="strong"),
            percent(reason.loss),
            "–" if reason.loss_without is None else percent(reason.loss_without),
        ]
        for reason in found
    ]
    blocks: list[Block] = [Text(_ONE if len(found) == 1 else _SEVERAL)]
    if facts.randomized and facts.seed is None and len(found) > 1:
        blocks.append(Text(_CHANCE))
    blocks.append(
        Table(
            ["promise", "rows it made wider", "lost with all promises", "lost without this one"],
            rows,
            f"Rows in percent of all rows of the original; lost by the measure {facts.guide}. "
            "A dash: the algorithm cannot do without this promise.",
            widths=(40, 20, 20, 20),
        )
    )
    return blocks


_ONE = (
    "There is one promise. Without it every row would be published as it is, so it made all rows "
    "wider that are wider than they were."
)
_SEVERAL = (
    "The table was made once more for each promise, without that one and with all else the same. "
    "A promise made a row wider if the row loses less without it. One row may be held wide by "
    "several promises, or by none alone: the shares need not add up to 100 %. Rows are gathered "
    "step by step, each step the best one at its time, so that without a promise some rows may "
    "come out wider; these do not count."
)
_CHANCE = (
    "This algorithm leans on chance, and no seed was given: a part of the differences is chance."
)
_NOT_ASKED = (
    "The table is large, and it was not asked which promise made which rows wider: that takes one "
    "more run for each promise. `shoal anonymize --explain` tells it."
)
_APPLIED = (
    "The rows were published by the recoding of another table; the report of that release can tell "
    "which promise made rows wider."
)
