"""The section about the columns that single people out."""

from __future__ import annotations

from shoal.base.wording import many, percent, short
from shoal.measures.breakdowns.singling_out import SinglingOut
from shoal.report.facts import Facts
from shoal.report.figures.grid import grid
from shoal.report.page import Block, Plot, Text


def singling_out(facts: Facts) -> list[Block]:
    """A map of the quasi-identifiers of the original, alone and in pairs."""
    found = facts.singling_out
    if found is None:
        return []
    names = found.columns

    def share(i: int, j: int) -> float:
        return 100 * found.by(names[i], names[j]) / found.people

    svg = grid(names, share, _short_percent)
    return [
        Text(
            "How much an attacker could do with the columns of the original, before anything was "
            "generalized. A dark cell is a reason to generalize, or to drop, one of its columns."
        ),
        Plot(
            svg,
            f"{_finding(found)} {_reading(found)}{_SINGLE if facts.has_persons else ''}",
            alt=_told(found),
        ),
    ]


_SINGLE = (
    " Each record was looked at by itself: an attacker who knows all records of a person finds "
    "more, see “Re-identification risk”."
)


def _finding(found: SinglingOut) -> str:
    """The columns that single out most people, alone and in pairs."""
    alone = max(found.columns, key=lambda name: found.unique[name,])
    said = f"By {short(alone)} alone, {_people(found.unique[alone,], found)}"
    pairs = {names: many for names, many in found.unique.items() if len(names) == 2}
    if pairs:
        two = max(pairs, key=lambda names: pairs[names])
        said += (
            f"; by {short(two[0])} and {short(two[1])}, {percent(100 * pairs[two] / found.people)}"
        )
    if len(found.columns) + found.others > 2:
        said += f"; by all quasi-identifiers, {percent(100 * found.together / found.people)}"
    return said + "."


def _reading(found: SinglingOut) -> str:
    rest = (
        f" {many(found.others, 'column')} with fewer values are not shown." if found.others else ""
    )
    return (
        "Percent of the people who are unique by the two columns of a cell, and on the diagonal by "
        f"one column.{rest}"
    )


def _people(count: int, found: SinglingOut) -> str:
    if count == 0:
        return "nobody in the original is unique"
    verb = "is" if count == 1 else "are"
    share = percent(100 * count / found.people)
    return f"{many(count, 'person', 'people')} of the original {verb} unique ({share})"


def _short_percent(share: float) -> str:
    """A percentage that fits into a cell."""
    if share == 0:
        return "0"
    if share < 0.1:
        return "<0.1"
    return f"{share:.1f}" if share < 9.95 else f"{share:.0f}"


def _told(found: SinglingOut) -> str:
    """The grid in words: the columns alone, and the worst pairs."""
    alone = "; ".join(
        f"{short(name)}: {percent(100 * found.unique[name,] / found.people)}"
        for name in found.columns
    )
    pairs = sorted(
        ((many, names) for names, many in found.unique.items() if len(names) == 2), reverse=True
    )
    worst = "; ".join(
        f"{short(one)} and {short(other)}: {percent(100 * many / found.people)}"
        for many, (one, other) in pairs[:5]
    )
    return f"Grid of percentages. People unique by one column: {alone}. By two, the most: {worst}."
