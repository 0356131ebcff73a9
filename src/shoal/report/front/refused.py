"""The report of a release that was refused: why, in numbers, and no value of the table.

Nothing was published, so that even published values of a class would give something away.
"""

from __future__ import annotations

from shoal.base.wording import many, sentence, short
from shoal.report.facts import Facts
from shoal.report.front.sign_off import plan_words
from shoal.report.front.summary import asked, details, verdict
from shoal.report.page import Bullets, HtmlTable, Page, Section, Text
from shoal.report.sections import information_loss
from shoal.report.sections.attackers import attackers
from shoal.report.sections.class_sizes import class_sizes
from shoal.report.sections.columns import revealed
from shoal.report.sections.exposure import exposure

NOT_RELEASED = "Not released"


def refused_page(facts: Facts) -> Page:
    """What was asked, what would be reached, why that is not enough, and the ways out."""
    made = f"refused by shoal {facts.version} on {facts.made:%Y-%m-%d at %H:%M} ({facts.made:%Z})"
    title = f"Table of {many(facts.rows, 'record')}"
    sizes = "Possible records per person" if facts.linked else "Class sizes"
    sections = [
        Section("Published columns", revealed(facts)),
        Section("Attackers", attackers(facts)),
        Section("Re-identification risk", exposure(facts)),
        Section(sizes, class_sizes(facts)),
        Section("Information loss", information_loss.loss(facts)),
    ]
    return Page(
        title=title if facts.about.title is None else short(facts.about.title, 200),
        about=NOT_RELEASED,
        source=f"{title}, {made}",
        details=details(facts),
        warning=f"{NOT_RELEASED}: there is no file of this release. The numbers are those of the "
        "table that would have been published.",
        summary=[
            Text(f"{NOT_RELEASED}. {verdict(facts)}", leads=True),
            asked(facts),
            Text("Why, and what to do:"),
            Bullets(why(facts)),
            HtmlTable(
                ["file", "content", "checksum"],
                [
                    ["plan", plan_words(facts), facts.plan_sha256],
                    ["original", many(facts.rows, "record"), facts.original_sha256 or "–"],
                ],
                widths=(12, 36, 52),
                stacks=True,
            ),
        ],
        sections=[section for section in sections if section.blocks],
        foot="Nothing was released. This page shows no value of the table.",
    )


def why(facts: Facts) -> list[str]:
    """Each limit that is exceeded, with what would keep to it; or what columns reveal."""
    beyond = tuple(f"{one.name} is " for one in facts.limits if one.verdict == "red")
    found: list[str] = []
    cases = facts.refused.partition(": ")[2] or facts.refused
    for said in cases.split("; "):
        if found and not said.startswith(beyond):
            found[-1] += f"; {said}"
        else:
            found.append(said)
    return [sentence(one) for one in found]
