"""Plots of several panels side by side, which share their lines and their height."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from shoal.report.plots import FAINT, INK, SHADES, SHAPES, for_both_backgrounds, styled

WIDTH, HEIGHT, GAP = 700, 250, 28


@dataclass(frozen=True)
class Part:
    """One panel: a title, what it varies, and by name of the line its points."""

    title: str
    x: str
    lines: Mapping[str, Mapping[float, float]]
    band: Mapping[float, tuple[float, float]] = field(default_factory=dict)  # from, to; shaded
    apart: bool = False  # whether its height is its own, where it measures something else

    @property
    def top(self) -> float:
        """The highest that is drawn; nothing: minus infinity."""
        ends = [value for line in self.lines.values() for value in line.values()]
        return max([*ends, *(high for _, high in self.band.values())], default=-inf)


def panels(parts: Sequence[Part], names: Sequence[str], y: str) -> str:
    """Draw panels side by side; `names` are the lines in the order of the legend.

    >>> svg = panels([Part("a: |QI| = 6", "l", {"geneir": {2: 3.5, 4: 5.0}})], ["geneir"], "loss")
    >>> svg.startswith("<svg") and "|QI| = 6" in svg
    True
    """
    import altair  # slow to import, and rarely needed
    import vl_convert

    alt: Any = altair
    shared = max((part.top for part in parts if not part.apart), default=-inf)
    if max(part.top for part in parts) == -inf:
        raise ValueError("a plot needs at least one point")
    colors, shapes = list(SHADES)[: len(names)], SHAPES[: len(names)]
    legend = alt.Legend(orient="top", direction="horizontal", columnPadding=24)
    color = alt.Color("series:N", sort=names, title=None, legend=legend).scale(
        domain=names, range=colors
    )
    shape = alt.Shape("series:N", sort=names, title=None, legend=legend).scale(
        domain=names, range=shapes
    )
    drawn = []
    for i, part in enumerate(parts):
        points: list[dict[str, Any]] = [
            {"series": name, "x": px, "y": py}
            for name, line in part.lines.items()
            for px, py in line.items()
        ]
        ticks = sorted({point["x"] for point in points})
        x = alt.X(
            "x:Q",
            title=part.x,
            axis=alt.Axis(values=ticks, format="~f", grid=False),
            scale=alt.Scale(zero=False, nice=False, padding=12),
        )
        top = part.top if part.apart else shared
        scale = alt.Scale(domain=[0, 1.04 * top or 1.0], nice=False)
        axis = alt.Y("y:Q", title=y if i == 0 else None, scale=scale, axis=alt.Axis(tickCount=5))
        base = alt.Chart(alt.Data(values=points)).encode(x=x, y=axis, color=color)
        layers = [
            base.mark_line(strokeWidth=2, opacity=0.9),
            base.mark_point(filled=True, size=55, opacity=1).encode(shape=shape),
        ]
        if part.band:
            spans = [{"x": px, "y": low, "high": high} for px, (low, high) in part.band.items()]
            shaded = alt.Chart(alt.Data(values=spans)).mark_area(color=FAINT, opacity=0.18)
            layers.insert(0, shaded.encode(x=x, y=axis, y2="high:Q"))
        width = (WIDTH - GAP * (len(parts) - 1)) // len(parts)
        title = alt.TitleParams(
            part.title, anchor="start", frame="group", fontWeight="normal", fontSize=13, color=INK
        )
        drawn.append(alt.layer(*layers).properties(width=width, height=HEIGHT, title=title))
    chart = alt.hconcat(*drawn, spacing=GAP).resolve_scale(y="independent")
    chart = chart.properties(background="transparent")
    svg: str = vl_convert.vegalite_to_svg(styled(chart).to_dict())
    return for_both_backgrounds(svg)
