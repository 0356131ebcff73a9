"""What a release does not promise, in plain words."""

from __future__ import annotations

from shoal.base.wording import listed, many
from shoal.report.facts import Facts


def limits(facts: Facts) -> list[str]:
    """What nobody should take for granted, those first that are about this very release."""
    items = []
    crowd = "the rows that could be a person's" if facts.linked else "a person's class"
    if facts.unprotected:
        items.append(
            f"Nothing is promised about the sensitive values of {listed(facts.unprotected)}. "
            f"Whoever knows {crowd} may learn the value without finding the row: see what "
            "attackers can do."
        )
    if facts.linked:
        items += _linked(facts)
    if others := facts.columns_with_role("other"):
        items.append(
            f"The columns {listed(others)} are published as they are, because the plan says that "
            "no outsider knows them. If somebody does, the crowds are smaller than this page says."
            if len(others) > 1
            else f"The column {listed(others)} is published as it is, because the plan says that "
            "no outsider knows it. If somebody does, the crowds are smaller than this page says."
        )
    if facts.columns_with_role("sensitive"):
        items.append(
            "Whoever already knows a sensitive value of somebody may use it to tell that person's "
            f"row from others {'that could be theirs' if facts.linked else 'of its class'}."
        )
    if facts.persons_published:
        items.append(
            "Rows of one person carry the same number, so that they stay together. How many they "
            "are can be seen, and the promises do not count it (see “Can people be found?”). What "
            "is in these rows taken together, beyond the quasi-identifiers, may point at somebody."
        )
    elif facts.has_persons:
        items.append(
            "The person numbers are not in the file: people were counted by them, and the promises "
            "verified with them, before they were left out. Nobody can measure the crowds again "
            "from the file alone. A column that is the same in all rows of a person and nearly "
            "nobody else's, such as an exact income, ties these rows together as a number would."
        )
    if facts.applied:
        items.append(
            "It was made as another release was, and is verified by itself. Whoever has both, and "
            "knows that somebody is in both tables, can lay the two crowds of that person side by "
            "side, and may be left with fewer people than either release promises."
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
            + (
                " Rows of a person that stood side by side still do, though no number says so."
                if facts.has_persons and not facts.persons_published
                else ""
            )
        )
    return [*items, *_always(facts)]


def _linked(facts: Facts) -> list[str]:
    """Where rows, not classes, hide people."""
    likely = (
        "How likely each of them is was not measured here: do not read a chance of 1 in k into it."
        if facts.find_mean is None
        else "The likeliest row of the most exposed person is theirs with a chance of "
        f"{facts.find}, and of {facts.find_mean} on average over all people"
        f"{', in a sample of complete assignments' if facts.sampled else ''}."
    )
    items = [
        f"The rows that could be a person's need not be equally likely. {likely}",
        "The attacker whom it stops knows the quasi-identifiers of everybody in the table, and "
        "nothing else. Somebody who knows of other people which row is theirs can rule out those "
        "rows, and has fewer left.",
    ]
    if not facts.randomized:
        items.append(
            "It was made without chance: whoever knows the quasi-identifiers of everybody can run "
            "the same algorithm again and see which row became which."
        )
    elif facts.seed is not None:
        items.append(
            "It was made with a seed: whoever knows the seed and the quasi-identifiers of "
            "everybody can run it again and see which row became which. Make a release without one."
        )
    else:
        items.append(
            "It leans on chance that nobody can repeat. Made with a seed that becomes known, or "
            "without chance (`randomized = false`), it could be redone by whoever knows the "
            "quasi-identifiers of everybody, and would show which row became which."
        )
    return items


def _always(facts: Facts) -> list[str]:
    crowd = "rows that could be a person's" if facts.linked else "people of a class"
    return [
        "It does not hide that somebody is in the table: whoever knows that a person must be in "
        f"it, knows so still. And where all {crowd} have a value in common, published in any "
        "column, that value is known of everybody there.",
        "It protects this release by itself. A second release of the same people, made by another "
        "plan or at another time, can undo both when they are laid side by side: plan them "
        "together, or publish one.",
        "It is only as good as the roles in the plan. Which columns an outsider may know was "
        "decided by a person, not measured.",
        "It says nothing of what is written inside values that are published as they are: a name "
        "in a free text stays there.",
        "It does not say that the law calls this table anonymous. That is for you to decide; this "
        "page holds the numbers for it.",
    ]
