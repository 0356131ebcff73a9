"""Plots of several panels side by side, which share their lines and their height."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from shoal.report.plots import FAINT, INK, SHADES, SHAPES, drawn
from shoal.report.vega_lite import Spec, layer, look, note, plot, quantitative, side_by_side

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
    shared = max((part.top for part in parts if not part.apart), default=-inf)
    if max(part.top for part in parts) == -inf:
        raise ValueError("a plot needs at least one point")
    legend = {"orient": "top", "direction": "horizontal", "columnPadding": 24}
    color = {"color": look("series", names, list(SHADES)[: len(names)], legend=legend)}
    shape = {"shape": look("series", names, SHAPES[: len(names)], legend=legend)}
    width = (WIDTH - GAP * (len(parts) - 1)) // len(parts)
    side = []
    for i, part in enumerate(parts):
        points: list[Spec] = [
            {"series": name, "x": px, "y": py}
            for name, line in part.lines.items()
            for px, py in line.items()
        ]
        ticks = sorted({point["x"] for point in points})
        top = part.top if part.apart else shared
        at = {
            "x": quantitative(
                "x",
                title=part.x,
                axis={"values": ticks, "format": "~f", "grid": False},
                scale={"zero": False, "nice": False, "padding": 12},
            ),
            "y": quantitative(
                "y",
                title=y if i == 0 else None,
                axis={"tickCount": 5},
                scale={"domain": [0, 1.04 * top or 1.0], "nice": False},
            ),
        }
        layers = [
            layer("line", points, color | at, strokeWidth=2, opacity=0.9),
            layer("point", points, color | shape | at, filled=True, size=55, opacity=1),
        ]
        if part.band:
            spans = [{"x": px, "y": low, "high": high} for px, (low, high) in part.band.items()]
            between = at | {"y2": {"field": "high"}}
            layers.insert(0, layer("area", spans, between, color=FAINT, opacity=0.18))
        title = note(part.title, frame="group", fontSize=13, color=INK)
        side.append(plot(layers, width=width, height=HEIGHT, title=title))
    resolve = {"scale": {"y": "independent"}}
    return drawn(side_by_side(side, spacing=GAP, resolve=resolve))
