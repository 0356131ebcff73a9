"""Statements of the slides, tested on their own tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shoal.models import TOLERANCE
from shoal.papers import _compare
from shoal.papers._compare import Claim
from shoal.papers.li2007.audit import Counted, Judged, distance, plain_distances
from shoal.papers.li2007.slides import (
    BOB,
    CARL,
    DISEASE,
    FIRST,
    OTHER_BOB,
    SALARY,
    SECOND,
    STATED,
    VIRUS_SHARE,
)
from shoal.report.page import HtmlTable

Tables = Mapping[str, Judged]


def statements(claims: list[Claim]) -> HtmlTable:
    """The statements and whether our results agree."""
    table = _compare.statements(claims)
    return replace(table, head=["the slides say", *table.head[1:]])


def of_attacks(tables: Tables) -> list[Claim]:
    """Who is found in which table."""
    return [
        _anonymous(tables["table 2"]),
        _homogeneity(tables["table 2"]),
        _background(tables["table 2"]),
        _diverse(tables["table 4"]),
        _similarity(tables["table 4"]),
        *_skewness(tables["virus table"]),
    ]


def of_distances(tables: Tables) -> list[Claim]:
    """Which class is farther from the table, and how close table 5 is."""
    return [
        _same_by_both(tables["table 4"]),
        _first_is_farther(tables, SALARY),
        _first_is_farther(tables, DISEASE),
        _close(tables, SALARY),
        _close(tables, DISEASE),
    ]


def listed(table: Judged, column: str, name: str) -> str:
    """The values of a class in a line."""
    return ", ".join(
        f"{count} × {value}" if count > 1 else value
        for value, count in table.values(column, name).items()
    )


def _anonymous(table: Judged) -> Claim:
    k = table.level("k-anonymity")
    return Claim("Table 2 is 3-anonymous.", "its k is 3 or more", [k >= 3], f"k = {k:g}")


def _homogeneity(table: Judged) -> Claim:
    name = table.class_of(BOB)
    return Claim(
        f"Bob, {BOB.age}, of {BOB.zip}, must have heart disease (table 2, homogeneity).",
        "the attack succeeds in his class, and that is the value",
        [
            name in table.found("homogeneity", DISEASE),
            set(table.values(DISEASE, name)) == {"Heart Disease"},
        ],
        f"class {name}: {listed(table, DISEASE, name)}",
    )


def _background(table: Judged) -> Claim:
    name = table.class_of(CARL)
    return Claim(
        f"Carl, {CARL.age}, of {CARL.zip}, probably has cancer, if heart disease is unlikely "
        "(table 2, background knowledge).",
        "the attack succeeds in his class where homogeneity does not, and cancer is left",
        [
            name in table.found("background-knowledge", DISEASE),
            name not in table.found("homogeneity", DISEASE),
            set(table.values(DISEASE, name)) - {"Heart Disease"} == {"Cancer"},
        ],
        f"class {name}: {listed(table, DISEASE, name)}",
    )


def _diverse(table: Judged) -> Claim:
    levels = {
        (model, column): table.level(f"{model}-l-diversity", column)
        for column in (SALARY, DISEASE)
        for model in ("distinct", "entropy")
    }
    return Claim(
        "Table 4 is 3-diverse.",
        "distinct and entropy l-diversity are 3 or more, for salary and disease",
        [level >= 3 - TOLERANCE for level in levels.values()],
        ", ".join(f"{model} {column} {level:.3g}" for (model, column), level in levels.items()),
    )


def _similarity(table: Judged) -> Claim:
    name = table.class_of(BOB)
    return Claim(
        "Bob's class reveals a low salary, 3K to 5K, and a stomach disease (table 4, similarity).",
        "the attack succeeds in his class, by salary and by disease",
        [name in table.found("similarity", column) for column in (SALARY, DISEASE)],
        f"class {name}: {listed(table, SALARY, name)}; {listed(table, DISEASE, name)}",
    )


def _skewness(table: Judged) -> list[Claim]:
    victims = table.found("skewness", DISEASE)
    before = table.audit.attacks["skewness"][DISEASE]["belief_before"]
    second = table.belief(DISEASE, SECOND, "positive")
    third = table.class_of(OTHER_BOB)
    after = table.belief(DISEASE, third, "positive")
    return [
        Claim(
            "Each person in the second class has the virus with a probability of 50 %, much more "
            f"than the {100 * VIRUS_SHARE:g} % of the table (skewness).",
            "these are the shares, and the attack succeeds there",
            [
                abs(second - 0.5) < TOLERANCE,
                abs(before - VIRUS_SHARE) < TOLERANCE,
                SECOND in victims,
            ],
            f"B₁ = {before:.2f}, B₂ = {second:.2f}",
        ),
        Claim(
            f"The third class, in which Bob is ({OTHER_BOB.age}, of {OTHER_BOB.zip}), has an even "
            "higher risk.",
            "its share is higher, and the attack succeeds there",
            [after > second, third in victims],
            f"class {third}: B₁ = {before:.2f}, B₂ = {after:.2f}",
        ),
        Claim(
            "The first class hardly needs protection: nobody in it has the virus.",
            "its share is 0, and skewness does not succeed there",
            [table.belief(DISEASE, FIRST, "positive") == 0, FIRST not in victims],
            f"class {FIRST}: {listed(table, DISEASE, FIRST)}; homogeneity shows that they are "
            f"{'' if FIRST in table.found('homogeneity', DISEASE) else 'not '}all alike",
        ),
    ]


def _same_by_both(table: Judged) -> Claim:
    first, second = table.names.index(FIRST), table.names.index(SECOND)
    found = {
        name: (values[first], values[second])
        for name, values in plain_distances(table, SALARY).items()
    }
    return Claim(
        "Variational and Kullback-Leibler distance do not show that P₁ reveals more than P₂ "
        "(table 4, salary).",
        "both give the two classes the same distance",
        [abs(a - b) < TOLERANCE for a, b in found.values()],
        ", ".join(f"{name} {a:.3f} and {b:.3f}" for name, (a, b) in found.items()),
    )


def _first_is_farther(tables: Tables, column: str) -> Claim:
    first, second = [one for one in STATED if (one.table, one.column) == ("table 4", column)]
    ways: dict[Counted, str] = {"rows": "Q of the rows", "once": "each value once"}
    found = {
        words: (distance(tables, first, counted), distance(tables, second, counted))
        for counted, words in ways.items()
    }
    return Claim(
        f"By the Earth Mover's Distance P₂ reveals less than P₁ (table 4, {column.lower()}).",
        "D[P₁, Q] > D[P₂, Q], whichever way Q is counted",
        [a > b + TOLERANCE for a, b in found.values()],
        "; ".join(f"{words}: {a:.3f} and {b:.3f}" for words, (a, b) in found.items()),
    )


def _close(tables: Tables, column: str) -> Claim:
    (stated,) = [one for one in STATED if (one.table, one.column) == ("table 5", column)]
    level = tables["table 5"].level("t-closeness", column)
    once = distance(tables, stated, "once")
    more = f"; {once:.3f} if Q had each value once" if abs(once - level) > TOLERANCE else ""
    return Claim(
        f"Table 5 has {stated.theirs}-closeness with respect to {column}.",
        "the audit finds no class farther away than that",
        [level <= stated.theirs + TOLERANCE],
        f"{level:.3f}{more}",
    )
