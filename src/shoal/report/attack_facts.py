"""What attacks find before and after, as a report tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.base.wording import MISSING, Change
from shoal.hierarchies.values import text
from shoal.measures.exposure import NOT_PUBLISHED
from shoal.measures.outcome import Outcome
from shoal.report.attack_words import about, finding, found
from shoal.table.published_table import Published

WAYS = ("judged_by", "counted_by")  # findings whose words are not from the data


@dataclass(frozen=True)
class AttackFact:
    """What one attack finds, in one sensitive column or in the table as a whole."""

    name: str
    about: str  # what the attack is, in a sentence
    column: str | None
    share: Change | None  # of the records that it finds, where the attack says that
    findings: list[Change]


def attack_facts(release: Outcome, seen: Published) -> list[AttackFact]:
    """What attacks find before and after; in any finding that is a mapping, its numbers."""
    known = {one.name: {text(value) for value in one.values} for one in seen.sensitive}
    linked = release.after.linked
    attacks = []
    for name, after in release.after.attacks.items():
        before = release.before.attacks.get(name, {})
        words = about(name, linked, seen.people is not None)
        flat = {key: value for key, value in after.items() if not isinstance(value, dict)}
        if flat:
            attacks.append(_attack(name, words, None, before, flat, set(), linked))
        for column, inner in after.items():
            if isinstance(inner, dict):
                was = before.get(column, {})
                published = known.get(column, set())
                attacks.append(_attack(name, words, column, was, inner, published, linked))
    return sorted(attacks, key=lambda attack: attack.column is not None)


def _attack(
    name: str,
    words: str,
    column: str | None,
    before: dict[str, Any],
    after: dict[str, Any],
    published: set[str],
    linked: bool,
) -> AttackFact:
    findings, share = [], None
    for key, value in after.items():
        was = before.get(key)
        if isinstance(value, dict | list | tuple | set):
            continue
        if isinstance(was, str) and was != value and was not in published and key not in WAYS:
            was = NOT_PUBLISHED
        earlier = _found(key, was) if key in before else "–"
        change = Change(finding(key, linked), earlier, _found(key, value))
        findings.append(change)
        of_rows = key == "percent" or (key.endswith("_percent") and "percent" not in after)
        share = change if of_rows and share is None else share
    if after.get("judged_by") == "nothing":  # that nobody is found says nothing then
        share, findings = None, [one for one in findings if one.what == finding("judged_by")]
    return AttackFact(name, words, column, share, findings)


def _found(key: str, value: Any) -> str:
    return MISSING if key == "value" and value is None else found(key, value)
