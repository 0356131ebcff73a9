"""A grid of numbers, darker where they are larger: one cell per pair of names, and per name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shoal.report.plots import DARK, GRID, INK, LABEL, axis_labels, drawn, height_of, in_lines
from shoal.report.vega_lite import layer, nominal, ordinal, plot

CELL = 46
# From almost nothing to nearly all; on paper without colours they are five greys.
STEPS = (0.0, 1.0, 10.0, 50.0)  # percent: the first colour is for 0, the last for 50 and more
LIGHT_TO_DARK = {  # on a light background → on a dark one
    "#f3f6f9": "#1b2127",
    "#d3e3ef": "#20394a",
    "#98c1dc": "#2c5a7a",
    "#2f73a3": "#5aa3d0",
    "#0b4a75": "#b8e0ff",
}
ON_DARK = "#fdfdfd"  # numbers in the two darkest colours
ITS_DARK = {**LIGHT_TO_DARK, ON_DARK: "#10151a"}
DARK.update(ITS_DARK)


def grid(
    names: Sequence[str], value: Callable[[int, int], float], show: Callable[[float], str]
) -> str:
    """Draw the lower half of a square: row i and column j ≤ i show value(i, j), in percent.

    >>> svg = grid(["age", "zip"], lambda i, j: 60.0 if i != j else 0.5, lambda x: f"{x:g} %")
    >>> "60 %" in svg and "0.5 %" in svg and "#0b4a75" in svg
    True
    """
    if not names:
        raise ValueError("a grid needs at least one name")
    labels = axis_labels(names, 24, 3)
    shades = list(LIGHT_TO_DARK)
    cells = []
    for i, row in enumerate(labels):
        for j, column in enumerate(labels[: i + 1]):
            share = value(i, j)
            step = sum(share > limit if limit == 0 else share >= limit for limit in STEPS)
            ink = ON_DARK if step >= 3 else INK
            cells.append(
                {"row": row, "column": column, "step": step, "ink": ink, "shown": show(share)}
            )
    axis = {
        "ticks": False,
        "domain": False,
        "labelPadding": 6,
        "title": None,
        "labelLimit": LABEL,
        "labelOverlap": False,  # every name is shown
        **in_lines(labels),
    }
    angle = -90 if in_lines(labels) else -40  # lines at a slope would be over the next ones
    at = {
        "x": nominal("column", sort=labels, axis={**axis, "labelAngle": angle}),
        "y": nominal("row", sort=labels, axis=axis),
    }
    steps = {"domain": list(range(len(shades))), "range": shades}
    inks = {"domain": [INK, ON_DARK], "range": [INK, ON_DARK]}
    shade = {"color": ordinal("step", legend=None, scale=steps)}
    words = {"color": nominal("ink", legend=None, scale=inks), "text": nominal("shown")}
    layers = [
        layer("rect", cells, shade | at, stroke=GRID, strokeWidth=1),
        layer("text", cells, words | at, baseline="middle", fontSize=11.5),
    ]
    size = CELL * len(labels)
    resolve = {"scale": {"color": "independent"}}  # of cells and of numbers
    height = max(0.72 * CELL, height_of(labels)) * len(labels)
    return drawn(plot(layers, width=size, height=height, resolve=resolve))
