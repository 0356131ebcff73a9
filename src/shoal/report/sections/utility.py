"""The parts of a report about what the release is good for, and classes that keep too little."""

from __future__ import annotations

from shoal.base.wording import listed, many, number, percent
from shoal.measures.queries import Answers
from shoal.measures.utility import Vulnerable
from shoal.report.facts import Facts
from shoal.report.page import Block, Cell, Table, Text, Tone
from shoal.report.sections.disclosure import on


def counting(facts: Facts) -> list[Block]:
    """How far counts made from the release are off."""
    rows: list[list[Cell | str]] = []
    answers = facts.utility.answers
    words: list[Block] = []
    if answers is not None and answers.mean is not None and answers.median is not None:
        words.append(Text(_asked(answers)))
        rows += [
            ["error of an answer, on average", Cell(percent(100 * answers.mean), tone="strong")],
            ["error that half of the answers stay below", percent(100 * answers.median)],
        ]
    if facts.utility.normalized_loss is not None:
        rows.append(
            [
                "information lost per value of a quasi-identifier: 0 is as in the original, "
                "1 is held back (normalized loss)",
                number(facts.utility.normalized_loss),
            ]
        )
    caption = (
        "Questions about few rows may be far off and raise the average; the second line tells what "
        "is usual. By equations 15 and 19 of Wang et al. (2018)."
    )
    return [*words, Table(["what was measured", "release"], rows, caption, widths=(80, 20))]


def _asked(answers: Answers) -> str:
    about = many(answers.dimensions, "quasi-identifier")
    also = " and a sensitive column" if answers.sensitive else ""
    return (
        "Whoever works with the release counts rows: how many are of such an age, from such "
        f"places? {many(answers.number, 'question')} of this kind, each about {about}{also}, were "
        "drawn at random and answered twice, from the original and from the release. In the "
        "release a wide value is taken to be any value that it may stand for, with the same "
        "chance. The error is the difference of the two answers, as a share of the true one. The "
        "questions are not shown: they name values of the original."
    )


def vulnerable(facts: Facts) -> list[Block]:
    """Classes that keep an identity-reserved model and would fail its enhanced one."""
    found = facts.utility.vulnerable
    rows: list[list[Cell | str]] = [_row(one) for one in found]
    stronger = [one.enhanced for one in found if one.classes]
    verdict = (
        "There are such classes here: what is promised of people in them is less than it seems. "
        f"Ask for {listed(list(dict.fromkeys(stronger)))} to have none."
        if stronger
        else "No class of this release is of that kind."
    )
    return [
        Text(
            "The promise looks at the values of a class, and not at who has them. Where people "
            "have several rows, everybody in a class may have one value among others, and the "
            "class still looks mixed. The enhanced model looks at one row of each person, "
            f"whichever is picked. {verdict}"
        ),
        Table(
            ["promise", "what such classes fail", "classes", "people in them"],
            rows,
            "Classes that keep the promise and fail the enhanced model with the same numbers "
            "(Wang et al. 2018).",
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
