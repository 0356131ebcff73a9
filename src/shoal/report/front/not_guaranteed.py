"""What a release does not guarantee."""

from __future__ import annotations

from shoal.base.wording import listed, many
from shoal.report.facts import Facts
from shoal.report.front.other_columns import lowers


def not_guaranteed(facts: Facts) -> list[str]:
    """What is not guaranteed; points about this release come first."""
    items = []
    known = "the possible records of a person" if facts.linked else "a person's class"
    if facts.unprotected:
        items.append(
            f"No requirement protects the sensitive values of {listed(facts.unprotected)}. An "
            f"attacker who knows {known} may learn the value without finding the record: see "
            "“Attacks”."
        )
    if facts.whole_table and facts.min_people == 1:
        items.append(
            "No k-anonymity is required. The requirements about the whole table limit the risk of "
            "all people together, and not that of each: the smallest class has "
            f"{many(facts.smallest, 'person', 'people')}. Add k-anonymity to the plan to limit the "
            "risk of each person."
        )
    for one in facts.requirements:
        if one.doubt:
            items.append(
                f"{one.doubt}. If it is the one in the requirement, the "
                "requirement does not say what it seems to."
            )
    if facts.attackers:
        names = listed([one.name for one in facts.attackers])
        items.append(
            f"The requirements hold for each attacker of the plan by itself ({names}). Attackers "
            "who put together what they know, or who know other columns than the plan says, may "
            "find people alone: see “Attackers”."
        )
    if facts.linked:
        items += _linked(facts)
    if unchanged := facts.unchanged:
        many_columns = len(unchanged) > 1
        items.append(
            f"The {'columns' if many_columns else 'column'} {listed(unchanged)} "
            f"{'are' if many_columns else 'is'} not generalized, because the plan assumes that "
            f"no attacker knows {'them' if many_columns else 'it'}. For an attacker who does, the "
            "risks are higher than this page says."
        )
    if lowers(facts):
        items.append(
            "The requirements and limits do not account for unchanged columns whose values go "
            "with some quasi-identifiers only, and so rule out people: page one says how many are "
            "left, and “Published columns” by which columns."
        )
    if facts.columns_with_role("sensitive"):
        others = "other possible records" if facts.linked else "the others of its class"
        items.append(
            "An attacker who already knows a sensitive value of a person may use it to distinguish "
            f"the person's record from {others}."
        )
    if facts.persons_published:
        items.append(
            f"The records of a {facts.linked_as_one} have the same number, so that they can be "
            f"linked. {_how_many(facts)} The combination of what is in these records, beyond the "
            f"quasi-identifiers, may identify the {facts.linked_as_one}."
        )
    elif facts.has_persons:
        items.append(
            "The person numbers are not published: people were counted with them, and the "
            "requirements verified with them, before they were dropped. Class sizes in people "
            "cannot be measured on the release alone. A column with the same value in all records "
            "of a person, and in nearly no other record, such as an exact income, links these "
            "records as a number would."
        )
    if facts.members_apart:
        found = facts.linked_members
        items.append(
            f"The members of a household are hidden one by one. {found.sentence} The household as "
            "a whole may then be the only one of its kind, and the requirements do not cover that."
            if found is not None and found.linked
            else "The members of a household are hidden one by one, and nothing links their "
            "records. A column with the same value for all members, and in nearly no other record, "
            "such as the exact income of the household, would link them as a number does; no "
            "published column does so."
        )
    if facts.applied:
        items.append(
            "The release was made with the recoding of another release, and verified by itself. An "
            "attacker who has both releases, and knows that a person is in both tables, can "
            "compare the two classes of the person, and may be left with fewer people than either "
            "release guarantees."
        )
    if facts.suppressed:
        items.append(
            f"The release is not complete: {many(facts.suppressed, 'record')} of the original "
            f"{'was' if facts.suppressed == 1 else 'were'} suppressed. Counts made from it are too "
            "low by as many."
        )
    if facts.keep_order:
        items.append(
            "The records are in the order of the original, as requested. An attacker who knows "
            "that order, by name or by date of admission, can identify people."
            + (
                " Adjacent records of a person are still adjacent, although no number links them."
                if facts.has_persons and not facts.persons_published
                else ""
            )
        )
    return [*items, *_always(facts)]


def _how_many(facts: Facts) -> str:
    """Whether the requirements cover the number of linked records."""
    if facts.size_covered:
        return "How many they are is one of the quasi-identifiers, which the requirements cover."
    return (
        "How many they are is visible, and the requirements do not cover it (see "
        "“Re-identification risk”)."
    )


def _linked(facts: Facts) -> list[str]:
    """Without classes."""
    likely = (
        "Their probabilities were not measured: do not assume a risk of 1 in k."
        if facts.mean_risk is None
        else "The most likely record of the most exposed person has a probability of "
        f"{facts.highest_risk}, and of {facts.mean_risk} on average over all people"
        f"{', in a sample of complete assignments' if facts.sampled else ''}."
    )
    items = [
        f"The possible records of a person need not be equally likely. {likely}",
        "The guarantee is against an attacker who knows the quasi-identifiers of all people in the "
        "table, and nothing else. An attacker who knows the records of some people can rule these "
        "records out for others.",
    ]
    if not facts.randomized:
        items.append(
            "The release was made without random choices: an attacker who knows the "
            "quasi-identifiers of all people can run the same algorithm again and see which "
            "record is whose."
        )
    elif facts.seed is not None:
        items.append(
            "The release was made with a random seed: an attacker who knows the seed and the "
            "quasi-identifiers of all people can run the algorithm again and see which record is "
            "whose. Make the final release without a seed."
        )
    else:
        items.append(
            "The protection depends on random choices that nobody can repeat. With a known seed, "
            "or without random choices (`randomized = false`), an attacker who knows the "
            "quasi-identifiers of all people could repeat the run and see which record is whose."
        )
    return items


def _always(facts: Facts) -> list[str]:
    group = "possible records of a person" if facts.linked else "people of a class"
    return [
        "The release does not hide that a person is in the table. And if all "
        f"{group} have a value in common, in any published column, that value is disclosed.",
        "The guarantees are about this release alone. A second release of the same people, made "
        "with another plan or at another time, can break both when they are combined: plan them "
        "together, or publish only one.",
        "The guarantees depend on the roles in the plan. A person decided which columns an "
        "attacker may know; this was not measured.",
        "Values that are published unchanged are not inspected: a name in a free text stays there.",
        "This page does not say that the table is anonymous in the legal sense. It provides the "
        "numbers for that decision, which is yours.",
    ]
