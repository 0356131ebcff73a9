"""The section about attackers who know different columns."""

from __future__ import annotations

from shoal.base.wording import listed
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, HtmlTable, Text


def attackers(facts: Facts) -> list[Block]:
    """What each attacker knows, and how well people are hidden from that attacker."""
    if not facts.attackers:
        return []
    rows: list[list[Cell | str]] = [
        [
            Cell(one.name, f"knows {listed(one.knows)}"),
            f"{one.classes:,}",
            Cell(f"{one.smallest:,}", tone="strong"),
            one.highest_risk,
            one.average_risk,
        ]
        for one in facts.attackers
    ]
    return [
        Text(
            "The plan names attackers who know different quasi-identifiers. A class, as an "
            "attacker sees it, is a group of records with the same values of the columns that this "
            "attacker knows. Every requirement is satisfied for each of them. Page one judges "
            "limits, and lists what attackers find, by whichever attacker finds most. Risks, class "
            f"sizes and attacks in this annex are those of the attacker with the highest risk"
            f"{_shown(facts)}."
        ),
        HtmlTable(
            ["attacker", "classes", "smallest class", "highest risk", "average risk"],
            rows,
            "Attackers who put together what they know are not covered.",
            numbers=True,
        ),
    ]


def _shown(facts: Facts) -> str:
    """Whose view the annex shows."""
    names = [one.name for one in facts.attackers if one.shown]
    return f", {names[0]}" if names else ""
