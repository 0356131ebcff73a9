"""How sure an attacker can become of a sensitive value: part of “Requirements”."""

from __future__ import annotations

from shoal.base.wording import MISSING, percent, short
from shoal.measures.beliefs import Certainty, ValueBelief
from shoal.report.page import Block, Cell, Heading, HtmlTable, Text


def sureness(facts: list[Certainty]) -> list[Block]:
    """How the belief of an attacker can change, per value."""
    if not facts:
        return []
    bounded = any(one.allowed is not None for one in facts)
    rows: list[list[Cell | str]] = []
    for one in facts:
        belief = one.belief
        value = MISSING if belief.value is None else short(belief.value)
        row: list[Cell | str] = [
            Cell(f"{short(one.column)}: {value}", f"{' and '.join(one.kinds)} value"),
            percent(100 * belief.overall),
            percent(100 * belief.lowest),
            Cell(percent(100 * belief.highest), tone="bad" if belief.highest == 1 else "strong"),
        ]
        if bounded:
            row.append("–" if one.allowed is None else percent(100 * one.allowed))
        rows.append(row)
    whom = "people" if facts[0].by_people else "records"
    heads = ["sensitive value", "whole table", "lowest in a class", "highest in a class"]
    return [
        Heading("How sure an attacker can become"),
        Text(
            "Without a person's class, an attacker can only assume the share that a value has in "
            "the whole table. With the class, the share that it has in the class. Shares are of "
            f"the {whom}, measured on the published table."
        ),
        HtmlTable(
            [*heads, *(["allowed by t-closeness"] if bounded else [])],
            rows,
            _caption([one.belief for one in facts]),
            widths=(36, 15, 16, 17, 16) if bounded else (46, 17, 18, 19),
        ),
    ]


def _caption(beliefs: list[ValueBelief]) -> str:
    """What the ends of the scale mean, where they are reached."""
    sure = "100\xa0%: in some class everybody has the value."
    none = "0\xa0%: in some class nobody has the value, which is information as well."
    said = [sure] if any(one.highest == 1 for one in beliefs) else []
    said += [none] if any(one.lowest == 0 for one in beliefs) else []
    return " ".join(said)


def surest(facts: list[Certainty]) -> str:
    """The value that an attacker can be most sure of, in a sentence."""
    if not facts:
        return ""
    one = max(facts, key=lambda fact: (fact.belief.highest, -fact.belief.overall))
    value = "a missing value" if one.belief.value is None else f"“{short(one.belief.value)}”"
    whom = "people" if one.by_people else "records"
    return (
        f"An attacker who knows a person's class can be up to {percent(100 * one.belief.highest)} "
        f"sure of a value of {short(one.column)} ({value}, which "
        f"{percent(100 * one.belief.overall)} of all {whom} have)."
    )
