"""Plots as SVG, drawn offline, readable on light and dark backgrounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle
from math import ceil
from textwrap import wrap
from typing import Any

from shoal.base.wording import LONG, short
from shoal.report.vega_lite import Spec, layer, look, nominal, plot, quantitative, to_svg

WIDTH, HEIGHT = 760, 360
PLOT = 400  # width of a plot without its labels: with them it fits on a page and a small screen
BAR = 18  # thickness of a bar
LABEL = 300  # largest width of the labels of bars; lines are shorter, whatever their letters are
LINE, LINES = 26, 4  # characters per line of a label, and lines
LINE_HEIGHT = 14
NAME = 220  # largest width of a name in a legend

# Okabe and Ito's palette, which is safe for all kinds of colour vision; pale colours are darker on
# a light background. Shapes distinguish the series as well.
SHADES = {  # on a light background → on a dark one
    "#0072b2": "#56a8e0",
    "#d55e00": "#ff8a3d",
    "#00805f": "#2fc39a",
    "#b0558a": "#e48fbd",
    "#b57a00": "#f0b429",
    "#3b4252": "#d8dee9",
    "#2a9fd6": "#9be0ff",
    "#7a4a21": "#c9976b",
}
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
INK, FAINT, GRID = "#1c2128", "#5d6670", "#dde2e7"
GROUND = "#fefefe"  # inside hollow marks
# What was before: much lighter than the first of the shades, also on paper without colours.
PALE = "#b9c6d1"
DARK = {
    INK: "#e4e8ec",
    FAINT: "#9ba6b2",
    GRID: "#323b45",
    GROUND: "#15191e",
    PALE: "#56626e",
    **SHADES,
}


# Values from the data become property names while a plot is drawn. Some names are reserved there
# (constructor, valueOf); an invisible character in front avoids them.
MARK = "\u2060"


@dataclass(frozen=True)
class Series:
    """One line of a plot, and points to compare it with."""

    name: str
    points: Sequence[tuple[float, float]]
    others: Sequence[tuple[float, float]] = ()  # points of another source: hollow, not joined


def lines(
    series: Sequence[Series],
    x: str,
    y: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    top: float | None = None,
    reference: Sequence[tuple[float, float]] = (),
) -> str:
    """Draw one line per series; `reference` is a dashed line behind them.

    >>> svg = lines([Series("gaa", [(2, 3.4), (100, 35.0)])], "k", "percent lost", log_x=True)
    >>> svg.startswith("<svg") and "percent lost" in svg and "#0072b2" in svg
    True
    """
    names = [MARK + one.name for one in series]
    both = list(zip(names, series, strict=True))
    points = [(name, *point) for name, one in both for point in one.points]
    marks = [(name, *point) for name, one in both for point in one.others]
    if not points:
        raise ValueError("a plot needs at least one point")
    at = {
        "x": _axis("x", x, [px for _, px, _ in points + marks], log_x, None),
        "y": _axis("y", y, [py for _, _, py in points + marks], log_y, top),
    }
    color = {"color": look("series", names, cycled(SHADES, names))}
    shape = {"shape": look("series", names, cycled(SHAPES, names))}
    layers = [
        layer("line", _rows(points), color | at, strokeWidth=2, opacity=0.9),
        layer("point", _rows(points), color | shape | at, filled=True, size=60, opacity=1),
    ]
    if reference:
        behind = _rows([("", *point) for point in reference])
        layers.insert(0, layer("line", behind, at, color=FAINT, strokeDash=[4, 4], strokeWidth=1.5))
    if marks:
        hollow = {"filled": False, "fill": GROUND, "size": 110, "strokeWidth": 2, "opacity": 1}
        layers.append(layer("point", _rows(marks), color | shape | at, **hollow))
    return drawn(plot(layers, width=WIDTH, height=HEIGHT))


@dataclass(frozen=True)
class Bars:
    """One colour of a bar plot: one number per label."""

    name: str
    values: Sequence[float]


def bars(
    labels: Sequence[str],
    series: Sequence[Bars],
    x: str,
    *,
    top: int | None = None,
    show: Callable[[float], str] = "{:,.1f}".format,
    shades: Sequence[str] = tuple(SHADES),
) -> str:
    """Draw horizontal bars, one per label and series, each with its number at its end.

    With several series a 0 is not written. `shades` are the colours of the series. Labels may be
    any text: unprintable characters are replaced, and long labels have several lines.

    >>> svg = bars(["age", "zip"], [Bars("lost", [12.5, 40.0])], "percent lost", top=100)
    >>> "age" in svg and "12.5" in svg and "#0072b2" in svg
    True
    """
    if not labels or not series:
        raise ValueError("a plot needs at least one bar")
    rows = axis_labels(labels)
    names = [MARK + label for label in distinguish([s.name for s in series], LONG, 1)]
    alone = len(series) == 1
    data = [
        {
            "label": label,
            "series": name,
            "value": value,
            "shown": show(value) if value or alone else "",
        }
        for name, one in zip(names, series, strict=True)
        for label, value in zip(rows, one.values, strict=True)
    ]
    high = max([one["value"] for one in data if isinstance(one["value"], float | int)] + [1e-9])
    scale = {"domain": [0, 1.12 * (top or high)], "nice": False}  # space for the numbers
    axis = {"tickCount": 6} if top is None else {"values": [*range(0, top + 1, top // 5)]}
    down = {"labelLimit": LABEL, "labelPadding": 6, "ticks": False, **in_lines(rows)}
    at = {
        "x": quantitative("value", title=x, scale=scale, axis=axis, stack=None),
        "y": nominal("label", title=None, sort=rows, axis=down),
    }
    thick = BAR if alone else 15
    height: Spec = {"step": max(thick + 8, height_of(rows))}
    if not alone:
        at["yOffset"] = nominal("series", sort=names)
        height = {"step": max(thick, ceil(height_of(rows) / len(series))), "for": "offset"}
    legend = None if alone else {"orient": "top", "symbolType": "square"}
    color = look("series", names, cycled(shades, names), legend=legend)
    text = {"align": "left", "baseline": "middle", "dx": 4, "color": INK}
    layers = [
        layer("bar", data, {"color": color} | at, height=0.86 * thick),
        layer(
            "text", data, {"text": nominal("shown")} | at, **text, fontSize=12 if alone else 10.5
        ),
    ]
    return drawn(plot(layers, width=PLOT, height=height))


def distinguish(labels: Sequence[str], line: int = LINE, most: int = LINES) -> list[str]:
    """Labels that can be drawn: in lines of so many characters at most, equal ones numbered.

    What does not fit into the lines is cut.

    >>> distinguish(["b", "a", "b"]), distinguish(["age in completed years"], 12)
    (['b', 'a', 'b (2)'], ['age in\\ncompleted\\nyears'])
    """
    drawn: dict[str, None] = {}
    for label in labels:
        whole = short(label, line) if most == 1 else _wrapped(label, line, most)
        name, again = whole or "(no name)", 1
        while name in drawn:
            again += 1
            name = f"{whole} ({again})"
        drawn[name] = None
    return list(drawn)


def _wrapped(label: str, line: int, most: int) -> str:
    """A label in lines; the last one ends in … if there would be more of them."""
    lines = wrap(short(label, 2 * line * most), line)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1][: line - 1].rstrip()}…"]
    return "\n".join(lines)


def axis_labels(labels: Sequence[str], line: int = LINE, most: int = LINES) -> list[str]:
    """Labels for an axis, as values of a field: distinct, and each in the middle of as many lines.

    An axis begins a label of several lines where one of a single line would be.
    """
    names = distinguish(labels, line, most)
    deep = max(name.count("\n") for name in names)
    return [MARK + "\n" * ((deep - name.count("\n")) // 2) + name for name in names]


def in_lines(labels: Sequence[str]) -> Spec:
    """Options of an axis that draws labels of several lines, if there are such."""
    deep = max(label.count("\n") for label in labels)
    if not deep:
        return {}
    return {
        "labelExpr": "split(datum.label, '\\n')",
        "labelLineHeight": LINE_HEIGHT,
        "labelOffset": -deep * LINE_HEIGHT / 2,
    }


def height_of(labels: Sequence[str]) -> int:
    """The height that the labels need, with some space between two of them."""
    return LINE_HEIGHT * (1 + max(label.count("\n") for label in labels)) + 8


def _rows(points: Sequence[tuple[str, float, float]]) -> list[Spec]:
    return [{"series": name, "x": px, "y": py} for name, px, py in points]


def cycled(choice: Any, names: Sequence[str]) -> list[str]:
    """One item of the choice per name, starting again when they run out."""
    return [one for one, _ in zip(cycle(choice), names, strict=False)]


def _axis(field: str, title: str, values: list[float], log: bool, top: float | None) -> Spec:
    """An axis; ticks of whole numbers are whole, of a logarithmic one 1, 2, 5, 10, 20, …"""
    axis: Spec = {}
    if all(float(value).is_integer() for value in values):
        axis = {"tickMinStep": 1}
    scale: Spec = {"zero": True} if top is None else {"domain": [0, top]}
    if log:
        low, high = min(values), max(values)
        scale = {"type": "log", "domain": [low, high], "nice": False}
        axis = {"values": round_ticks(low, high), "format": ","}
    return quantitative(field, title=title, axis=axis, scale=scale)


def round_ticks(low: float, high: float) -> list[float]:
    """The numbers 1, 2, 5, 10, 20, 50, … between two positive ones.

    >>> round_ticks(2, 120)
    [2, 5, 10, 20, 50, 100]
    """
    if low <= 0:
        raise ValueError(f"a logarithmic axis needs values above 0, got {low:g}")
    ticks: list[float] = []
    unit: float = 1
    while unit > low:
        unit /= 10
    while unit <= high:
        ticks += [step * unit for step in (1, 2, 5) if low <= step * unit <= high]
        unit *= 10
    return ticks


def drawn(spec: Spec) -> str:
    """A plot as SVG in the style that all plots share."""
    return for_both_backgrounds(_svg(json.dumps(styled(spec), default=float)).replace(MARK, ""))


@lru_cache(64)
def _svg(spec: str) -> str:
    """Drawing takes most of the time of a report, and reports of a process have plots in common."""
    return to_svg(json.loads(spec))


def styled(spec: Spec) -> Spec:
    """A plot in the style that all plots share."""
    text = {"labelColor": INK, "labelFontSize": 13}
    axis = {
        **text,
        "titleColor": INK,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "gridColor": GRID,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "labelOverlap": True,
    }
    config = {
        "font": "sans-serif",
        # Fonts of readers may be wider than the one that the plot was laid out with.
        "padding": {"left": 14, "right": 14, "top": 5, "bottom": 5},
        "view": {"stroke": None},
        "axis": axis,
        "legend": {**text, "symbolSize": 90, "rowPadding": 5, "labelLimit": NAME},
    }
    return {"background": "transparent", **spec, "config": config}


def for_both_backgrounds(svg: str) -> str:
    """Add other colours for dark backgrounds; on paper the light ones are used."""
    rules = "".join(
        f'[{what}="{light}"]{{{what}:{dark}}}'
        for light, dark in DARK.items()
        for what in ("fill", "stroke")
    )
    style = f"<style>@media screen and (prefers-color-scheme: dark){{{rules}}}</style>"
    end = svg.index(">") + 1  # of the opening tag
    return svg[:end] + style + svg[end:]
