"""Value widths: how precise the published values of each quasi-identifier are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from shoal.base.wording import number, short
from shoal.hierarchies.base import SUPPRESSED_WIDTH, Hierarchy, Width
from shoal.hierarchies.values import text
from shoal.table.published_table import Published
from shoal.table.roles import Column, missing_words

LINES = 6  # widths per column, at most
EMPTY, MISSING, OTHERS = "empty", "missing", "other widths"


@dataclass(frozen=True)
class WidthFact:
    """One quasi-identifier: the number of records by width, the most precise first."""

    column: str
    rows: list[tuple[str, int]]


def widths(
    columns: Mapping[str, Column], seen: Published, words: Sequence[str] = ()
) -> list[WidthFact]:
    """How precise each quasi-identifier is published, measured on the release.

    `words` are those of the plan that mean missing: 99 next to ages is no exact age.
    """
    facts = []
    for j, name in enumerate(seen.names):
        if (how := columns[name].microaggregate) is not None:
            lacking, *there = seen.often(j).tolist()
            counted = [(f"the {how} of the class", sum(there)), (EMPTY, lacking)]
            facts.append(WidthFact(name, [pair for pair in counted if pair[1]]))
            continue
        hierarchy = columns[name].hierarchy or Hierarchy.flat()
        ends = [Width(-inf, hierarchy.exact), SUPPRESSED_WIDTH]
        rows = dict.fromkeys([*ends, *hierarchy.steps()], 0)
        absent = set(missing_words(columns, name, words))
        gaps = {None} | {value for value in seen.values[j] if text(value) in absent}
        gap = Width(inf, MISSING if len(gaps) > 1 else EMPTY)
        for value, times in zip([None, *seen.values[j]], seen.often(j).tolist(), strict=True):
            if times:
                width = gap if value in gaps else hierarchy.width(text(value))
                rows[width] = rows.get(width, 0) + times
        there = [value for value in seen.values[j] if value not in gaps]
        facts.append(WidthFact(name, _few(_named(rows, hierarchy, there))))
    return facts


def _named(
    rows: dict[Width, int], hierarchy: Hierarchy, values: Sequence[object]
) -> list[tuple[str, int]]:
    """The widths in order; a level of a tree is shown with a published value as an example."""
    examples: dict[float, str] = {}
    if any(not width.words for width in rows):
        for value in values:
            place, words = hierarchy.width(text(value))
            if not words:
                known = examples.get(place)
                examples[place] = min(known, text(value)) if known else text(value)
    ordered = sorted(rows.items(), key=lambda item: (item[0][0], item[0][1] in (EMPTY, MISSING)))
    return [
        (words or f"level {number(place)}, such as “{short(examples[place], 28)}”", count)
        for (place, words), count in ordered
    ]


def _few(rows: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """A readable number of lines: both ends, and the widths with the most records."""
    ends = {rows[0][0], SUPPRESSED_WIDTH.words, EMPTY, MISSING}
    if len(rows) > LINES:
        rows = [line for line in rows if line[1] or line[0] in ends]
    if len(rows) <= LINES:
        return rows
    between = sorted((line for line in rows if line[0] not in ends), key=lambda line: -line[1])
    room = LINES - 1 - sum(line[0] in ends for line in rows)
    kept, rest = between[:room], between[room:]
    shown = [line for line in rows if line in kept or line[0] in ends]
    at = next(i for i, line in enumerate(shown) if line[0] == SUPPRESSED_WIDTH.words)
    return [*shown[:at], (OTHERS, sum(count for _, count in rest)), *shown[at:]]
