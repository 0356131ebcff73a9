"""The part of the section about samples that is about records unique on few columns (SUDA)."""

from __future__ import annotations

from collections.abc import Callable

from shoal.base.wording import many, number, percent, short
from shoal.measures.samples.special_uniques import SetRisk, SpecialUniques
from shoal.report.facts import Facts
from shoal.report.page import Block, Heading, HtmlTable, Text

SETS = 5  # sets of columns that are shown, those that single out most


def special_uniques(facts: Facts) -> list[Block]:
    """Minimal sample uniques and their scores, of the original and of the release."""
    if facts.uniques is None:
        return []
    before, after = facts.uniques.before, facts.uniques.after
    none = "" if after else " No record of the release is unique, on these or on all columns."
    each = " Each record is looked at by itself." if facts.has_persons else ""
    return [
        Heading("Special uniques"),
        Text(
            "A minimal sample unique of a record is a set of quasi-identifiers on which it is "
            "unique in the table, and on no part of the set (SUDA; Elliot, Manning and Ford 2002). "
            "The fewer columns, the easier they are known to an attacker. Sets of up to "
            f"{many(before.most, 'column')} were looked at.{each}{none}"
        ),
        HtmlTable(
            ["", "original", "release"],
            [[words, of(before), of(after) if after else "0"] for words, of in _rows(before.most)],
            f"Variant: a set of m columns adds ({before.most} − m)! to the score of its record, "
            "and a missing or a generalized value is a value like any other. DIS scores are these "
            "scores, scaled so that their mean over all unique records is the probability that a "
            "unique match is correct (Skinner and Elliot 2002, with the sampling fraction above), "
            "and cut off at 1. Other programs differ in these points: do not compare their scores "
            "with these.",
            numbers=True,
        ),
        *_sets(before),
    ]


Value = Callable[[SpecialUniques], str]


def _rows(most: int) -> list[tuple[str, Value]]:
    """What is shown of a table, and how it is read."""

    def at_least(size: int) -> Value:
        return lambda found: f"{int((found.smallest == size).sum()):,}"

    return [
        ("records that are unique on all quasi-identifiers", lambda found: f"{found.unique:,}"),
        (
            f"records that are unique on {many(most, 'column')} or fewer",
            lambda found: f"{int((found.smallest > 0).sum()):,}",
        ),
        *(
            (f"of these, on {many(size, 'column')} at the least", at_least(size))
            for size in range(1, most + 1)
        ),
        ("highest score", lambda found: number(float(found.scores.max(initial=0.0)))),
        ("highest DIS score", lambda found: number(float(found.dis_scores.max(initial=0.0)))),
        (
            "probability that a unique match is correct",
            lambda found: percent(100 * found.correct_match),
        ),
    ]


def _sets(found: SpecialUniques) -> list[Block]:
    """The sets that are minimal for most records of the original."""
    worst = sorted(found.sets, key=lambda one: (-one.minimal, len(one.columns)))
    rows = [_set(one) for one in worst[:SETS] if one.minimal]
    if not rows:
        return []
    head = ["columns of the original", "minimal for", "unique records", "average risk"]
    return [HtmlTable(head, rows, numbers=True)]


def _set(one: SetRisk) -> list[str]:
    names = ", ".join(short(name) for name in one.columns)
    return [names, f"{one.minimal:,}", f"{one.unique:,}", percent(100 * one.average_risk)]
