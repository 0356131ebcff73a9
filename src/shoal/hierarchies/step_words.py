"""Steps of hierarchies in words."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, log10
from typing import Any

from shoal.base.wording import number
from shoal.hierarchies.base import Width


def alternatives(steps: Iterable[Any]) -> str:
    """Steps in a sentence.

    >>> alternatives([5, 10, 1000]), alternatives(["month"])
    ('5, 10 or 1,000', 'month')
    """
    named = [number(step) if isinstance(step, int | float) else str(step) for step in steps]
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"


def rounded_up(wide: float, what: str) -> Width:
    """One width among many, rounded up to 1, 2 or 5 times a power of ten.

    >>> rounded_up(37, "a range of")
    Width(place=50.0, words='a range of up to 50')
    """
    power = 10.0 ** floor(log10(wide)) if wide > 0 else 1.0
    step = next(times * power for times in (1, 2, 5, 10) if wide <= times * power * (1 + 1e-12))
    return Width(step, f"{what} up to {number(step)}")
