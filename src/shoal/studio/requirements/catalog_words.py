"""What the entries of the catalog say about themselves, in the language of the user.

They speak English themselves. An entry of a plug-in has no other words, so that what is said comes
with its language, for those who have pages read aloud.
"""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

from shoal.base.wording import short
from shoal.models import Model
from shoal.studio.wording import DEFAULT, Wording, texts

SHARES = ("alpha", "beta", "r", "share", "threshold", "high", "low", "u", "belief", "rho")
LARGEST = 20.0  # delta, from which on its factor cannot be read any more


class Said(NamedTuple):
    """A text, and its language if that is not the one of the page."""

    text: str
    lang: str = ""

    def __str__(self) -> str:
        return self.text


def _said(t: Wording, key: str, english: str, /, **given: str) -> Said:
    if t.language == DEFAULT:
        return Said(english)
    own = texts(f"catalog-{t.language}").get(key)
    return Said(english, DEFAULT) if own is None else Said(own.format(**given))


def guarantee(t: Wording, model: Model, linked: bool) -> Said:
    """What a model guarantees."""
    if t.language == DEFAULT:
        return Said(model.guarantee(linked))
    known = texts(f"catalog-{t.language}")
    where = "linked" if linked else "class"
    against = "table" if model.needs_population else "estimated"
    kinds = (
        model.name,
        f"{model.name}.{where}",
        f"{model.name}.{getattr(model, 'kind', '')}",
        f"{model.name}.{against}",
    )
    key = next((f"guarantees.{one}" for one in kinds if f"guarantees.{one}" in known), "")
    given = {"where": known[f"where.{where}"], **_options(t, model, known)}
    if model.name == "t-closeness":
        given |= _closeness(t, model, known)
    return _said(t, key, model.guarantee(linked), **given)


def _options(t: Wording, model: Any, known: dict[str, str]) -> dict[str, str]:
    """The options of a model as a sentence has them."""
    given = {name: _written(t, getattr(model, name)) for name in type(model).model_fields}
    given |= {f"{name}_percent": t.exact(getattr(model, name)) for name in SHARES if name in given}
    if given.get("sampling_fraction", "None") != "None":
        given["fraction_percent"] = t.exact(model.sampling_fraction)
        given["min_people"] = t.number(model.min_people)
    if "k" in given:
        given["others"] = t.number(model.k - 1)
    if "rho" in given:
        given["k"] = t.number(model.k)
    if "delta" in given:
        large = model.delta >= LARGEST
        given["factor"] = known["where.very_many"] if large else _written(t, exp(model.delta))
    elif "beta" in given:
        given["factor"] = _written(t, 1 + model.beta)
    if "threshold" in given:
        given["sufficient_people"] = t.number(model.sufficient_people)
    return given


def _closeness(t: Wording, model: Any, known: dict[str, str]) -> dict[str, str]:
    gain = model.max_share_gain
    single = known["distances.unlimited" if gain is None else "distances.limited"]
    points = "" if gain is None else _written(t, round(100 * gain, 4))
    return {
        "measured": known[f"distances.{model.distance}"],
        "most": "2" if model.distance == "l1" else "1",
        "single": single.format(points=points),
    }


def _written(t: Wording, value: Any) -> str:
    if isinstance(value, int):
        return t.number(value)
    if isinstance(value, float):
        return f"{value:.6g}".replace(".", "," if t.language == "de" else ".")
    return short(value) if isinstance(value, str) else str(value)


def option(t: Wording, entry: str, name: str, english: str) -> Said:
    """What an option of an entry means."""
    key = f"options.{entry}.{name}"
    if t.language != DEFAULT and key not in texts(f"catalog-{t.language}"):
        key = f"options.{name}"
    return _said(t, key, english)


def algorithm(t: Wording, name: str, english: str) -> Said:
    """How an algorithm works."""
    return _said(t, f"algorithms.{name}", english)


def loss(t: Wording, name: str, english: str) -> Said:
    """What a loss counts."""
    return _said(t, f"losses.{name}", english)
