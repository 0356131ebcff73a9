"""The three criteria of WP216, and what the attacks say about each."""

from __future__ import annotations

from shoal.base.wording import percent
from shoal.report.attack_facts import AttackFact
from shoal.report.facts import Facts
from shoal.report.front.other_columns import fewest_left, lowers
from shoal.report.page import Block, Bullets, Cell, Heading, HtmlTable, Text
from shoal.report.sections._labels import detailed_columns, on

ASKS = {
    "singling out": "can a record be recognized as that of one person?",
    "linkability": "can two records, here or in another table, be recognized as those of the same "
    "person?",
    "inference": "can the value of a person be deduced with a significant probability?",
}


def wp216(facts: Facts) -> list[Block]:
    """Each criterion, the attacks that test it, and what they find in the release."""
    rows: list[list[Cell | str]] = []
    for name in ASKS:
        found = _results(name, facts) or [("not measured", "–")]
        for i, (what, result) in enumerate(found):
            rows.append([name if i == 0 else "", what, result])
    return [
        Heading("Singling out, linkability, inference (WP216)"),
        Text(
            "The Article 29 Working Party named three criteria in its opinion on anonymisation "
            "techniques (WP216, 2014). These are the measurements of this report that bear on "
            "them. Whether a criterion is met, in the sense of the law, they do not say."
        ),
        Bullets([f"{name[:1].upper()}{name[1:]}: {asked}" for name, asked in ASKS.items()]),
        HtmlTable(["criterion", "measured", "in this release"], rows, widths=(20, 48, 32)),
    ]


def _results(criterion: str, facts: Facts) -> list[tuple[str, str]]:
    """What is measured for a criterion, each with its result."""
    about = [one for one in facts.attacks if one.criterion == criterion]
    shown = [None, *detailed_columns(facts)]
    found = [_share(one) for one in about if one.column in shown]
    if more := len({one.column for one in about if one.column not in shown}):
        found.append((f"attacks on {more} more columns", "see “Attacks”"))
    return [*_also(criterion, facts), *found]


def _share(one: AttackFact) -> tuple[str, str]:
    what = f"attack {on(one.name.replace('-', ' '), one.column)}"
    if one.worst:
        return what, one.worst
    if one.share is None:
        return what, "not judged"
    if one.people:
        return what, f"{one.people} of the people"
    return what, f"{one.share.after} of the {'people' if one.of_people else 'records'}"


def _also(criterion: str, facts: Facts) -> list[tuple[str, str]]:
    """What is measured besides the attacks."""
    if criterion == "singling out" and facts.highest_risk is not None:
        return [("highest re-identification risk", facts.highest_risk), *_other_columns(facts)]
    if criterion == "linkability":
        said = []
        if facts.persons_published:
            said.append(("records of a person", "linked by a random number, on purpose"))
        if facts.mean_risk is not None:
            said.append(("correct links of people to their records, on average", facts.mean_risk))
        return [*said, ("other releases of the same people", "not known here")]
    if criterion == "inference" and facts.surest is not None:
        return [("how sure an attacker can be of a sensitive value", percent(100 * facts.surest))]
    return []


def _other_columns(facts: Facts) -> list[tuple[str, str]]:
    """The highest risk, if other published columns leave fewer people."""
    fewest = fewest_left(facts)
    if fewest is None or not lowers(facts):
        return []
    said = "the same, if the other published columns and a code book for them are used"
    return [(said, percent(100 / max(fewest, 1)))]
