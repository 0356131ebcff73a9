"""What models guarantee, in sentences for the people who rely on them."""

from __future__ import annotations

from collections.abc import Iterable

from shoal import catalog
from shoal.base.wording import listed, number, percent, short
from shoal.measures.beliefs import Belief
from shoal.models import Model


def guarantee(model: Model, linked: bool = False, belief: Belief | None = None) -> str:
    """What a model guarantees; `linked`: the release has no classes.

    `belief` is what was measured of its sensitive column. It is added, as what a model bounds is
    seldom what an attacker wants to know.

    >>> from shoal.models.p_sensitivity import PSensitivity
    >>> guarantee(PSensitivity(column="disease", p=2), linked=True)
    "Among the records that could be a person's there are at least 2 different values of disease."
    """
    words = model.guarantee(linked)
    return f"{words} {measured(belief)}" if belief else words


def measured(belief: Belief) -> str:
    """How certain an attacker who knows a person's class can be in this release."""
    one = belief.surest
    holders = "all people have" if belief.counted_by == "people" else "all records have"
    value = "a missing value" if one.value is None else f"“{short(one.value)}”"
    return (
        "Measured in this release: an attacker who knows a person's class can be up to "
        f"{percent(100 * one.highest)} sure of a value ({value}, which "
        f"{percent(100 * one.overall)} of {holders})."
    )


def bound(model: Model, level: float) -> str:
    """A required level in words.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> bound(KAnonymity(k=5), 5)
    'at least 5'
    """
    return f"{model.bound} {number(level)}"


def two_attackers(satisfied: Iterable[str]) -> str:
    """Why models about a draw can be satisfied although the highest risk is above their level.

    The report and the screen say it of the satisfied models; empty: none is about a draw.

    >>> two_attackers(["k-anonymity"])
    ''
    """
    found = catalog.models.get
    drawn = [name for name in satisfied if getattr(found(name), "needs_draw", False)]
    if not drawn:
        return ""
    return (
        f"{listed(drawn)} limits what an attacker believes who knows how the records were drawn; "
        "the highest risk is that of another attacker, who takes all complete assignments for "
        "equally likely"
    )
