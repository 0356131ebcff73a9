"""The section about re-identification risks."""

from __future__ import annotations

from shoal.base.wording import Change, many, percent
from shoal.measures.breakdowns.crowds import CrowdFact
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Heading, HtmlTable, Plot, Text
from shoal.report.plots import PALE, SHADES, Bars, bars


def exposure(facts: Facts) -> list[Block]:
    """Counts and risks, before and after."""
    if facts.linked:
        return _linked_exposure(facts)
    blocks: list[Block] = [
        Text(
            "An attacker who knows that a person is in the table, and knows the person's "
            "quasi-identifiers, has to guess among all people of the class: in a class of 5 people "
            "the risk of re-identification is 1 in 5, or 20 %."
        ),
        _before_and_after(facts),
        _compare("table", facts.counts),
        _compare("re-identification risk", facts.risks),
    ]
    return blocks + _record_count(facts)


def _before_and_after(facts: Facts) -> Plot:
    """The people of the original and of the release by their risk."""
    before, after = (
        sum(getattr(one, when) for one in facts.crowds) for when in ("before", "after")
    )
    was = [100 * one.before / before for one in facts.crowds]
    now = [100 * one.after / after for one in facts.crowds]
    labels = [_risk(one) for one in facts.crowds]
    first = facts.crowds[0]
    alone = f"{percent(was[0])} of the people of the original are unique"
    left = "nobody" if first.after == 0 else percent(now[0])
    half = f"half of the people share their values with at least {facts.typical - 1:,} others"
    told = "; ".join(
        f"{label}: original {percent(one)}, release {percent(other)}"
        for label, one, other in zip(labels, was, now, strict=True)
    )
    return Plot(
        bars(
            labels,
            [Bars("original", was), Bars("release", now)],
            "percent of the people",
            show=percent,
            shades=(PALE, next(iter(SHADES))),
        ),
        f"{alone}, and of the release {left}; there {half}. People by how many look like them, and "
        "by the risk that follows.",
        alt=f"Bar chart. Share of the people by how many look like them: {told}.",
    )


def _risk(one: CrowdFact) -> str:
    """A step of the plot: the number of people, and their risk."""
    risk = percent(100 / one.fewest)
    if one.most is None:
        return f"{one.fewest:,} or more: at most {risk}"
    if one.most == 1:
        return f"unique: risk {risk}"
    alike = f"{one.most:,}" if one.fewest == one.most else f"{one.fewest:,} – {one.most:,}"
    return f"{alike} people: up to {risk}"


def _linked_exposure(facts: Facts) -> list[Block]:
    unknown = (
        " They need not be equally likely, and their probabilities were not measured: all that is "
        f"known is that at least {many(facts.smallest, 'record')} are possible for every person."
    )
    return [
        Text(
            "An attacker who knows the quasi-identifiers of all people looks for the record of one "
            "of them. The possible records of a person are those that the person has in at least "
            "one complete assignment of people to records."
            + (
                unknown
                if facts.mean_risk is None
                else " They need not be equally likely. The risk shown here is the probability of "
                "the most likely record, counted over all complete assignments"
                f"{' or in a sample of them' if facts.sampled else ''}."
            )
        ),
        _compare(
            "table",
            facts.counts,
            "In the original, the possible records of a person are those with the same "
            "quasi-identifiers.",
        ),
        _compare("re-identification risk", facts.risks),
    ]


def _record_count(facts: Facts) -> list[Block]:
    """What the number of records of a person discloses."""
    found = facts.record_count
    if found is None:
        return []
    return [
        Heading("The number of records per person is visible"),
        Text(
            "All records of a person have the same random number, so anybody can count the records "
            f"of each person (up to {found.most:,}). Of {facts.people:,} people, {found.alone:,} "
            f"{'is the only one' if found.alone == 1 else 'are the only ones'} of their class with "
            f"their number of records, and {found.below:,} "
            f"{'is' if found.below == 1 else 'are'} among fewer than {found.k:,} people with the "
            "same class and number. An attacker who knows how many records a person must have, "
            "such as the number of visits, finds them more easily. The requirements do not cover "
            "this. If attackers may know it, do not publish "
            "the person numbers: set `publish = false` for the person column."
        ),
    ]


def _compare(what: str, changes: list[Change], caption: str = "") -> HtmlTable:
    rows: list[list[Cell | str]] = [
        [one.what, one.before, Cell(one.after, tone="strong")] for one in changes
    ]
    return HtmlTable([what, "original", "release"], rows, caption, widths=(64, 18, 18))
