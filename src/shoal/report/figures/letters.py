"""A plot of letters: where each class stands, per value, against a bar for the whole table.

Letters are direct labels: they need no legend, and can be read without colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.report.plots import (
    BAR,
    INK,
    LABEL,
    PALE,
    PLOT,
    axis_labels,
    drawn,
    height_of,
    in_lines,
)
from shoal.report.vega_lite import layer, nominal, plot, quantitative

NEAR = 0.031  # of the axis: letters closer than this are written next to each other


def letters(
    labels: Sequence[str], whole: Sequence[float], marks: Mapping[str, Sequence[float]], x: str
) -> str:
    """Draw a bar per label for the whole table, and each letter where its class stands.

    >>> svg = letters(["flu", "gout"], [70, 30], {"A": [0, 100], "B": [0, 50]}, "percent")
    >>> "AB" in svg and "percent" in svg
    True
    """
    if not labels:
        raise ValueError("a plot needs at least one bar")
    rows = axis_labels(labels)
    high = max([*whole, *(value for values in marks.values() for value in values), 1e-9])
    behind = [{"label": label, "value": value} for label, value in zip(rows, whole, strict=True)]
    placed = [
        {"label": label, "value": value, "shown": shown}
        for i, label in enumerate(rows)
        for value, shown in _together({name: marks[name][i] for name in marks}, NEAR * high)
    ]
    scale = {"domain": [-0.06 * high, 1.06 * high], "nice": False}  # letters fit at both ends
    ticks = [tick for tick in (0, 20, 40, 60, 80, 100) if tick <= high] if high > 30 else None
    axis = {"values": ticks} if ticks else {"tickCount": 6}
    down = {"labelLimit": LABEL, "labelPadding": 8, "ticks": False, "domain": False}
    down |= in_lines(rows)
    at = {
        "x": quantitative("value", title=x, scale=scale, axis=axis),
        "y": nominal("label", title=None, sort=rows, axis=down),
    }
    text = {"baseline": "middle", "color": INK, "fontSize": 14, "fontWeight": "bold"}
    layers = [
        layer("bar", behind, at, height=0.8 * BAR, color=PALE),
        layer("text", placed, {"text": nominal("shown")} | at, **text),
    ]
    step = max(BAR + 8, height_of(rows))
    return drawn(plot(layers, width=PLOT, height={"step": step}))


def _together(values: Mapping[str, float], near: float) -> list[tuple[float, str]]:
    """The letters by where they stand; those that would overlap as one text in the middle.

    >>> _together({"A": 10.0, "B": 50.0, "C": 11.0}, 2.0)
    [(10.5, 'AC'), (50.0, 'B')]
    """
    groups: list[list[tuple[float, str]]] = []
    for value, name in sorted((value, name) for name, value in values.items()):
        if groups and value - groups[-1][-1][0] <= near:
            groups[-1].append((value, name))
        else:
            groups.append([(value, name)])
    return [
        (sum(value for value, _ in group) / len(group), "".join(sorted(name for _, name in group)))
        for group in groups
    ]
