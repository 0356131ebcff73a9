"""What attacks find, as the report and the screen show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shoal import catalog
from shoal.attacks import Attack
from shoal.attacks._words import Criterion
from shoal.base.wording import MISSING, Change, number, percent, short
from shoal.hierarchies.values import text
from shoal.measures.exposure import NOT_PUBLISHED
from shoal.measures.outcome import Outcome

WAYS = ("judged_by", "counted_by")  # findings whose words are not from the data
VISIBLE = 0.05  # percentage points: smaller differences are not seen


@dataclass(frozen=True)
class AttackLine:
    """What one attack found in one table, in one sensitive column or in the table as a whole."""

    attack: str
    column: str | None
    count: str  # records or people on which it succeeds
    share: str
    detail: str
    of_people: bool  # whether it counts people also where others count records


@dataclass(frozen=True)
class AttackFact:
    """What one attack found before and after, in one sensitive column or in the whole table."""

    name: str
    about: str  # what the attacker does and when the attack succeeds
    column: str | None
    share: Change | None  # of the records on which it succeeds; None: the attack cannot say
    findings: list[Change]
    criterion: Criterion  # of WP216 that it bears on
    people: str = ""  # the share of people after; empty: records are people, or it is the share
    of_people: bool = False  # whether the share is of people
    grew: bool = False  # whether it succeeds on more records than before
    worst: str = ""  # of several attackers, the largest share and whose it is; empty: there is one


def attack_lines(attacks: Mapping[str, Mapping[str, Any]]) -> Iterator[AttackLine]:
    """One line per attack, and per sensitive column.

    >>> found = {"homogeneity": {"disease": {"classes": 2, "records": 30, "percent": 15.0}}}
    >>> [(line.column, line.count, line.share) for line in attack_lines(found)]
    [('disease', '30', '15\\xa0%')]
    """
    for name, results in attacks.items():
        attack = _named(name)
        for column, found in attack.parts(results):
            count = found.get(attack.count_key)
            counted = number(count) if isinstance(count, int) and attack.judged(found) else "–"
            yield AttackLine(
                name,
                column,
                counted,
                attack.share(found),
                attack.detail(found),
                _counts_people(attack),
            )


def attack_facts(release: Outcome) -> list[AttackFact]:
    """What attacks find before and after; results about the whole table come first."""
    published = {one.name: {text(value) for value in one.values} for one in release.seen.sensitive}
    linked = release.after.linked
    facts = []
    for name, after in release.after.attacks.items():
        before = release.before.attacks.get(name, {})
        attack = _named(name)
        for column, found in attack.parts(after):
            was = dict(attack.parts(before)).get(column, {})
            share = Change(name, attack.share(was), attack.share(found))
            facts.append(
                AttackFact(
                    name,
                    _about(attack, linked, release.seen.people is not None),
                    column,
                    None if share.after == "–" else share,
                    list(_changes(attack, was, found, published.get(column or "", set()), linked)),
                    attack.criterion,
                    "" if release.seen.people is None else _people(attack, found),
                    _counts_people(attack) or linked,
                    _grew(attack, was, found),
                    _worst(attack, column, release),
                )
            )
    return sorted(facts, key=lambda fact: fact.column is not None)


def _counts_people(attack: Attack) -> bool:
    """Whether an attack counts people also where others count records."""
    return attack.count_key.startswith("people")


def _people(attack: Attack, found: Mapping[str, Any]) -> str:
    share = found.get(attack.people_share_key)
    return percent(share) if isinstance(share, int | float) and attack.judged(found) else ""


def _grew(attack: Attack, was: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    before, after = was.get(attack.share_key), found.get(attack.share_key)
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return False
    return after > before + VISIBLE


def _worst(attack: Attack, column: str | None, release: Outcome) -> str:
    """As for limits: the attacker with the highest risk need not be the one who finds most."""
    if len(release.attackers) < 2:
        return ""
    by_people = release.seen.people is not None
    shares: dict[str, float] = {}
    for who, exposure in release.attackers.items():
        found = dict(attack.parts(exposure.attacks.get(attack.name, {}))).get(column, {})
        share = found.get(attack.people_share_key if by_people else attack.share_key)
        if isinstance(share, int | float) and attack.judged(found):
            shares[who] = float(share)
    if not shares:
        return ""
    who = max(shares, key=lambda one: shares[one])
    counted = by_people or release.after.linked or _counts_people(attack)
    whom = "people" if counted else "records"
    return f"{percent(shares[who])} of the {whom}, by attacker “{short(who)}”"


def _named(name: str) -> Attack:
    attack = catalog.attacks[name]()
    assert isinstance(attack, Attack)
    return attack


def _about(attack: Attack, linked: bool, people: bool) -> str:
    return f"{attack.about(linked)} {attack.success(linked, people)}".strip()


def _changes(
    attack: Attack,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    published: set[str],
    linked: bool,
) -> Iterator[Change]:
    """All findings in words; sensitive values that are not published are withheld."""
    for key, value in after.items():
        if isinstance(value, dict | list | tuple | set):
            continue
        if not attack.judged(after) and key not in WAYS:
            continue  # numbers of an attack that could not be tried mean nothing
        was = before.get(key)
        if isinstance(was, str) and was != value and was not in published and key not in WAYS:
            was = NOT_PUBLISHED
        label = attack.label(key)
        yield Change(
            (linked and label.linked) or label.words,
            _shown(attack, key, was) if key in before else "–",
            _shown(attack, key, value),
        )


def _shown(attack: Attack, key: str, value: Any) -> str:
    if key == "counted_by" and value == "rows":
        return "records"
    return MISSING if key == "value" and value is None else attack.label(key).show(value)
