"""What is published, by role: what the approver has to agree with."""

from __future__ import annotations

from shoal.base.wording import listed
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, HtmlTable

NAMED, HIDDEN = 12, 6  # columns of a role that are named; the annex has all of them


def published(facts: Facts) -> list[Block]:
    """The columns of each role, and how they are published."""
    names = {
        role: facts.columns_with_role(role)
        for role in ("person", "household", "identifier", "drop")
    }
    said = [
        *_by_how(facts, "quasi", "quasi-identifiers"),
        *_by_how(facts, "sensitive", "sensitive"),
        *_by_how(facts, "weight", "weight"),
        *_by_how(facts, "other", "other"),
        ("person", names["person"], "random numbers" if facts.persons_published else "–"),
        ("household", names["household"], "random numbers" if facts.persons_published else "–"),
        ("not published", [*names["identifier"], *names["drop"]], "–"),
    ]
    rows: list[list[Cell | str]] = [
        [role, listed(some, HIDDEN if role == "not published" else NAMED), how]
        for role, some, how in said
        if some
    ]
    return [
        HtmlTable(
            ["role", "columns", "published as"],
            rows,
            "Attackers may know the quasi-identifiers, and are assumed not to know the other "
            "columns.",
            widths=(20, 62, 18),
        )
    ]


def _by_how(facts: Facts, role: str, words: str) -> list[tuple[str, list[str], str]]:
    """The columns of a role, those together that are published in the same way.

    A column whose numbers are cut off is not unchanged, and readers of the release must know it.
    """
    found: dict[str, list[str]] = {}
    for column in facts.columns:
        if column.role == role:
            found.setdefault(column.brief, []).append(column.name)
    return [(words, names, how) for how, names in found.items()]
