"""The section about what is published of each column."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.base.wording import listed, many, short
from shoal.measures.breakdowns.dependencies import Revealed
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Heading, HtmlTable, Text
from shoal.report.plan_facts import ColumnFact

SHOWN = 30  # columns in the table of what they would disclose
PAIRS = 3  # pairs of columns there, those that disclose most
ROLES = {
    "quasi": "quasi-identifier: an attacker may know it",
    "sensitive": "sensitive: to be protected",
    "other": "other: assumed to be unknown to attackers",
    "weight": "weight: how many people of the population a record stands for",
    "person": "person: says which records belong to the same person",
    "household": "household: says which records belong to the same household",
}
HIDDEN = {"identifier": "Identifiers", "drop": "Dropped, as nobody needs them"}


def columns(facts: Facts) -> list[Block]:
    """The columns, empty cells, and what unchanged columns would disclose."""
    order = [*ROLES, *HIDDEN]
    known = sorted(facts.columns, key=lambda column: order.index(column.role))
    rows = [
        [_name(column), ROLES[column.role], column.how]
        for column in known
        if column.role not in HIDDEN
    ]
    return [
        HtmlTable(["column", "role", "published as"], rows, widths=(26, 38, 36)),
        *_hidden(facts),
        Text(_missing(facts)),
        *revealed(facts),
        *_if_known(facts),
    ]


def _hidden(facts: Facts) -> list[Block]:
    """The columns that are not published, all of them by name."""
    said = []
    for role, words in HIDDEN.items():
        if names := facts.columns_with_role(role):
            said.append(f"{words}: {listed(names, len(names))}.")
    return [Text(f"Not published. {' '.join(said)}")] if said else []


def _name(column: ColumnFact) -> str:
    """The name of a column, with its label if the file has one."""
    return f"{short(column.name)} ({short(column.label)})" if column.label else short(column.name)


def revealed(facts: Facts) -> list[Block]:
    """What columns that are published unchanged reveal of quasi-identifiers."""
    found = facts.dependency
    if not found.columns:
        return []
    below = {name: count for name, count in found.columns.items() if count is not None}
    worst = sorted(below, key=lambda name: (-below[name], -(found.if_known.get(name) or 0)))
    telling = [name for name in worst if below[name] or found.if_known.get(name)]
    roles = {column.name: column.role for column in facts.columns}
    pairs = [one for one in found.revealing if len(one.columns) == 2 and _adds(one, below)]
    rows: list[list[Cell | str]] = [
        [
            short(name),
            "accepted" if name in found.accepted else roles[name],
            listed(list(found.reads[name])) if found.reads[name] else "–",
            Cell(f"{below[name]:,}", tone="bad" if below[name] else "strong"),
            "–" if found.if_known.get(name) is None else f"{found.if_known[name]:,}",
        ]
        for name in telling[:SHOWN]
    ]
    rows += [
        [
            listed(list(one.columns)),
            "together",
            listed(list(one.reads)) if one.reads else "–",
            Cell(f"{one.below:,}", tone="bad"),
            "–",
        ]
        for one in pairs[:PAIRS]
    ]
    k = f"{found.k:,}" if found.k else "the people of the smallest class"
    blocks: list[Block] = [
        Heading("What columns that are not generalized reveal of quasi-identifiers"),
        Text(
            "An attacker who knows the quasi-identifiers of a person can rule out records of the "
            "class whose other values do not go with them. Which values go together is learned "
            "from the release, where it shows a quasi-identifier exactly; or it is known from "
            "elsewhere, such as a code book or a census table. "
            + (
                f"The table shows for how many of {many(facts.people, 'person', 'people')} fewer "
                f"than {k} are left, for each of these two attackers."
                if rows
                else "No column that was measured brings anybody below the required class size."
            )
        ),
    ]
    if rows:
        if found.together > max(below.values(), default=0):
            known = found.together_if_known
            rows.append(
                [
                    "all of them together", "", "",
                    Cell(f"{found.together:,}", tone="bad"),
                    "–" if known is None else f"{known:,}",
                ]
            )  # fmt: skip
        more = len(telling) - SHOWN
        blocks.append(
            HtmlTable(
                ["column", "role", "reveals", "learned from the release", "known from elsewhere"],
                rows,
                f"{many(more, 'more column')} bring fewer people below that." if more > 0 else "",
                widths=(26, 14, 26, 17, 17),
                stacks=True,
            )
        )
    return blocks


def _adds(pair: Revealed, below: Mapping[str, int]) -> bool:
    """Whether two columns together bring more people below k than each of them alone."""
    return pair.below > sum(below.get(name, 0) for name in pair.columns)


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
        Heading("If an attacker knew a column that is not generalized"),
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
