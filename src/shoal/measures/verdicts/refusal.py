"""Refusal: why a release beyond a limit is not published, and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, Protocol

from shoal import catalog
from shoal.attacks import Attack, SensitiveAttack
from shoal.base.errors import BadPlan, NotHeld, WayOut
from shoal.base.wording import percent
from shoal.measures.bounds.lower_bound import Bound
from shoal.measures.verdicts.verdict import Verdict
from shoal.models import TOLERANCE, Model

UNITS = {"loss": 1.0}  # in percent already; everything else is a share


class Bounded(Protocol):
    """What lower bounds on the loss are known of; each takes a while."""

    def find_bound(self) -> Bound | None:
        """The bound for the requirements of the plan; None: there is none."""

    def bound_of(self, k: int) -> Bound | None:
        """The bound for classes of at least k people; None: there is none."""


def raise_beyond_limits(
    verdicts: Sequence[Verdict], people: int, release: Bounded, models: Sequence[Model] = ()
) -> None:
    """Raise an error if a limit is exceeded, or could not be judged.

    `people` is their number in the table, and `models` are those of the plan.
    """
    unknown = [one for one in verdicts if one.verdict == "unknown"]
    if unknown:
        raise BadPlan(
            f"{' and '.join(one.name for one in unknown)} under [limits] cannot be judged on this "
            f"table: {_unknown(unknown[0])}"
        ).offering(*(WayOut("limit", one.name) for one in unknown))
    red = [one for one in verdicts if one.verdict == "red"]
    if red:
        cases = "; ".join(_beyond(one, people, release) for one in red)
        both = _contradiction(verdicts, people, release, models)
        raise NotHeld(
            f"the table that would be published is beyond a limit: {cases}{both}"
        ).offering(*(way for one in red for way in ways_out(one, models, people)))


def ways_out(one: Verdict, models: Sequence[Model], people: int) -> list[WayOut]:
    """What keeps to a limit: a requirement that does, as far as one is known, or no limit.

    >>> ways_out(Verdict("highest_risk", 0.09, 0.2), [], 500)[0]
    WayOut(action='add', target='k-anonymity', value={'k': 12})
    """
    found = []
    if one.name in ("highest_risk", "average_risk"):
        if _least_k(one) <= people and one.name == "highest_risk":
            found.append(_required(models, "k-anonymity", {"k": _least_k(one)}))
        elif _least_k(one) <= people:
            found.append(_required(models, "average-risk", {"r": one.limit}))
    elif one.name == "share_at_risk":
        options = {"share": one.limit, "threshold": one.threshold}
        found.append(_required(models, "share-at-risk", options))
    elif one.name == "loss" and one.reached is not None:
        found.append(WayOut("limit", one.name, float(ceil(one.reached))))
    return [*found, WayOut("limit", one.name)]


def _required(models: Sequence[Model], name: str, options: Mapping[str, Any]) -> WayOut:
    """A requirement that is added, or that changes if there is one of its name."""
    known = any(model.name == name for model in models)
    return WayOut("set" if known else "add", name, dict(options))


def _contradiction(
    verdicts: Sequence[Verdict], people: int, release: Bounded, models: Sequence[Model]
) -> str:
    """Whether the highest risk needs classes in which more is lost than may be, in words."""
    if any(model.linkage for model in models):
        return ""  # a release without classes may reach the risk, and no bound is known for it
    limits = {one.name: one for one in verdicts}
    risk, loss = limits.get("highest_risk"), limits.get("loss")
    if risk is None or loss is None or risk.verdict != "red" or _least_k(risk) > people:
        return ""
    bound = release.bound_of(_least_k(risk))
    if bound is None or bound.percent is None or bound.percent <= loss.limit:
        return ""
    return f". {_proven(bound)}: the limits highest_risk and loss contradict each other".replace(
        "\xa0", " "
    )


def _least_k(risk: Verdict) -> int:
    """The smallest class with which a risk is within its limit."""
    return ceil(1 / risk.limit - TOLERANCE)


def _proven(bound: Bound) -> str:
    assert bound.percent is not None
    return (
        f"It is proven that no release {bound.releases} can lose less than {percent(bound.percent)}"
    )


def _unknown(one: Verdict) -> str:
    if one.attack is not None:
        kind = catalog.attacks[one.attack]
        if one.column is None and issubclass(kind, SensitiveAttack):
            return (
                f"the sensitive columns have fewer than {kind.min_values} different values, on "
                f"which the attack {one.attack} succeeds in any table. Remove the limit"
            )
        if not issubclass(kind, SensitiveAttack):
            return f"the attack {one.attack} could not be tried on this release. Remove the limit"
        on = "" if one.column is None else f" on {one.column!r}"
        return (
            f"the attack {one.attack} could not be tried{on}. Give sensitive columns of texts a "
            "hierarchy that says which values are similar, or remove the limit"
        )
    return "the probabilities of the possible records are not known. Remove the limit"


def _beyond(one: Verdict, people: int, release: Bounded) -> str:
    assert one.reached is not None
    unit = UNITS.get(one.name, 100.0)
    reached, limit = percent(unit * one.reached), percent(unit * one.limit)
    if reached == limit:  # 9.09 % and 9 % must not look the same
        reached, limit = f"{unit * one.reached:.6g}\xa0%", f"{unit * one.limit:.6g}\xa0%"
    on = "" if one.column is None else f" (on {one.column!r})"
    advice = _advice(one, people, release)
    said = f"{one.name} is {reached}{on}, and the limit is {limit}{advice}"
    return said.replace("\xa0", " ")


def _advice(one: Verdict, people: int, release: Bounded) -> str:
    if one.name in ("highest_risk", "average_risk"):
        least = _least_k(one)
        if least > people:
            return f", which no table of {people:,} people can reach"
        if one.name == "highest_risk":
            return f"; k-anonymity with k = {least:,} keeps to it"
        return f"; average-risk with r = {one.limit:g} keeps to it"
    if one.name == "share_at_risk":
        return (
            f" for a risk above {one.threshold:g}; share-at-risk with share = {one.limit:g} and "
            f"threshold = {one.threshold:g} keeps to it"
        )
    if one.name == "suppressed":
        return "; allow fewer records to be suppressed, or raise the limit"
    if one.name == "loss":
        return _loss_advice(one, release.find_bound())
    assert one.attack is not None
    attack = catalog.attacks[one.attack]()
    assert isinstance(attack, Attack)
    return f"; {attack.advice(one.column)}"


def _loss_advice(one: Verdict, bound: Bound | None) -> str:
    said = ""
    if bound is not None and bound.percent is not None and bound.percent > one.limit:
        said = f". {_proven(bound)}: the limit contradicts the requirements"
    elif 0 < one.limit < 1:
        said = "; it is in percent: 25 and not 0.25"
    return f"{said}; weaken a requirement, give finer hierarchies, or raise the limit"
