"""The section about the requirements, and what the release guarantees."""

from __future__ import annotations

from shoal.base.wording import listed, sentence
from shoal.measures.verdicts.within_at_most import NAME as AT_MOST
from shoal.report.facts import Facts
from shoal.report.page import Block, Bullets, Cell, HtmlTable, Text
from shoal.report.sections._labels import detailed_columns, left_out, on
from shoal.report.sections.certainty import sureness


def requirements(facts: Facts) -> list[Block]:
    """Each requirement in words, and what the release reaches."""
    rows: list[list[Cell | str]] = [
        [
            Cell(on(one.model, one.column), one.words),
            one.asked,
            Cell(one.reached, tone="strong"),
            Cell("satisfied", tone="good") if one.holds else Cell("violated", tone="bad"),
        ]
        for one in facts.requirements
    ]
    shown = detailed_columns(facts)
    rest = left_out(facts, list(dict.fromkeys(one.column for one in facts.sure)))
    blocks: list[Block] = [
        Text(_LINKED if facts.linked else _classes(facts)),
        HtmlTable(
            ["requirement", "required", "reached", ""],
            rows,
            " ".join([_measured(facts), *([_AT_MOST] if _limited(facts) else [])]),
            widths=(58, 14, 14, 14),
        ),
        *sureness([one for one in facts.sure if one.column in shown]),
        *([Text(rest)] if rest else []),
    ]
    if facts.notes:
        blocks += [Text("Notes:"), Bullets([sentence(note) for note in facts.notes])]
    return blocks


def _limited(facts: Facts) -> bool:
    return any(one.model == AT_MOST for one in facts.requirements)


def _measured(facts: Facts) -> str:
    if facts.linked:
        return _MEASURED_LINKED
    if facts.measured_with:
        return _MEASURED_WITH.format(listed(facts.measured_with))
    if len(facts.whole_table) == sum(one.model != AT_MOST for one in facts.requirements):
        return _MEASURED_ONLY_WHOLE
    return _MEASURED_WHOLE if facts.whole_table else _MEASURED


def _classes(facts: Facts) -> str:
    return (
        "An equivalence class, or class, is a group of records with the same values in all "
        "quasi-identifiers: the columns that an attacker may know. An attacker who looks for a "
        "person finds the class, but not which of its "
        f"{'people' if facts.has_persons else 'records'} it is."
    )


_LINKED = (
    "In this release records need not form classes of equal ones: it is enough that several "
    "records are possible for each person. A published record is possible for a person if it "
    "covers the person's values, and if everybody else can still be assigned a record that covers "
    "theirs: a complete assignment of people to records."
)
_MEASURED = (
    "Reached is the level of the worst class. It was measured on the published table alone, by "
    "code that does not depend on the algorithm."
)
_MEASURED_WHOLE = (
    "Reached is the level of the worst class. For a requirement about the whole table it is the "
    "level of the table: single people may be less protected. It was measured on the published "
    "table alone, by code that does not depend on the algorithm."
)
_MEASURED_ONLY_WHOLE = (
    "Reached is the level of the whole table: single people may be less protected. It was measured "
    "on the published table alone, by code that does not depend on the algorithm."
)
_MEASURED_WITH = (
    "Reached is the level of the worst class, or of the whole table. It was measured on the "
    "published table together with {}, by code that does not depend on the algorithm. It cannot be "
    "measured on the release alone."
)
_AT_MOST = "For at_most it is the most general published value of the column."
_MEASURED_LINKED = (
    "Reached is the level of the most exposed person or record. It was measured on the published "
    "table and its original together, by code that does not depend on the algorithm. It cannot be "
    "measured on the release alone."
)
