"""Findings: the most important results of the attacks, for the summary of a report.

The order. First come attacks that succeed with certainty (`certain`): a record that can only
belong to one person, a sensitive value that everybody in a class has. They count from the first
record on. Then come attacks that make something likely (`likely`): the best guess of a record, a
value that becomes much more likely and at least as likely as not, values that are all of one kind.
Last come attacks that need more knowledge (`if_more_is_known`): how many records a person has, a
value that a person does not have. Findings that are not certain count from 1 % of the records, or
people, on. Within a severity the largest share comes first; about a sensitive column it is weighted
with the share of those who do not have its most frequent value, as there is little to learn if
nearly everybody has it. A finding about a column is dropped if an earlier one is about the same
column and at least as many records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, get_args

from shoal import catalog
from shoal.attacks import Attack
from shoal.attacks._words import Severity
from shoal.base.wording import percent, short
from shoal.measures.beliefs import Belief
from shoal.measures.exposure import Exposure

LIKELY = 1.0  # percent of the records from which on an attack without certainty counts
TOP = 3  # findings that a summary shows
COMMON = 0.9  # share of a value from which on it is said that nearly everybody has it
RECORD_COUNT = "record-count"  # not an attack of the catalog, see `measures.record_counts`


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


def findings(
    exposure: Exposure, attackers: Mapping[str, Exposure] = MappingProxyType({})
) -> list[Finding]:
    """What the attacks found, the most important first.

    With several `attackers`, what each attack finds is that of the attacker who finds most, as for
    limits: the one with the highest risk need not be.
    """
    chosen: list[Finding] = []
    rank = get_args(Severity)
    found = _of_worst(attackers) if len(attackers) > 1 else _all(exposure)
    news = {name: 1 - one.commonest.overall for name, one in exposure.beliefs.items()}

    def order(one: Finding) -> tuple[int, float, float]:
        weighted = one.percent * news.get(one.column or "", 1.0)
        return rank.index(one.severity), -weighted, -one.percent

    for one in sorted(found, key=order):
        if one.severity != "certain" and one.percent < LIKELY:
            continue
        if any(
            before.column == one.column is not None and before.percent >= one.percent - 1e-9
            for before in chosen
        ):
            continue
        chosen.append(one)
    return chosen


def _of_worst(attackers: Mapping[str, Exposure]) -> list[Finding]:
    """Each finding of the attacker for whom it is about most records, with the attacker's name."""
    worst: dict[tuple[str, str | None], Finding] = {}
    for who, exposure in attackers.items():
        for one in _all(exposure):
            before = worst.get((one.attack, one.column))
            if before is None or before.percent < one.percent:
                named = replace(one, words=f"Attacker “{short(who)}”: {one.words}")
                worst[one.attack, one.column] = named
    return list(worst.values())


def _all(exposure: Exposure) -> Iterator[Finding]:
    for name, results in exposure.attacks.items():
        attack = catalog.attacks[name]()
        assert isinstance(attack, Attack)
        for column, found in attack.parts(results):
            if exposure.is_telling(attack, column):
                known = exposure.beliefs.get(column or "")
                for one in _finding(attack, column, found, exposure.linked):
                    yield one if known is None else _with_commonest(one, known)
    counted = exposure.row_count
    if counted is not None and counted.alone:
        yield Finding(
            RECORD_COUNT, None, 100.0 * counted.alone / counted.people, "if_more_is_known",
            f"{counted.alone:,} of {counted.people:,} people "
            f"{'is the only one' if counted.alone == 1 else 'are the only ones'} of their class "
            "with their number of records: an attacker who knows that number finds them for "
            "certain.",
        )  # fmt: skip


def _with_commonest(one: Finding, known: Belief) -> Finding:
    """The same, with how many have the most frequent value, if nearly everybody has it."""
    if known.commonest.overall < COMMON:
        return one
    share = percent(100 * known.commonest.overall).replace("\xa0", " ")
    return replace(
        one,
        words=f"{one.words} (Of all {known.counted_by}, {share} have the most frequent value.)",
    )


def _finding(
    attack: Attack, column: str | None, found: Mapping[str, Any], linked: bool
) -> Iterator[Finding]:
    share = found.get(attack.share_key)
    if attack.severity is not None and share and not isinstance(share, dict):
        words = attack.headline(found, column, linked).replace("\xa0", " ")
        yield Finding(attack.name, column, float(share), attack.severity, words)
