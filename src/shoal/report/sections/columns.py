"""The section about what is published of each column."""

from __future__ import annotations

from shoal.base.wording import listed, many, sentence, short
from shoal.measures.column_disclosure import describe
from shoal.report.facts import Facts
from shoal.report.page import Block, Bullets, Cell, Heading, HtmlTable, Text
from shoal.report.plan_facts import ColumnFact

SHOWN = 30  # columns in the table of what they would disclose
WARNED = 5  # columns that get a sentence of their own
ROLES = {
    "quasi": "quasi-identifier: an attacker may know it",
    "sensitive": "sensitive: to be protected",
    "identifier": "identifier",
    "drop": "dropped: nobody needs it",
    "person": "person: says which records belong to the same person",
    "other": "other: assumed to be unknown to attackers",
}


def columns(facts: Facts) -> list[Block]:
    """The columns, empty cells, and what unchanged columns would disclose."""
    order = list(ROLES)
    known = sorted(facts.columns, key=lambda column: order.index(column.role))
    rows = [[_name(column), ROLES[column.role], column.how] for column in known]
    return [
        HtmlTable(["column", "role", "published as"], rows, widths=(26, 38, 36)),
        Text(_missing(facts)),
        *_if_known(facts),
    ]


def _name(column: ColumnFact) -> str:
    """The name of a column, with its label if the file has one."""
    return f"{short(column.name)} ({short(column.label)})" if column.label else short(column.name)


def _if_known(facts: Facts) -> list[Block]:
    """What columns that are published unchanged would disclose."""
    known = sorted(facts.if_known.items(), key=lambda one: (-one[1].alone, -one[1].values))
    if not known:
        return []
    rows: list[list[Cell | str]] = [
        [
            short(name),
            f"{one.values:,}",
            Cell(f"{one.alone:,}", tone="bad" if name in facts.worrying else "strong"),
        ]
        for name, one in known[:SHOWN]
    ]
    more = len(known) - len(rows)
    blocks: list[Block] = [
        Heading("If an attacker knew an unchanged column"),
        Text(
            "Columns other than quasi-identifiers are assumed to be unknown to attackers, and no "
            "requirement covers an attacker who knows one. The table shows how many of "
            f"{many(facts.people, 'person', 'people')} would be unique if the column were known "
            "together with the quasi-identifiers."
        ),
        HtmlTable(
            ["column", "different values", "unique people"],
            rows,
            f"{many(more, 'more column')} would make fewer people unique." if more else "",
            numbers=True,
        ),
    ]
    if facts.worrying:
        worst = facts.worrying[:WARNED]
        said = [describe(facts.if_known[name], short(name), facts.people) for name in worst]
        blocks.append(Bullets([sentence(words) for words in said]))
        blocks.append(
            Text(
                "If an attacker may know such a column, make it a quasi-identifier. If nobody "
                "needs it, give it the role drop: it is then not published."
            )
        )
    return blocks


def _missing(facts: Facts) -> str:
    words = [f"“{short(word)}”" for word in facts.missing_words]
    also = f" Cells with {listed(words)} count as empty." if words else ""
    if words and facts.missing == "value":
        also = (
            f" {listed(words)} {'means' if len(words) == 1 else 'mean'} missing too, and "
            f"{'is' if len(words) == 1 else 'are'} published as written: a value of its own."
        )
    empty = (
        "An empty cell of a quasi-identifier is a value of its own: it is published as empty, and "
        "all empty cells are equal."
    )
    rule = {
        "value": empty,
        "empty": empty,
        "root": "An empty cell of a quasi-identifier is published like a suppressed value.",
        "error": "The plan allows no empty cell in a quasi-identifier.",
    }[facts.missing]
    cells = many(facts.missing_cells, "empty cell") if facts.missing_cells else "no empty cell"
    count = f" The quasi-identifiers of the release have {cells}."
    sensitive = " An empty cell of a sensitive column is a sensitive value of its own."
    tail = sensitive if facts.columns_with_role("sensitive") else ""
    return rule + also + (count if facts.missing != "error" else "") + tail
