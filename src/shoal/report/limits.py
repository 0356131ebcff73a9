"""What a release does not promise, in plain words."""

from __future__ import annotations

from shoal.report.facts import Facts
from shoal.report.words import listed, many


def limits(facts: Facts) -> list[str]:
    """What nobody should take for granted, those first that are about this very release."""
    items = []
    if facts.unprotected:
        items.append(
            f"Nothing is promised about the sensitive values of {listed(facts.unprotected)}. "
            "Whoever knows a person's class may learn the value without finding the row: see what "
            "attackers can do."
        )
    if others := facts.having("other"):
        items.append(
            f"The columns {listed(others)} are published as they are, because the plan says that "
            "no outsider knows them. If somebody does, the crowds are smaller than this page says."
            if len(others) > 1
            else f"The column {listed(others)} is published as it is, because the plan says that "
            "no outsider knows it. If somebody does, the crowds are smaller than this page says."
        )
    if facts.having("sensitive"):
        items.append(
            "Whoever already knows a sensitive value of somebody may use it to tell that person's "
            "row from others of its class."
        )
    if facts.has_persons:
        items.append(
            "Rows of one person carry the same number, so that they stay together. What is in "
            "these rows taken together, beyond the quasi-identifiers, may point at somebody."
        )
    if facts.suppressed:
        items.append(
            f"The release is not complete: {many(facts.suppressed, 'row')} of the original were "
            "left out, and counts made from it are too low by as many."
        )
    if facts.keep_order:
        items.append(
            "The rows stand in the order of the original, as the plan asks. Whoever knows that "
            "order, by name or by date of admission, can tell who is who."
        )
    return [
        *items,
        "It does not hide whether somebody is in the table, if all who look the same are known to "
        "be.",
        "It does not add up. A second release of the same people, made by another plan or at "
        "another time, can undo this one when both are laid side by side.",
        "It is only as good as the roles in the plan. Which columns an outsider may know was "
        "decided by a person, not measured.",
        "It says nothing of what is written inside values that are published as they are: a name "
        "in a free text stays there.",
        "It does not say that the law calls this table anonymous. That is for you to decide; this "
        "page holds the numbers for it.",
    ]
