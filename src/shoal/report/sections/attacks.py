"""The section about attacks, and its annex."""

from __future__ import annotations

from shoal.report.attack_facts import AttackFact
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, HtmlTable, Text
from shoal.report.sections._labels import on


def attacks(facts: Facts) -> list[Block]:
    """The share of the records on which each attack succeeds."""
    overview: list[list[Cell | str]] = [
        [
            Cell(on(attack.name.replace("-", " "), attack.column), attack.about),
            attack.share.before if attack.share else "–",
            Cell(attack.share.after, tone="strong") if attack.share else Cell("not judged"),
        ]
        for attack in facts.attacks
    ]
    whom = "people on whom" if facts.linked else "records on which"
    both = (
        " It succeeds in a class if it succeeds counted by records or by people; the annex shows "
        "both, and the share of people."
        if facts.has_persons and not facts.linked
        else ""
    )
    blocks: list[Block] = [
        Text(
            "Each attack was run on the original and on the release. The table shows the share of "
            f"the {whom} it succeeds; the annex has the details."
        ),
        HtmlTable(
            ["attack", "original", "release"],
            overview,
            "An attack on a sensitive column learns a person's value without finding the record."
            + both,
            widths=(64, 18, 18),
        ),
    ]
    if any(attack.share is None and attack.column is not None for attack in facts.attacks):
        blocks.append(
            Text(
                "“Not judged” means that the attack could not be tried: nothing says which values "
                "of the column are similar. A hierarchy for that column would."
            )
        )
    return blocks


def details(attacks: list[AttackFact]) -> list[Block]:
    """All findings of the attacks."""
    rows: list[list[Cell | str]] = []
    for attack in attacks:
        name = on(attack.name.replace("-", " "), attack.column)
        for i, one in enumerate(attack.findings):
            first = Cell(name if i == 0 else "")
            rows.append([first, one.what, one.before, Cell(one.after, tone="strong")])
    return [HtmlTable(["attack", "finding", "original", "release"], rows, widths=(34, 38, 14, 14))]
