"""The report of an anatomy: one self-contained HTML page for the approver."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from shoal.base.version import __version__
from shoal.base.wording import listed, many, number, percent, sentence, short
from shoal.io.frames import atomic
from shoal.measures.anatomy.anatomy_measures import AnatomyMeasures
from shoal.measures.queries.answers import Answers
from shoal.report.page import (
    Block,
    Bullets,
    Cell,
    Form,
    HtmlTable,
    Numbers,
    Page,
    Section,
    Text,
    render,
)
from shoal.report.pdf import PAPER, check_report, is_pdf, write_pdf
from shoal.table.roles import columns_with_role
from shoal.table.written.coded_numbers import coded_columns


def write_anatomy_report(found: AnatomyMeasures, path: str | Path) -> None:
    """Write the report to a file, completely or not at all; .pdf: as a PDF."""
    pdf, made = is_pdf(path), datetime.now(UTC)
    check_report(Path(path))  # before the work
    html = render(anatomy_page(found, made), PAPER if pdf else "")
    with atomic(path, private=True) as target:
        if pdf:
            write_pdf(html, target, made)
        else:
            target.write_text(html, encoding="utf-8")


def anatomy_page(found: AnatomyMeasures, made: datetime) -> Page:
    """Lay out what was measured: what is certain for an attacker comes first."""
    records = many(found.records, "record")
    return Page(
        title=f"Anatomy of {records}",
        about="Report of a release in two tables",
        source=f"measured by shoal {__version__} on {made:%Y-%m-%d at %H:%M} ({made:%Z})",
        warning=""
        if found.holds
        else "A requirement is violated: do not publish these two tables.",
        summary=_summary(found),
        sections=[
            Section("What is published", _published(found)),
            Section("Requirements", [_requirements(found)]),
            Section("Attacks", _attacks(found)),
            Section("Information loss", _loss(found)),
            *([Section("Counting queries", _queries(found))] if found.answers else []),
            Section("Notes", [Bullets([_capital(sentence(note)) for note in found.notes])]),
            Section(
                "Sign-off",
                [
                    Text("Decision:\u2003☐ publish\u2003☐ do not publish"),
                    Form(["Recipient and purpose", "Name", "Place and date", "Signature"]),
                ],
            ),
        ],
        foot="This page shows no value of the original table.",
    )


def _capital(said: str) -> str:
    return said[:1].upper() + said[1:]


def _summary(found: AnatomyMeasures) -> list[Block]:
    """Page one: who is found for certain, and what stays uncertain about them."""
    attacks, column = found.attacks, short(found.column)
    certain = [
        "Quasi-identifiers are published exactly. An attacker who knows those of a person sees "
        "whether somebody with them is in the table: membership is not protected.",
        f"{percent(100 * attacks.unique)} of the records have quasi-identifiers that no other "
        "record has. An attacker who knows them and knows that the person is in the table finds "
        "the record of that person for certain.",
    ]
    if attacks.homogeneous:
        certain.append(
            f"{percent(100 * attacks.homogeneous)} of the records are in a group with a single "
            f"value of {column}: it is known for certain."
        )
    values = many(attacks.values_to_certainty, "value")
    holds = "All requirements are satisfied" if found.holds else "A requirement is violated"
    return [
        Text(
            "These two tables do not hide who is in them. They limit what is learned about "
            f"{column}.",
            leads=True,
        ),
        Bullets(certain, tone="alert"),
        Numbers(
            [
                (percent(100 * attacks.surest), f"surest guess of {column}, for any person"),
                (percent(100 * attacks.average), "the same on average over people"),
                (percent(100 * attacks.unique), "records with unique quasi-identifiers"),
                (f"{found.groups:,}", "groups"),
            ]
        ),
        Text(f"{holds}: {listed([check.key for check in found.checks])}."),
        Text(
            f"An attacker who can rule out {values} of {column} for a person is certain of the "
            "right one, in the group where that is easiest. One who knows or learns which values "
            "go with which quasi-identifiers can be surer than the numbers above say."
        ),
    ]


def _published(found: AnatomyMeasures) -> list[Block]:
    columns = found.plan.columns
    quasi = listed([short(name) for name in columns_with_role(columns, "quasi")])
    dropped = [short(name) for name, one in columns.items() if one.role in ("identifier", "drop")]
    rows = [
        ["quasi-identifiers", f"{quasi}: exact values, and the number of a group", "per record"],
        [
            "sensitive values",
            f"{short(found.column)}: how many records of the group have the value",
            "per group and value",
        ],
    ]
    if dropped:
        rows.append(["not published", listed(dropped), "–"])
    return [HtmlTable(["table", "content", "one row"], rows, stacks=True)]


def _requirements(found: AnatomyMeasures) -> HtmlTable:
    rows: list[list[Cell | str]] = [
        [
            check.key,
            check.asked,
            number(check.reached),
            Cell(
                "satisfied" if check.holds else "violated",
                tone="good" if check.holds else "bad",
            ),
        ]
        for check in found.checks
    ]
    return HtmlTable(
        ["requirement", "required", "reached in the worst group", ""],
        rows,
        "Measured on the two tables alone, as any reader has them.",
    )


def _attacks(found: AnatomyMeasures) -> list[Block]:
    attacks = found.attacks
    rows = [
        ["membership", "is somebody with these quasi-identifiers in the table?", "certain"],
        ["linkage", "the right record is found, on average", percent(100 * attacks.linkage)],
        ["unique", "records that are found for certain", percent(100 * attacks.unique)],
        [
            "homogeneity",
            "records in a group with a single sensitive value",
            percent(100 * attacks.homogeneous),
        ],
    ]
    rows += [
        [
            "background knowledge",
            f"surest guess if {many(known, 'value')} of the person's group can be ruled out"
            if known
            else "surest guess of an attacker who can rule out nothing",
            percent(100 * sure),
        ]
        for known, sure in enumerate(attacks.ruled_out)
    ]
    return [
        HtmlTable(["attack", "what the attacker does", "result"], rows, stacks=True),
        Text(
            "These attackers take every assignment of the values of a group to its records for "
            "equally likely. One who knows or learns which values go with which quasi-identifiers "
            "can be surer (Kifer 2009)."
        ),
    ]


def _loss(found: AnatomyMeasures) -> list[Block]:
    error, lowest = found.reconstruction_error, found.lowest_error
    coded = coded_columns(found.plan.columns)
    lose = "lose nothing" if not coded else "lose only what top, bottom and round remove"
    said = (
        f"Quasi-identifiers {lose}. The reconstruction error (Xiao and Tao 2006) is "
        f"{error:.4f} per record, {number(error * found.records)} in sum: the squared distance of "
        "the distribution that the two tables assign to a record from the record itself."
    )
    if lowest is not None:
        said += f" No groups that satisfy the requirements have less than {lowest:.4f} per record."
    return [Text(said)]


def _queries(found: AnatomyMeasures) -> list[Block]:
    assert found.answers is not None
    rows = [["anatomy", *_errors(found.answers)]]
    other = found.generalized
    if other is not None:
        name = f"generalized ({other.algorithm}; {other.loss} {percent(other.lost)})"
        rows.append([name, *_errors(other.answers)])
    caption = (
        f"{many(found.answers.number, 'query', 'queries')} on "
        f"{many(found.answers.dimensions, 'quasi-identifier')} and {short(found.column)}, drawn "
        "at random; errors relative to the answer from the original."
    )
    if other is not None:
        caption += " The generalized release satisfies the same requirements."
    return [HtmlTable(["release", "mean error", "median error"], rows, caption, numbers=True)]


def _errors(answers: Answers) -> list[str]:
    return ["–" if one is None else percent(100 * one) for one in (answers.mean, answers.median)]
