"""Lines at the end of a drafted plan: the ranking of quasi-identifiers, and how to write types."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.base.wording import percent, short
from shoal.flow.draft.facts import Facts
from shoal.flow.draft.ranking import Ranking

HEADINGS = ("column", "values", "distinction", "separation", "unique without it")


def ranking_rows(ranking: Ranking) -> list[tuple[str, ...]]:
    """The cells of the ranking, row by row."""
    return [
        (
            rank.title or rank.column,
            f"{rank.distinct:,}",
            percent(rank.distinction).replace("\xa0", " "),
            percent(rank.separation).replace("\xa0", " "),
            f"{rank.unique_without:,} ({-rank.gain(ranking.unique):+,})",
        )
        for rank in ranking.ranks
    ]


def ranking_title(ranking: Ranking) -> str:
    """What the ranking shows."""
    return (
        f"Quasi-identifiers by how much they single people out: {ranking.unique:,} of "
        f"{ranking.basis} are unique by all of them"
    )


def ranking_lines(ranking: Ranking) -> list[str]:
    """The ranking as lines of equal columns."""
    rows = [HEADINGS, *((short(row[0]), *row[1:]) for row in ranking_rows(ranking))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return [ranking_title(ranking), *(f"  {line}".rstrip() for line in lines)]


def type_lines(columns: Iterable[Facts]) -> list[str]:
    """Lines for a plan file on how to write numbers as such; [] if no text is a number or date.

    `columns` are those that are published. Text files have no types, and spreadsheets may have
    numbers as text.
    """
    texts = [facts for facts in columns if facts.is_text]
    if not any(facts.numbers is not None or facts.dates for facts in texts):
        return []
    return [
        "Numbers and dates are text in this table. To write columns of them as such to a "
        "spreadsheet, Parquet or SPSS:",
        "[write]",
        'types = "infer"',
        "",
    ]
