"""The frontier: what each setting loses, against the risk that remains; safer ones on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import hypot, sqrt
from typing import Any

from markupsafe import Markup, escape

from shoal.studio.charts._svg import element
from shoal.studio.wording import Wording

WIDTH, HEIGHT = 560.0, 340.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 26.0, 18.0, 46.0
RISKS = (0, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 80, 100)  # percent, where the axis has numbers
NEAR = 34.0  # two numbers of the axis that are closer would touch
TOUCH = 16.0  # how far around a setting a finger chooses it
NAMED = 12  # settings with a name in the picture; of more, every second one


def frontier(
    points: Sequence[Mapping[str, Any]], risk: str, t: Wording, titles: Mapping[str, str]
) -> Markup:
    """Draw the settings of a frontier; `risk` is the kind that it is about.

    A setting on the whole table is a link to the line of the table with its button.
    """
    shown = [(i, one) for i, one in enumerate(points) if one["lost"] is not None]
    if not shown:
        return Markup("")
    place = _Places([one for _, one in shown], risk)
    table = [(i, one) for i, one in shown if one["on"] == "table"]
    best = sorted((one for one in table if one[1]["frontier"]), key=lambda one: -one[1][risk])
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place.of(one) for _, one in best))
    inside = place.axes(t, titles)
    inside += Markup("").join(
        _dot(place, one, "sampled") for _, one in shown if one["on"] == "sample"
    )
    inside += element("polyline", points=line, class_="line")
    named = _named(best)
    touch = _touch([place.of(one) for _, one in table])
    inside += Markup("").join(
        _link(place, i, one, named.get(i, 0), risk, t, reach)
        for (i, one), reach in zip(table, touch, strict=True)
    )
    return element(
        "svg",
        element("title", escape(titles["picture"])) + inside,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="group",
        class_="frontier",
    )


class _Places:
    """Where settings are in the picture: risks by their square root, as they are few near 0."""

    def __init__(self, points: Sequence[Mapping[str, Any]], risk: str) -> None:
        self._risk = risk
        self._most_risk: float = max(max(100 * one[risk] for one in points) * 1.15, 0.01)
        self._most_lost: float = max(max(one["lost"] for one in points) * 1.1, 1.0)

    def x(self, percent: float) -> float:
        wide = WIDTH - LEFT - RIGHT
        return LEFT + wide * (1 - sqrt(max(percent, 0.0) / self._most_risk))

    def y(self, lost: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - lost / self._most_lost)

    def of(self, point: Mapping[str, Any]) -> tuple[float, float]:
        return self.x(100 * point[self._risk]), self.y(point["lost"])

    def axes(self, t: Wording, titles: Mapping[str, str]) -> Markup:
        """Both axes with numbers, and what they are about."""
        base = HEIGHT - BOTTOM
        drawn = element("line", x1=LEFT, y1=base, x2=WIDTH - RIGHT, y2=base, class_="axis")
        before = -NEAR
        for percent in sorted(RISKS, reverse=True):
            x = self.x(percent)
            if percent > self._most_risk or x - before < NEAR:
                continue
            before = x
            drawn += element("line", x1=f"{x:.1f}", y1=base, x2=f"{x:.1f}", y2=base + 4,
                             class_="axis")  # fmt: skip
            drawn += _text(x, base + 17, t.exact(percent / 100), "middle")
        step = _step(self._most_lost)
        lost = 0.0
        while lost <= self._most_lost:
            y = self.y(lost)
            drawn += element("line", x1=LEFT, y1=f"{y:.1f}", x2=WIDTH - RIGHT, y2=f"{y:.1f}",
                             class_="grid-line")  # fmt: skip
            drawn += _text(LEFT - 6, y + 4, t.exact(lost / 100), "end")
            lost += step
        drawn += _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, titles["risk"], "middle")
        return drawn + _text(6, TOP - 5, titles["lost"], "start")


def _step(most: float) -> float:
    """Between two numbers of an axis, so that there are about five."""
    for step in (0.2, 0.5, 1, 2, 5, 10, 20):
        if most / step <= 6:
            return float(step)
    return 25.0


def _text(x: float, y: float, said: str, anchor: str) -> Markup:
    return element("text", escape(said), x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def _dot(place: _Places, point: Mapping[str, Any], kind: str) -> Markup:
    x, y = place.of(point)
    return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="3.5", class_=kind)


def _touch(places: Sequence[tuple[float, float]]) -> list[float]:
    """How far around each setting a click chooses it: at most halfway to the next one."""
    found = []
    for i, (x, y) in enumerate(places):
        others = (hypot(x - a, y - b) for j, (a, b) in enumerate(places) if j != i)
        found.append(min(TOUCH, min(others, default=2 * TOUCH) / 2))
    return found


def _link(
    place: _Places, i: int, point: Mapping[str, Any], side: int, risk: str, t: Wording, reach: float
) -> Markup:
    """A setting that can be chosen; its name is above it, below it (-1) or not there (0)."""
    x, y = place.of(point)
    kind = "best" if point["frontier"] else "worse"
    drawn = ""
    if point["own"] or point["knee"]:
        drawn += element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="11",
                         class_="own" if point["own"] else "knee")  # fmt: skip
    drawn += element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{reach:.1f}", class_="touch")
    drawn += element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="6", class_=kind)
    side = side or int(point["own"] or point["knee"])
    if side > 0:
        drawn += _text(x - 9, y - 9, point["setting"], "end" if x > LEFT + 70 else "start")
    elif side < 0:
        drawn += _text(x + 9, y + 18, point["setting"], "start" if x < WIDTH - 90 else "end")
    said = f"{point['setting']}: {t.share(point[risk])}, {t.share(point['lost'] / 100)}"
    return element(
        "a",
        element("title", escape(said)) + drawn,
        href=f"#setting-{i}",
        data_choose=f"choose-{i}",
        aria_label=said,
    )


def _named(best: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[int, int]:
    """Which settings have a name, in turn above and below: neighbours do not collide."""
    step = 1 + (len(best) - 1) // NAMED if best else 1
    named = [i for place, (i, _) in enumerate(best) if place % step == 0]
    return {i: 1 if place % 2 == 0 else -1 for place, i in enumerate(named)}
