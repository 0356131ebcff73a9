"""The sections about the accuracy of counts, and about vulnerable classes."""

from __future__ import annotations

from shoal.base.wording import listed, many, number, percent
from shoal.measures.queries.answers import Answers
from shoal.measures.utility import Vulnerable
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, HtmlTable, Text, Tone
from shoal.report.sections._labels import on


def counting(facts: Facts) -> list[Block]:
    """The error of counts made from the release."""
    rows: list[list[Cell | str]] = []
    answers = facts.utility.answers
    words: list[Block] = []
    if answers is not None and answers.mean is not None and answers.median is not None:
        words.append(Text(_asked(answers)))
        rows += [
            ["average error of an answer", Cell(percent(100 * answers.mean), tone="strong")],
            ["median error of an answer", percent(100 * answers.median)],
        ]
    if facts.utility.normalized_loss is not None:
        rows.append(
            [
                "normalized information loss (0 to 1)",
                number(facts.utility.normalized_loss),
            ]
        )
    caption = (
        "Queries about few records can have large errors, which raise the average; the median is "
        "typical. The normalized loss is 0 for an unchanged value and 1 for a suppressed one. By "
        "equations 15 and 19 of Wang et al. (2018)."
    )
    return [*words, HtmlTable(["measure", "release"], rows, caption, widths=(80, 20))]


def _asked(answers: Answers) -> str:
    about = many(answers.dimensions, "quasi-identifier")
    also = " and a sensitive column" if answers.sensitive else ""
    return (
        "Typical queries count records: how many people have this age and live in that place? "
        f"{many(answers.number, 'query', 'queries')} of this kind, each about {about}{also}, were "
        "drawn at random and answered from the original and from the release. In the release, "
        "each value that a generalized value covers is assumed to be equally likely. The error is "
        "the difference between the two answers, relative to the true one. The queries are not "
        "shown, because they contain values of the original."
    )


def vulnerable(facts: Facts) -> list[Block]:
    """Classes that satisfy an identity-reserved model and violate its enhanced one."""
    found = facts.utility.vulnerable
    rows: list[list[Cell | str]] = [_row(one) for one in found]
    stronger = [one.enhanced for one in found if one.classes]
    verdict = (
        "This release has such classes: the people in them are less protected than it seems. "
        f"Require {listed(list(dict.fromkeys(stronger)))} to avoid them."
        if stronger
        else "This release has no such class."
    )
    return [
        Text(
            "The requirement counts the values of a class, and not who has them. If people have "
            "several records, everybody in a class may have one value in common although the class "
            "has many values. The enhanced model considers one record per person, for any choice "
            f"of these records. {verdict}"
        ),
        HtmlTable(
            ["requirement", "violated model", "classes", "people in them"],
            rows,
            "Classes that satisfy the requirement and violate the enhanced model with the same "
            "parameters (Wang et al. 2018).",
            widths=(30, 26, 22, 22),
        ),
    ]


def _row(one: Vulnerable) -> list[Cell | str]:
    tone: Tone = "bad" if one.classes else "good"
    return [
        on(one.model, one.column),
        one.enhanced,
        Cell(f"{one.classes:,} of {one.all_classes:,}", percent(one.percent), tone),
        Cell(f"{one.people:,} of {one.all_people:,}", percent(one.people_percent), tone),
    ]
