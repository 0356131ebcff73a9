"""The ranking of quasi-identifiers as lines of text, for comments in a plan file."""

from __future__ import annotations

from shoal.base.wording import percent, short
from shoal.flow.draft.ranking import Ranking

HEADINGS = ("column", "values", "distinction", "separation", "unique without it")


def ranking_rows(ranking: Ranking) -> list[tuple[str, ...]]:
    """The cells of the ranking, row by row."""
    return [
        (
            rank.column,
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
    return [f"{ranking_title(ranking)}:", *(f"  {line}".rstrip() for line in lines)]
