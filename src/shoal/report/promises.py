"""What models promise, in plain sentences for the people who must rely on them."""

from __future__ import annotations

from math import exp
from typing import Any

from shoal.base.wording import number, percent, sentence, short
from shoal.measures.beliefs import Belief
from shoal.models import Model

# What a promise means to the people in the table. A model that is not here is told by the first
# line of its docstring. {In_every} is where sensitive values are looked at: in a class, or where
# there are none, in the rows that could be a person's.
PROMISES = {
    "k-anonymity": "Nobody stands alone: in the columns that the plan calls quasi-identifiers, "
    "each person looks the same as at least {others} other people in the table.",
    "distinct-l-diversity": "{In_every} there are at least {l} different values of {column}.",
    "p-sensitivity": "{In_every} there are at least {p} different values of {column}.",
    "entropy-l-diversity": "{In_every} the values of {column} are at least as mixed as {l} "
    "values that are all equally frequent.",
    "frequency-l-diversity": "{In_every} no value of {column} is more frequent than once in {l} "
    "rows{guess}.",
    "recursive-cl-diversity": "{In_every} the most frequent value of {column} has fewer than {c} "
    "times the rows of all values from the {l}th most frequent on.",
    "alpha-k-anonymity": "Each person looks the same as at least {others} other people, and in no "
    "class does one value of {column} make up more than {alpha_percent} of the rows.",
    "t-closeness": "In every class the values of {column} are at most {t} away from those of the "
    "whole table, measured by {metric}: 0 where they are spread alike, and {most} where class and "
    "table have nothing in common.{allows}",
    "beta-likeness": "In no class is the share of a value of {column} more than {times} times its "
    "share of the whole table{enhanced}.",
    "delta-disclosure": "In every class each value of {column} is less than {factor} times as "
    "frequent as in the whole table, and more than 1/{factor} as frequent.",
    # People with several rows.
    "ir-k-anonymity": "Every class holds rows of at least {k} different people, however many rows "
    "each of them has.",
    "ir-kl-anonymity": "Every class holds rows of at least {k} different people, and at least {l} "
    "different values of {column}.",
    "ir-alpha-beta-anonymity": "In every class no person has more than {alpha_percent} of the "
    "rows, and no value of {column} stands in more than {beta_percent} of them.",
    "eir-l-diversity": "Pick one row of each person of a class: however you pick, at least {l} "
    "different values of {column} remain.",
    "eir-alpha-beta-anonymity": "In every class no person has more than {alpha_percent} of the "
    "rows, and no more than {beta_percent} of the people have the same value of {column}.",
    # Rows that could be a person's.
    "1-k-anonymity": "Whoever looks for one person by their quasi-identifiers finds at least {k} "
    "published rows that fit.",
    "k-1-anonymity": "Whoever starts from a published row finds at least {k} people of the "
    "original whom it fits.",
    "k-k-anonymity": "Each person fits at least {k} published rows, and each published row fits "
    "at least {k} people. Somebody who knows everybody's quasi-identifiers may rule out some.",
    "k-concealment": "At least {k} published rows could be each person's, even for somebody who "
    "knows the quasi-identifiers of everybody and rules out all that fits into no complete "
    "assignment of people to rows.",
}


METRIC = {
    "equal": "the share of the rows that would need another value",
    "l1": "twice the share of the rows that would need another value",
    "ordered": "how far values would have to be moved along their order",
    "hierarchical": "how far values would have to be moved in their hierarchy",
}


def promise(model: Model, linked: bool = False, belief: Belief | None = None) -> str:
    """What a model promises, in a plain sentence; `linked`: where there are no classes.

    `belief` is what was measured of its sensitive column: what a model bounds is seldom what
    an attacker wants to know, so that is added.

    >>> from shoal.models.p_sensitivity import PSensitivity
    >>> promise(PSensitivity(column="disease", p=2), linked=True)
    "Among the rows that could be a person's there are at least 2 different values of disease."
    """
    if model.name not in PROMISES:
        return sentence(type(model).summary())
    given = model.options()
    options = {
        name: number(value) if isinstance(value, int | float) else short(value)
        for name, value in given.items()
    }
    extra: dict[str, Any] = {
        "most": "2" if options.get("distance") == "l1" else "1",
        "In_every": "Among the rows that could be a person's" if linked else "In every class",
        # Rows that could be a person's need not be equally likely: no chance follows from counts.
        "guess": ""
        if linked
        else ": whoever knows a person's class and guesses the value is right no more often",
    }
    if model.name == "t-closeness":
        extra["metric"] = METRIC[given["distance"]]
        extra["allows"] = _allowed(model)
    if model.name == "beta-likeness":
        extra["times"] = number(1 + given["beta"])
        extra["enhanced"] = (
            ", and less where the value is frequent" if given.get("kind") == "enhanced" else ""
        )
    if "k" in given:
        extra["others"] = number(given["k"] - 1)
    for share in ("alpha", "beta"):
        if share in given:
            extra[f"{share}_percent"] = percent(100 * given[share])
    if "delta" in given:
        extra["factor"] = number(exp(given["delta"])) if given["delta"] < 20 else "very many"
    words = PROMISES[model.name].format_map({**options, **extra})
    return f"{words} {measured(belief)}" if belief else words


def _allowed(model: Any) -> str:
    """What a distance says of the share of a single value."""
    move = may_move(model)
    if move is None:
        return (
            " This distance does not limit by how much the share of a single value may differ: "
            "values that lie close together may replace each other."
        )
    return (
        " By this definition the share of the rows with a value may differ between class and whole "
        f"table by up to {number(round(100 * move, 4))} percentage points."
    )


def may_move(model: Model) -> float | None:
    """By how much the share of a value may grow from table to class; None: no bound is known.

    The distance `equal` of t-closeness is the largest difference of the shares that any set of
    values has in class and table, so that the share of one value moves by t at the most; `l1` is
    twice that. A short way along an order, or within a branch, is a small distance for any share.
    """
    if model.name != "t-closeness":
        return None
    given = model.options()
    factor = {"equal": 1.0, "l1": 0.5}.get(given["distance"])
    return None if factor is None else min(1.0, factor * given["t"])


def measured(belief: Belief) -> str:
    """How sure an attacker who knows a person's class can be in this release."""
    one = belief.surest
    whose = "all people have" if belief.counted_by == "people" else "all records have"
    value = "a missing value" if one.value is None else f"“{short(one.value)}”"
    return (
        "Measured in this release: an attacker who knows a person's class can be up to "
        f"{percent(100 * one.highest)} sure of a value ({value}, which "
        f"{percent(100 * one.overall)} of {whose})."
    )


def bound(model: Model, level: float) -> str:
    """A level that is asked for.

    >>> from shoal.models.k_anonymity import KAnonymity
    >>> bound(KAnonymity(k=5), 5)
    'at least 5'
    """
    if model.higher_is_safer:
        return f"{'more than' if model.strict else 'at least'} {number(level)}"
    return f"{'less than' if model.strict else 'at most'} {number(level)}"
