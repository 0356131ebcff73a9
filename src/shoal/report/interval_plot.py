"""Interval plots: estimates from the release over the intervals of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.report.plots import (
    GROUND,
    INK,
    LABEL,
    PLOT,
    SHADES,
    axis_labels,
    drawn,
    height_of,
    in_lines,
)
from shoal.report.vega_lite import layer, look, nominal, plot, quantitative

STEP = 24  # height of a line
PAIR = 36, 5  # characters per line of a label, which names two columns, and lines
ORIGINAL, INSIDE, OUTSIDE = (
    "original, with its 95 % interval",
    "release, inside the interval",
    "release, outside",
)


@dataclass(frozen=True)
class IntervalLine:
    """One line of the plot."""

    label: str
    value: float  # from the original
    low: float
    high: float
    other: float  # from the release
    inside: bool


def intervals(lines: Sequence[IntervalLine], x: str) -> str:
    """Draw one line per estimate: the interval of the original, and a mark for the release.

    Shapes tell the marks apart, not only colours.

    >>> svg = intervals([IntervalLine("age and pay", 0.3, 0.2, 0.4, 0.5, False)], "correlation")
    >>> "age and pay" in svg and "release, outside" in svg
    True
    """
    if not lines:
        raise ValueError("a plot needs at least one line")
    rows = axis_labels([line.label for line in lines], *PAIR)
    spans = [
        {"label": row, "low": line.low, "high": line.high}
        for row, line in zip(rows, lines, strict=True)
    ]
    marks = []
    for row, line in zip(rows, lines, strict=True):
        marks.append({"label": row, "x": line.value, "what": ORIGINAL})
        what = INSIDE if line.inside else OUTSIDE
        marks.append({"label": row, "x": line.other, "what": what})
    blue, orange, *_ = SHADES
    names = [ORIGINAL, INSIDE, OUTSIDE]
    scale = {"zero": False, "nice": True}
    axis = {"tickCount": 6}  # more of them would touch each other on paper
    across = {"title": x, "scale": scale, "axis": axis}
    down = {"labelLimit": LABEL, "labelPadding": 12, "ticks": False, "grid": True, **in_lines(rows)}
    y = nominal("label", title=None, sort=rows, axis=down)
    legend = {"orient": "top", "symbolSize": 110, "columns": 2, "labelLimit": 300}
    looks = {
        "shape": ["M0,-0.8L0,0.8", "circle", "triangle-up"],
        "stroke": [INK, blue, orange],
        "fill": [GROUND, blue, GROUND],
    }
    span = {"x": quantitative("low", **across), "x2": {"field": "high"}, "y": y}
    point = {channel: look("what", names, some, legend=legend) for channel, some in looks.items()}
    point |= {"x": quantitative("x", **across), "y": y}
    layers = [
        layer("rule", spans, span, strokeWidth=7, opacity=0.35, color=blue),
        layer("point", marks, point, size=90, opacity=1, strokeWidth=2),
    ]
    return drawn(plot(layers, width=PLOT, height={"step": max(STEP, height_of(rows))}))
