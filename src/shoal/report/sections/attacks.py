"""The section about attacks, and the one with all their findings."""

from __future__ import annotations

from shoal.base.wording import listed, percent
from shoal.report.attack_facts import AttackFact
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, HtmlTable, Text
from shoal.report.sections._labels import detailed_columns, left_out, on


def attacks(facts: Facts) -> list[Block]:
    """The share of the records on which each attack succeeds."""
    seen: set[str] = set()
    overview: list[list[Cell | str]] = []
    for attack in facts.attacks:
        about = "" if attack.name in seen else attack.about  # once is enough
        seen.add(attack.name)
        overview.append(
            [
                Cell(on(attack.name.replace("-", " "), attack.column), about),
                attack.share.before if attack.share else "–",
                _after(attack),
            ]
        )
    whom = "people on whom" if facts.linked else "records on which"
    both = (
        " It succeeds in a class if it succeeds counted by records or by people."
        if facts.has_persons and not facts.linked
        else ""
    )
    blocks: list[Block] = [
        Text(
            "Each attack was run on the original and on the release. The table shows the share of "
            f"the {whom} it succeeds; “The attacks in detail” has the rest.{_whose(facts)}"
        ),
        HtmlTable(
            ["attack", "original", "release"],
            overview,
            "An attack on a sensitive column learns a person's value without finding the record."
            + both,
            widths=(64, 16, 20),
        ),
    ]
    if any(attack.share is None and attack.column is not None for attack in facts.attacks):
        blocks.append(
            Text(
                "“Not judged” means that the attack could not be tried: nothing says which values "
                "of the column are similar. A hierarchy for that column would."
            )
        )
    return blocks + _grown(facts)


def _whose(facts: Facts) -> str:
    """Whose attacks they are, if the plan names several attackers."""
    names = [one.name for one in facts.attackers if one.shown]
    return f" It is that of the attacker {names[0]}; others may find more." if names else ""


def _after(attack: AttackFact) -> Cell:
    """What an attack finds in the release, by records and by people."""
    if attack.share is None:
        return Cell("not judged")
    found = attack.people not in ("", percent(0))
    people = f"{attack.people} of the people" if found else ""
    if attack.of_people and not people:
        people = "of the people"
    return Cell(attack.share.after, people, "strong")


def _grown(facts: Facts) -> list[Block]:
    """Why an attack can find more in the release than in the original."""
    grown = list(dict.fromkeys(one.name for one in facts.attacks if one.grew))
    if not grown or facts.linked:
        return []
    why = "Classes of the release have other people than those of the original."
    if facts.has_persons:
        why += (
            " All records of a person are in one class there, so that its people have several "
            "values each, and one in common more often."
        )
    if "similarity" in grown:
        why += (
            " A class in which all values are equal counts for homogeneity; once it has different "
            "values of one kind, it counts for similarity."
        )
    names = listed([name.replace("-", " ") for name in grown])
    verb = "succeeds" if len(grown) == 1 else "succeed"
    return [Text(f"Why {names} {verb} on more records than in the original: {why}")]


def in_detail(facts: Facts) -> list[Block]:
    """All findings of the attacks; of many columns, those in which they find most."""
    rows: list[list[Cell | str]] = []
    shown = [None, *detailed_columns(facts)]
    for attack in facts.attacks:
        if attack.column not in shown:
            continue
        name = on(attack.name.replace("-", " "), attack.column)
        for i, one in enumerate(attack.findings):
            first = Cell(name if i == 0 else "")
            rows.append([first, one.what, one.before, Cell(one.after, tone="strong")])
    rest = left_out(facts, list(dict.fromkeys(one.column for one in facts.attacks if one.column)))
    head = ["attack", "finding", "original", "release"]
    return [HtmlTable(head, rows, rest, widths=(34, 38, 14, 14))]
