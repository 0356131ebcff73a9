"""Words: settings as the command line gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shoal.base.errors import BadPlan, did_you_mean
from shoal.comparing.compare import method_of
from shoal.comparing.frontier.points import RISKS, Risk


def values_of(name: str, words: str | None) -> list[float] | None:
    """Numbers separated by commas.

    >>> values_of("t", "0.1, 0.25"), values_of("k", None)
    ([0.1, 0.25], None)
    """
    if words is None:
        return None
    try:
        return [float(word) for word in words.split(",") if word.strip()]
    except ValueError:
        raise BadPlan(f"--{name} is a list of numbers, as in --{name} 2,5; got {words!r}") from None


def models_of(words: Iterable[str] | None) -> list[Any]:
    """Models with options, such as `t-closeness:column=disease:t=0.2`."""
    return [method_of(word) for word in words or ()]


def risk_of(word: str | None) -> Risk | None:
    """The name of a risk."""
    if word is None:
        return None
    for known in RISKS:
        if word == known:
            return known
    hint = did_you_mean(word, RISKS) or f"; there are {', '.join(RISKS)}"
    raise BadPlan(f"no risk {word!r}{hint}")
