"""Limits in words: what is limited, what is allowed and reached, the verdict and its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose

from shoal import catalog
from shoal.attacks import Attack, SensitiveAttack
from shoal.base.wording import number, percent, short
from shoal.measures.verdicts.verdict import CLOSE, Colour, Verdict
from shoal.models.share_at_risk import ShareAtRisk
from shoal.plan.limits import PRESETS, Limits

KEY = (
    f"Green: at most {percent(100 * CLOSE)} of the limit. Amber: above that, but within the limit. "
    "Red: beyond it."
)
SYMBOLS: dict[Colour, str] = {"green": "✔", "amber": "▲", "red": "✖", "unknown": "?"}


@dataclass(frozen=True)
class LimitFact:
    """One limit as report and screen show it."""

    name: str  # as in the plan
    what: str
    allowed: str
    reached: str
    verdict: Colour
    reason: str  # in one sentence

    @property
    def word(self) -> str:
        """The verdict as a symbol and a word, so that it can be read without colours."""
        return f"{SYMBOLS[self.verdict]} {self.verdict}"


def limit_facts(verdicts: Sequence[Verdict], loss: str, linked: bool = False) -> list[LimitFact]:
    """The limits of a plan in words; `loss` is its metric, and `linked`: there are no classes.

    >>> (one,) = limit_facts([Verdict("highest_risk", 0.2, 0.2)], "nllm")
    >>> one.word, one.reason.replace("\\xa0", " ")
    ('▲ amber', 'Exactly the limit: the smallest class has 5 people.')
    """
    return [
        LimitFact(
            one.name,
            _what(one, loss),
            f"at most {_shown(one, one.limit)}",
            "–" if one.reached is None else _shown(one, one.reached),
            one.verdict,
            _reason(one, linked),
        )
        for one in verdicts
    ]


def preset_words(limits: Limits) -> str:
    """What a preset is and who uses it; it states nothing about the law.

    >>> preset_words(Limits()), preset_words(Limits(preset="cells-5"))[:48]
    ('', 'Preset cells-5: no group of fewer than 5 people,')
    """
    if limits.preset is None:
        return ""
    preset = PRESETS[limits.preset]
    return f"Preset {limits.preset}: {preset.words}; {preset.source}."


def _what(one: Verdict, loss: str) -> str:
    if one.attack is not None:
        on = "" if one.column is None else f", on {short(one.column)}"
        return f"people on whom {one.attack} succeeds{on}"
    if one.threshold is not None:
        return f"people with a risk above {percent(100 * one.threshold)}"
    return {
        "highest_risk": "highest re-identification risk",
        "average_risk": "average re-identification risk",
        "loss": f"information loss ({loss})",
        "suppressed": "suppressed records",
    }[one.name]


def _shown(one: Verdict, value: float) -> str:
    """A share or a loss; with more digits where the limit and what is reached would look alike."""
    unit = 1.0 if one.name == "loss" else 100.0
    known = (one.limit, one.reached)
    if None not in known and known[0] != known[1]:
        shown = [percent(unit * x) for x in known if x is not None]
        if shown[0] == shown[1] and one.verdict == "red":
            return f"{unit * value:.6g}\xa0%"
    return percent(unit * value)


def _reason(one: Verdict, linked: bool) -> str:
    """Why the verdict is what it is: how far from the limit, and what the number means."""
    if one.reached is None:
        return _NOT_MEASURED.get(one.name, "It could not be measured on this table.")
    means = _means(one, one.reached, linked)
    return f"{_compared(one, one.reached)}{f': {means}' if means else ''}."


def _compared(one: Verdict, reached: float) -> str:
    """What is reached, compared with the limit."""
    if one.verdict == "red":
        times = reached / one.limit if one.limit else 0
        return (
            f"Beyond the limit, {times:.1f} times as much" if times > 1.05 else "Beyond the limit"
        )
    if isclose(reached, one.limit):
        return "Exactly the limit" if one.limit else "As required"
    return f"{percent(100 * reached / one.limit)} of the limit"


def _means(one: Verdict, reached: float, linked: bool) -> str:
    """What the number says, for readers who do not know the measure."""
    if one.attack is not None:
        attack = catalog.attacks[one.attack]()
        assert isinstance(attack, Attack)
        if not reached:
            return "it succeeds on nobody"
        # Attacks on sensitive values speak of classes, which a linked release does not have.
        return "" if linked and isinstance(attack, SensitiveAttack) else attack.in_short
    if one.threshold is not None:
        size = ShareAtRisk(share=one.limit, threshold=one.threshold).sufficient_people
        who = "they are in classes" if reached else "nobody is in a class"
        return f"{who} of fewer than {number(size)} people"
    if one.name == "highest_risk":
        if linked:
            return "the probability of the most likely record of a person"
        people = round(1 / reached)
        return (
            "somebody is unique"
            if people == 1
            else (f"the smallest class has {number(people)} people")
        )
    return {
        "average_risk": "how often a guess is right",
        "loss": "0\xa0% is no loss, 100\xa0% is all",
        "suppressed": "they are not published" if reached else "all records are published",
    }[one.name]


_NOT_MEASURED = {
    "loss": "The loss is measured against the original, which was not given.",
    "suppressed": "Suppressed records are counted against the original, which was not given.",
    "highest_risk": "The probabilities of the possible records are not known.",
    "average_risk": "The probabilities of the possible records are not known.",
    "share_at_risk": "It is measured on classes, and this table has none.",
}
