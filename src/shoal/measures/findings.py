"""Findings: the most important results of the attacks, for the summary of a report.

The order. First come attacks that succeed with certainty (`certain`): a record that can only
belong to one person, a sensitive value that everybody in a class has. They count from the first
record on. Then come attacks that make something likely (`likely`): the best guess of a record, a
value that becomes much more likely and at least as likely as not, values that are all of one kind.
Last come attacks that need more knowledge (`if_more_is_known`): how many records a person has, a
value that a person does not have. Findings that are not certain count from 1 % of the records, or
people, on. Within a severity the largest share comes first. A finding about a column is dropped if
an earlier one is about the same column and at least as many records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_args

from shoal import catalog
from shoal.attacks import Attack
from shoal.attacks._words import Severity
from shoal.measures.exposure import Exposure

LIKELY = 1.0  # percent of the records from which on an attack without certainty counts
TOP = 3  # findings that a summary shows
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


def findings(exposure: Exposure) -> list[Finding]:
    """What the attacks found, the most important first."""
    chosen: list[Finding] = []
    rank = get_args(Severity)
    for one in sorted(_all(exposure), key=lambda one: (rank.index(one.severity), -one.percent)):
        if one.severity != "certain" and one.percent < LIKELY:
            continue
        if any(
            before.column == one.column is not None and before.percent >= one.percent - 1e-9
            for before in chosen
        ):
            continue
        chosen.append(one)
    return chosen


def _all(exposure: Exposure) -> Iterator[Finding]:
    for name, results in exposure.attacks.items():
        attack = catalog.attacks[name]()
        assert isinstance(attack, Attack)
        for column, found in attack.parts(results):
            if exposure.is_telling(attack, column):
                yield from _finding(attack, column, found, exposure.linked)
    counted = exposure.row_count
    if counted is not None and counted.alone:
        yield Finding(
            RECORD_COUNT, None, 100.0 * counted.alone / counted.people, "if_more_is_known",
            f"{counted.alone:,} of {counted.people:,} people "
            f"{'is the only one' if counted.alone == 1 else 'are the only ones'} of their class "
            "with their number of records: an attacker who knows that number finds them for "
            "certain.",
        )  # fmt: skip


def _finding(
    attack: Attack, column: str | None, found: Mapping[str, Any], linked: bool
) -> Iterator[Finding]:
    share = found.get(attack.share_key)
    if attack.severity is not None and share and not isinstance(share, dict):
        words = attack.headline(found, column, linked).replace("\xa0", " ")
        yield Finding(attack.name, column, float(share), attack.severity, words)
