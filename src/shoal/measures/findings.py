"""Findings: the most important results of the attacks, for the summary of a report.

The rule. First come attacks that succeed with certainty (`certain`): a record that can be one
person's only, a sensitive value that everybody of a class has. They count from the first record
on. Then come attacks that make something likely (`likely`): the best guess at a record, a value
that becomes much likelier and at least as likely as not, values that are all of one kind. Last
come those that need further knowledge (`if_more_is_known`): how many records a person has, a value
that a person does not have. What is not certain counts from 1 % of the records, or people, on. Of
the same severity the larger share comes first. A finding about a column is left out where one
before it is about the same column and at least as many records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from shoal.measures.exposure import Exposure

LIKELY = 1.0  # percent of the records from which on an attack without certainty counts
TOP = 3  # findings that a summary shows

Severity = Literal["certain", "likely", "if_more_is_known"]  # the most severe first
_SEVERITY: dict[str, Severity] = {
    "homogeneity": "certain",
    "background-knowledge": "if_more_is_known",
}


@dataclass(frozen=True)
class Finding:
    """One attack that succeeds, in a sentence."""

    attack: str
    column: str | None
    percent: float  # of the records, or of the people, on whom it succeeds
    severity: Severity
    words: str

    def as_dict(self) -> dict[str, Any]:
        """The finding by the names of the JSON file."""
        return asdict(self)


def findings(exposure: Exposure) -> list[Finding]:
    """What the attacks found, the most important first."""
    kept: list[Finding] = []
    rank = get_args(Severity)
    for one in sorted(_all(exposure), key=lambda one: (rank.index(one.severity), -one.percent)):
        if one.severity != "certain" and one.percent < LIKELY:
            continue
        if any(
            before.column == one.column is not None and before.percent >= one.percent - 1e-9
            for before in kept
        ):
            continue
        kept.append(one)
    return kept


def _all(exposure: Exposure) -> Iterator[Finding]:
    attacks, linked = exposure.attacks, exposure.linked
    yield from _identified(exposure)
    who = "of the people" if linked else "of the records"
    for name, words in (_LINKED if linked else _CLASSES).items():
        for column, found in attacks.get(name, {}).items():
            known = exposure.beliefs.get(column)
            if name == "background-knowledge" and known and known.distinct <= 2:
                continue  # of two values whoever rules out one knows the other in any table
            if isinstance(found, dict) and found.get("percent"):
                share = float(found["percent"])
                said = words.format(share=_percent(share), who=who, column=_name(column))
                if name == "skewness":
                    said += _strongest(found)
                yield Finding(name, column, share, _SEVERITY.get(name, "likely"), f"{said}.")


def _identified(exposure: Exposure) -> Iterator[Finding]:
    """Attacks that find the record of a person."""
    linkage = exposure.attacks.get("linkage", {})
    alone = float(linkage.get("singled_out_percent") or 0.0)
    if alone:
        who = "people" if exposure.linked else "records"
        yield Finding(
            "linkage", None, alone, "certain",
            f"{_percent(alone)} of the {who} are unique: an attacker who knows the "
            "quasi-identifiers of such a person finds the record for certain.",
        )  # fmt: skip
    counted = exposure.row_count
    if counted is not None and counted.alone:
        yield Finding(
            "record-count", None, 100.0 * counted.alone / counted.people, "if_more_is_known",
            f"{counted.alone:,} of {counted.people:,} people are the only ones of their class with "
            "their number of records: an attacker who knows that number finds them for certain.",
        )  # fmt: skip
    matching = exposure.attacks.get("matching", {})
    if matching.get("percent"):
        share = float(matching["percent"])
        yield Finding(
            "matching", None, share, "likely",
            f"For {_percent(share)} of the people one record is likelier to be theirs than all "
            "others together, for an attacker who knows everybody's quasi-identifiers.",
        )  # fmt: skip


_CLASSES = {
    "homogeneity": "{share} {who} are in classes in which everybody has the same value of "
    "{column}: an attacker who knows such a person's class knows the value for certain",
    "skewness": "{share} {who} are in classes in which some value of {column} is much likelier "
    "than in the whole table, and at least as likely as not",
    "similarity": "{share} {who} are in classes whose values of {column} differ but are all of one "
    "kind, or close together",
    "background-knowledge": "{share} {who} are in classes in which an attacker who can rule out "
    "one value of {column} knows the value",
}
_LINKED = {
    "homogeneity": "For {share} {who} all records that could be theirs have the same value of "
    "{column}: an attacker knows it for certain",
    "skewness": "For {share} {who} some value of {column} is much likelier than in the whole "
    "table, and at least as likely as not, among the records that could be theirs",
    "similarity": "For {share} {who} the values of {column} in the records that could be theirs "
    "are all of one kind, or close together",
    "background-knowledge": "For {share} {who} an attacker who can rule out one value of {column} "
    "knows the value",
}


def _strongest(found: dict[str, Any]) -> str:
    value, before, after = (found.get(key) for key in ("value", "belief_before", "belief_after"))
    if before is None or after is None:
        return ""
    name = "a missing value" if value is None else f"“{_name(value)}”"
    return f"; where it grows most, {name} goes from {_percent(100 * before)} to " + _percent(
        100 * after
    )


def _name(value: object) -> str:
    """A name from the data on one line, cut where it is long."""
    label = " ".join("".join(c if c.isprintable() else " " for c in str(value)[:200]).split())
    return label if len(label) <= 40 else label[:39] + "…"


def _percent(share: float) -> str:
    """A percentage; what is not quite nothing, or not quite all, never looks so."""
    if share in (0, 100):
        return f"{share:.0f} %"
    if share < 0.01 or share > 99.99:
        return "< 0.01 %" if share < 0.01 else "> 99.99 %"
    digits = 1 if 0.1 <= share <= 99.9 else 2
    return f"{share:.{digits}f}".removesuffix(".0") + " %"
