"""Algorithms side by side: what they lose against k, and beside it the time that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.report.plots import (
    FAINT,
    GROUND,
    INK,
    LABEL,
    SHADES,
    SHAPES,
    cycled,
    for_both_grounds,
    round_ticks,
    styled,
)

WIDTH, HEIGHT = 380, 320  # of one panel
STEP = 26  # between two bars
LEAST = 1e-3  # seconds, below which a clock tells nothing
WIDE = 4.0  # largest k / smallest k from which on k is drawn on a logarithmic axis
SECONDS = "seconds that the algorithm took"
BOUND = "proven lower bound"
SHARPER = 2.0  # pixels of a PNG for each of the drawing


@dataclass(frozen=True)
class Curve:
    """One method: what it lost, and the seconds it took, at each k."""

    name: str
    lost: Mapping[int, float]
    seconds: Mapping[int, float]


def draw(curves: Sequence[Curve], bounds: Mapping[int, float], lost: str, kind: str) -> bytes:
    """Draw two panels as `.svg` or `.png`; bars where there is a single k.

    >>> curve = Curve("gaa", {2: 3.4, 10: 11.0}, {2: 0.1, 10: 0.2})
    >>> b"percent lost" in draw([curve], {}, "percent lost (nllm)", ".svg")
    True
    """
    import altair as alt  # slow to import, and seldom needed
    import vl_convert

    ks = sorted({k for curve in curves for k in curve.lost})
    if not ks:
        raise ValueError("a plot needs at least one run")
    panels = _bars if len(ks) == 1 else _lines
    left, right = panels(alt, curves, ks, bounds, lost)
    chart = alt.hconcat(left, right, spacing=36).resolve_scale(color="shared", shape="shared")
    chart = chart.properties(background=GROUND, padding=16)
    spec = styled(chart).to_dict()
    if kind == ".png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=SHARPER))
    svg: str = vl_convert.vegalite_to_svg(spec)
    return for_both_grounds(svg).encode()


def _lines(
    alt: Any, curves: Sequence[Curve], ks: list[int], bounds: Mapping[int, float], lost: str
) -> list[Any]:
    """A line a method: its loss on the left, its time on the right."""
    names = [curve.name for curve in curves]
    kind = {"type": "log"} if ks[-1] >= WIDE * ks[0] else {"zero": False}
    x = alt.X("k:Q", title="k", scale=alt.Scale(**kind, domain=[ks[0], ks[-1]], nice=False))
    x = x.axis(values=ks, format=",")
    legend = alt.Legend(orient="bottom", columns=6, symbolType="stroke", labelLimit=LABEL)
    color = alt.Color("name:N", sort=names, title=None, legend=legend).scale(
        domain=names, range=cycled(SHADES, names)
    )
    shape = alt.Shape("name:N", sort=names, title=None, legend=legend).scale(
        domain=names, range=cycled(SHAPES, names)
    )
    panels = []
    for title, points in ((lost, "lost"), (SECONDS, "seconds")):
        data = [
            {"name": curve.name, "k": k, "y": y if points == "lost" else max(y, LEAST)}
            for curve in curves
            for k, y in getattr(curve, points).items()
        ]
        y = alt.Y("y:Q", title=title)
        if points == "seconds":
            y = _log(alt, y, [one["y"] for one in data])
        drawn = alt.Chart(alt.Data(values=data)).encode(x=x, y=y, color=color)
        layers = [
            drawn.mark_line(strokeWidth=2, opacity=0.9),
            drawn.mark_point(filled=True, size=60, opacity=1).encode(shape=shape),
        ]
        if points == "lost" and bounds:
            layers = [*_bound(alt, x, y, bounds), *layers]
        panels.append(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT))
    return panels


def _log(alt: Any, y: Any, values: Sequence[float]) -> Any:
    """A logarithmic axis with a little room at both ends, so that it is never a single point."""
    low, high = min(values) / 1.3, max(values) * 1.3
    ticks = round_ticks(low, high)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return y.scale(scale).axis(values=ticks, format="~g") if ticks else y.scale(scale)


def _bound(alt: Any, x: Any, y: Any, bounds: Mapping[int, float]) -> list[Any]:
    data = [{"k": k, "y": bound, "label": ""} for k, bound in sorted(bounds.items())]
    data[-1]["label"] = BOUND
    drawn = alt.Chart(alt.Data(values=data)).encode(x=x, y=y)
    return [
        drawn.mark_line(color=FAINT, strokeDash=[4, 4], strokeWidth=1.5),
        drawn.mark_text(color=FAINT, align="right", dy=26, fontSize=11).encode(text="label:N"),
    ]


def _bars(
    alt: Any, curves: Sequence[Curve], ks: list[int], bounds: Mapping[int, float], lost: str
) -> list[Any]:
    """A bar a method, the best on top: its loss on the left, its time on the right."""
    k = ks[0]
    names = [curve.name for curve in curves]
    panels = []
    for i, points in enumerate(("lost", "seconds")):
        data = [
            {"name": curve.name, "x": getattr(curve, points)[k], "shown": _number(points, curve, k)}
            for curve in curves
        ]
        top = max(one["x"] for one in data) or 1.0
        title = f"{lost} at k = {k:,}" if points == "lost" else SECONDS
        drawn = alt.Chart(alt.Data(values=data)).encode(
            x=alt.X("x:Q", title=title, axis=alt.Axis(tickCount=5)).scale(
                domain=[0, 1.18 * top], nice=False
            ),
            y=alt.Y("name:N", title=None, sort=names).axis(
                alt.Axis(labels=i == 0, ticks=False, labelLimit=LABEL, labelPadding=6)
            ),
        )
        shade = next(iter(SHADES)) if points == "lost" else FAINT
        layers = [
            drawn.mark_bar(height=0.7 * STEP, color=shade),
            drawn.mark_text(align="left", dx=4, color=INK, fontSize=12).encode(text="shown:N"),
        ]
        if points == "lost" and k in bounds:
            rule = alt.Chart(alt.Data(values=[{"x": bounds[k], "label": BOUND}]))
            layers.append(
                rule.mark_rule(color=INK, strokeDash=[4, 4], strokeWidth=1.5).encode(x="x:Q")
            )
        panel = alt.layer(*layers).properties(width=WIDTH - 60, height=alt.Step(STEP))
        panels.append(panel)
    return panels


def _number(points: str, curve: Curve, k: int) -> str:
    value = curve.lost[k] if points == "lost" else curve.seconds[k]
    return f"{value:.2f}"
