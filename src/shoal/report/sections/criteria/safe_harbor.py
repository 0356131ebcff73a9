"""The 18 identifiers of HIPAA's Safe Harbor: which are published, as far as the plan shows it."""

from __future__ import annotations

from shoal.base.wording import listed, many, short
from shoal.measures.verdicts.safe_harbor import Identifier
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Heading, HtmlTable, Text, Tone

NAMES = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates more precise than a year, and ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "email addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers and plates",
    "M": "device identifiers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "photographs of faces",
    "R": "other unique numbers or codes",
}
WHY = {
    "not published": "{columns} {is_are} not published",
    "unchanged": "{columns} (recognized by name) {is_are} published unchanged",
    "unchanged ages": "{columns} {is_are} published unchanged, which is allowed up to 89",
    "unchanged years": "{columns} {is_are} published unchanged, which is allowed for years, but of "
    "birth only where they show no age over 89",
    "generalized": "{columns} (recognized by name) {is_are} generalized, but still published",
    "suppressed": "every value of {columns} is suppressed",
    "smaller than a state": "{columns} {is_are} published with more than three digits, or as a "
    "place smaller than a state",
    "three digits": "{columns} {is_are} published with three digits at most, which is allowed only "
    "for areas of more than 20,000 people; the rest must be 000",
    "finer than a year": "{columns}: some values are more precise than a year",
    "years of birth of people over 89": "{columns}: some years of birth show an age over 89",
    "born 90 years ago": "{columns}: people born 90 years ago may be 89 or 90; of those who are 90 "
    "or older, years of birth may be published as one category only",
    "year or longer": "{columns} {is_are} published as years or longer spans",
    "ages over 89": "{columns}: ages over 89 are published as more than one category",
    "more precise than 90 or older": "{columns}: an age over 89 is published more precisely than "
    "as 90 or older",
    "90 alone": "{columns}: of the ages over 89 only 90 is published, which is allowed if it "
    "stands for 90 or older",
    "no ages over 89": "{columns}: ages over 89 are published as one category at most",
    "not dates or numbers": "{columns}: the published values are neither dates nor numbers",
    "random number": "the release has a random number per person, drawn for it alone and not "
    "derived from {columns}",
    "different in every record": "{columns} {is_are} different in every record",
}
TONES: dict[str, Tone] = {"met": "good", "not met": "bad", "not judged": "unknown"}
MARKS = {"met": "✔", "not met": "✖", "not judged": "?"}


def safe_harbor(facts: Facts) -> list[Block]:
    """The identifiers that were recognized, and which were not."""
    found = [one for one in facts.safe_harbor if one.columns]
    rest = [NAMES[one.letter] for one in facts.safe_harbor if not one.columns]
    rows: list[list[Cell | str]] = [
        [
            f"({one.letter}) {NAMES[one.letter]}",
            _why(one),
            Cell(f"{MARKS[one.status]} {_status(one)}", tone=TONES[one.status]),
        ]
        for one in found
    ]
    blocks: list[Block] = [
        Heading("The 18 identifiers of HIPAA's Safe Harbor"),
        Text(
            "For releases under US law: which identifiers of 45 CFR 164.514(b)(2) are published, "
            "as far as the names and the published values of the columns show it. The rule also "
            "asks that the holder has no actual knowledge by which a person could be identified, "
            "which no program can judge."
        ),
    ]
    if rows:
        blocks.append(HtmlTable(["identifier", "in this release", ""], rows, widths=(30, 50, 20)))
    if rest:
        blocks.append(
            Text(
                f"Cannot be judged from the plan: {many(len(rest), 'identifier')} that no column "
                f"is recognized as by its name ({listed(rest, 18)}). Free text is not read."
            )
        )
    return blocks


def _status(one: Identifier) -> str:
    return "cannot be judged" if one.status == "not judged" else one.status


def _why(one: Identifier) -> str:
    columns = listed([short(name) for name in one.columns])
    return WHY[one.why].format(columns=columns, is_are="is" if len(one.columns) == 1 else "are")
