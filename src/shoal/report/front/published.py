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
        for role in (
            "quasi",
            "sensitive",
            "weight",
            "other",
            "person",
            "household",
            "identifier",
            "drop",
        )
    }
    said = {
        "quasi-identifiers": (names["quasi"], "generalized"),
        "sensitive": (names["sensitive"], "unchanged"),
        "weight": (names["weight"], "unchanged" if facts.weights_published else "–"),
        "other": (names["other"], "unchanged"),
        "person": (names["person"], "random numbers" if facts.persons_published else "–"),
        "household": (names["household"], "random numbers" if facts.persons_published else "–"),
        "not published": ([*names["identifier"], *names["drop"]], "–"),
    }
    rows: list[list[Cell | str]] = [
        [role, listed(some, HIDDEN if role == "not published" else NAMED), how]
        for role, (some, how) in said.items()
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
