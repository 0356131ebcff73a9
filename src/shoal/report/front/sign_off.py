"""The sign-off: what is approved, and lines to sign on."""

from __future__ import annotations

from shoal.base.wording import listed, many, short
from shoal.io.raw_text.standard_streams import STREAM_NAME
from shoal.report.facts import Facts
from shoal.report.page import Block, Form, HtmlTable, Text


def sign_off(facts: Facts) -> list[Block]:
    """What is approved, and lines to sign on."""
    rows = [
        [
            "release",
            f"{many(facts.published, 'record')}; {_file(facts)}",
            facts.sha256 or "–",
        ],
        [
            "plan",
            plan_words(facts),
            facts.plan_sha256,
        ],
        [
            "original",
            f"{many(facts.rows, 'record')}, {many(facts.people_before, 'person', 'people')}"
            + ("; SHA-256 of the file" if facts.original_sha256 else "; not read from a file"),
            facts.original_sha256 or "–",
        ],
    ]
    about = facts.about
    told = about.recipient is not None and about.purpose is not None
    lines = ["Name", "Place and date", "Signature"]
    people = [short(one, 80) for one in about.signers]
    return [
        Text(
            "The approver has read what is guaranteed and what is not, and assumes that the roles "
            "in the plan are correct."
        ),
        HtmlTable(["file", "content", "checksum"], rows, widths=(12, 36, 52), stacks=True),
        Text("Decision:\u2003☐ publish\u2003☐ publish under conditions\u2003☐ do not publish"),
        Form(["Conditions"]),
        *([] if told else [Form(["Recipient and purpose"])]),
        Form(lines[1:], people) if people else Form(lines),
    ]


def plan_words(facts: Facts) -> str:
    """Which file the checksum of the plan belongs to."""
    if facts.plan_name is None:
        return "SHA-256 of the file that `release.plan.save` writes"
    said = f"SHA-256 of the file {short(facts.plan_name)}"
    if facts.plan_changed:
        said += f"; set for this run: {listed(facts.plan_changed)}"
    return said


def _file(facts: Facts) -> str:
    """Which file the checksum of the release belongs to."""
    if facts.written == STREAM_NAME:
        return "SHA-256 of what went to standard output"
    if facts.written is not None:
        return f"SHA-256 of the file {short(facts.written)}"
    if facts.sha256 is not None:
        return "SHA-256 of the release as a CSV file, as no file was written"
    return "no file was written"
