"""The part of a report about which promise made the table as general as it is."""

from __future__ import annotations

from shoal.base.wording import MISSING, many, percent, short
from shoal.hierarchies.values import ROOT
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Heading, Table, Text, Tone
from shoal.report.sections.disclosure import DESCRIBED, on


def reasons(facts: Facts) -> list[Block]:
    """What each promise did, if that was found out."""
    found = facts.reasons
    if not found:
        return [Text(_APPLIED if facts.applied else _not_asked(facts))]
    rows: list[list[Cell | str]] = [
        [
            Cell(on(reason.model, reason.column), _BY_SEARCH if reason.by_search else ""),
            Cell(
                "–" if reason.percent is None else percent(reason.percent),
                tone="off" if reason.by_search else "strong",
            ),
            percent(reason.loss),
            "–" if reason.loss_without is None else percent(reason.loss_without),
        ]
        for reason in found
    ]
    blocks: list[Block] = [Text(_ONE if len(found) == 1 else _SEVERAL)]
    if facts.randomized and len(found) > 1:
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
    return blocks + _general(facts)


def _general(facts: Facts) -> list[Block]:
    """The most general classes, and which promise made each of them so."""
    if not facts.general:
        return []
    searched = {reason.key for reason in facts.reasons if reason.by_search}
    rows: list[list[Cell | str]] = []
    for one in facts.general:
        head = [_values(one.published), f"{one.rows:,}", percent(one.loss)]
        if not one.forced:
            word = _TOGETHER if one.complete else _UNKNOWN
            rows.append([*head, Cell(word, tone="unknown"), "–"])
        for i, without in enumerate(one.forced):
            notes = [f"{without.rows:,} of its rows"] if without.rows < one.rows else []
            notes += ["an effect of the search, see above"] if without.key in searched else []
            tone: Tone = "" if without.key in searched else "strong"
            key = Cell(short(without.key, 60), "; ".join(notes), tone)
            rows.append([*(head if i == 0 else ["", "", ""]), key, percent(without.loss)])
    what = "groups of rows that are published alike" if facts.linked else "classes"
    return [
        Heading(f"The most general {what}"),
        Table(
            ["published as", "rows", "lost", "forced by", "lost without it"],
            rows,
            f"The {what} of which most is lost by the measure {facts.guide}, on average over their "
            "rows. A promise forced a row if the row loses less without it; what is lost without "
            "it is the average of the rows that it forced. Everything that is not named is held "
            "back.",
            widths=(38, 9, 11, 29, 13),
        ),
    ]


def _values(published: dict[str, str | None]) -> str:
    """What a class shows, without what it holds back."""
    told = {name: value for name, value in published.items() if value != ROOT}
    named = [
        f"{short(name)} {MISSING if value is None else short(value)}"
        for name, value in list(told.items())[:DESCRIBED]
    ]
    if len(told) > DESCRIBED:
        named.append(f"{many(len(told) - DESCRIBED, 'column')} more")
    return ", ".join(named) or "nothing: all quasi-identifiers are held back"


def _not_asked(facts: Facts) -> str:
    """Why it is not told, and how to ask."""
    wait = f"about {many(round(facts.minutes), 'minute')}" if facts.minutes >= 1.5 else ""
    wait = wait or f"about {max(1, round(60 * facts.minutes))} seconds"
    return (
        "It was not found out which promise made which rows wider: that takes one more run for "
        f"each promise, {wait} here. `shoal anonymize --explain` does it."
    )


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
    "This algorithm leans on chance. All runs had the same seed; still a part of the differences "
    "is chance."
)
_BY_SEARCH = (
    "without it more is lost, not less: an effect of the search, which goes step by step, and not "
    "of this promise"
)
_TOGETHER = "no promise alone: together"
_UNKNOWN = "none that can be left out"
_APPLIED = (
    "The rows were published by the recoding of another table; the report of that release can tell "
    "which promise made rows wider."
)
