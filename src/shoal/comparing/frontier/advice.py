"""Advice: the knee of a frontier, and what another setting costs and gains, in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from shoal.base.wording import percent

BEND = 0.05  # how far a knee is from the straight line between the ends, at least


class Place(NamedTuple):
    """A setting: its risk from 0 to 1, and its loss in percent."""

    risk: float
    lost: float


def undominated(places: Sequence[Place]) -> list[int]:
    """Those of which no other one loses less at no more risk, the riskiest first.

    >>> undominated([Place(0.5, 1.0), Place(0.2, 3.0), Place(0.2, 4.0), Place(0.1, 2.0)])
    [0, 3]
    """
    order = sorted(range(len(places)), key=lambda i: (places[i].lost, places[i].risk, i))
    found: list[int] = []
    lowest = float("inf")
    for i in order:
        if places[i].risk < lowest:
            lowest = places[i].risk
            found.append(i)
    return found


def knee_of(places: Sequence[Place]) -> int | None:
    """The place farthest below the straight line between the two ends; None if there is no bend.

    Places are undominated, the riskiest first. A knee depends on the scale: risks count by their
    square root, as the plot draws them, which lies between differences and ratios of risks.

    >>> knee_of([Place(0.5, 1.0), Place(0.1, 2.0), Place(0.05, 9.0)])
    1
    >>> knee_of([Place(0.5, 1.0), Place(0.05, 9.0)]) is None
    True
    """
    if len(places) < 3:
        return None
    x = [-sqrt(one.risk) for one in places]
    y = [one.lost for one in places]
    wide, high = x[-1] - x[0], y[-1] - y[0]
    if wide <= 0 or high <= 0:
        return None
    below = [(x[i] - x[0]) / wide - (y[i] - y[0]) / high for i in range(len(places))]
    most = max(range(len(places)), key=lambda i: below[i])
    return most if below[most] >= BEND else None


def compared(name: str, one: Place, than: str, other: Place, risk: str) -> str:
    """What a setting costs and gains compared with another one, in a sentence.

    >>> said = compared("k = 8", Place(0.1, 5.6), "k = 5", Place(0.2, 5.0), "average risk")
    >>> said.split(" (")[0], said.split(") ")[1]
    ('k = 8 loses 0.6 points more than k = 5', 'and halves the average risk, from 20 % to 10 %.')
    >>> _gain(0.11, 0.2, "risk").partition(",")[0], _gain(0.095, 0.2, "risk").partition(",")[0]
    ('nearly halves the risk', 'more than halves the risk')
    """
    points = one.lost - other.lost
    cost = "loses as much as"
    if abs(points) >= 0.05:
        cost = f"loses {abs(points):.1f} points {'more' if points > 0 else 'less'} than"
    both = f"({percent(one.lost)} instead of {percent(other.lost)})"
    gain = _gain(one.risk, other.risk, risk)
    return f"{name} {cost} {than} {both} and {gain}.".replace("\xa0", " ")


def _gain(risk: float, before: float, name: str) -> str:
    both = f"from {percent(100 * before)} to {percent(100 * risk)}"
    if before <= 0 or abs(risk - before) < 1e-4 * max(before, 1e-9):
        return f"does not change the {name} ({percent(100 * risk)})"
    share = risk / before
    if share > 1:
        return f"raises the {name}, {both}"
    if 0.45 <= share <= 0.55:
        about = "" if abs(share - 0.5) <= 0.005 else "nearly " if share > 0.5 else "more than "
        return f"{about}halves the {name}, {both}"
    return f"lowers the {name} by {100 * (1 - share):.0f} %, {both}"
