"""The section about which requirement forced which generalization."""

from __future__ import annotations

from shoal.base.wording import MISSING, many, percent, short
from shoal.hierarchies.values import ROOT
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Heading, HtmlTable, Text, Tone
from shoal.report.sections._labels import DESCRIBED, on


def reasons(facts: Facts) -> list[Block]:
    """The effect of each requirement, if it was computed."""
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
    if facts.random_choices and len(found) > 1:
        blocks.append(Text(_RANDOMIZED))
    blocks.append(
        HtmlTable(
            ["requirement", "records it forced", "loss with all", "loss without it"],
            rows,
            "Records in percent of all records of the original; loss by the metric "
            f"{facts.guide}. A dash means that the algorithm cannot run without this requirement.",
            widths=(40, 20, 20, 20),
        )
    )
    return blocks + _general(facts)


def _general(facts: Facts) -> list[Block]:
    """The most general classes, and what forced each of them."""
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
            notes = [f"{without.rows:,} of its records"] if without.rows < one.rows else []
            notes += ["an effect of the search, see above"] if without.key in searched else []
            tone: Tone = "" if without.key in searched else "strong"
            key = Cell(short(without.key, 60), "; ".join(notes), tone)
            rows.append([*(head if i == 0 else ["", "", ""]), key, percent(without.loss)])
    what = "groups of identical records" if facts.linked else "classes"
    return [
        Heading(f"The most general {what}"),
        HtmlTable(
            ["published as", "records", "loss", "forced by", "loss without it"],
            rows,
            f"The {what} with the largest loss by the metric {facts.guide}, on average over their "
            "records. A requirement forced the generalization of a record if the record loses less "
            "without it; the loss without it is the average over the records that it forced. "
            "Columns that are not named are suppressed.",
            widths=(38, 9, 11, 29, 13),
        ),
    ]


def _values(published: dict[str, str | None]) -> str:
    """The published values of a class, without suppressed ones."""
    known = {name: value for name, value in published.items() if value != ROOT}
    named = [
        f"{short(name)} {MISSING if value is None else short(value)}"
        for name, value in list(known.items())[:DESCRIBED]
    ]
    if len(known) > DESCRIBED:
        named.append(f"{many(len(known) - DESCRIBED, 'more column')}")
    return ", ".join(named) or "nothing: all quasi-identifiers are suppressed"


def _not_asked(facts: Facts) -> str:
    """Why there is no answer, and how to get one."""
    wait = f"about {many(round(facts.minutes), 'minute')}" if facts.minutes >= 1.5 else ""
    wait = wait or f"about {max(1, round(60 * facts.minutes))} seconds"
    return (
        "Not computed: which requirement forced which generalization. It takes one extra run per "
        f"requirement, {wait} here: run `shoal anonymize --explain`."
    )


_ONE = (
    "There is one requirement. Without it every record would be published unchanged, so it forced "
    "all generalization."
)
_SEVERAL = (
    "The release was made again once per requirement, without that requirement and otherwise the "
    "same. A requirement forced the generalization of a record if the record loses less without "
    "it. Several requirements can force the same record, or none of them alone, so the shares need "
    "not add up to 100 %. The search is greedy, so without a requirement some records may lose "
    "more; these do not count."
)
_RANDOMIZED = (
    "This algorithm makes random choices. All runs had the same random seed, but a part of the "
    "differences is still random."
)
_BY_SEARCH = (
    "without it the loss is higher: an effect of the greedy search, not of this requirement"
)
_TOGETHER = "no requirement alone: several together"
_UNKNOWN = "not known: a requirement cannot be omitted"
_APPLIED = (
    "The records were published with the recoding of another table; see the report of that release."
)
