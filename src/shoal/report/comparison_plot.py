"""Comparison of algorithms: loss against k in one panel, running time in the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from textwrap import wrap

from shoal.report.plots import (
    FAINT,
    GROUND,
    INK,
    LABEL,
    SHADES,
    cycled,
    drawn,
    round_ticks,
    styled,
)
from shoal.report.vega_lite import (
    Spec,
    layer,
    look,
    nominal,
    note,
    plot,
    quantitative,
    side_by_side,
    to_png,
)

WIDTH, HEIGHT = 380, 320  # of one panel
LETTER = 6.1  # width of a character of the text below the bound
NOTE = 150  # characters per line of the notes
STEP = 26  # between two bars
LEAST = 1e-3  # seconds; shorter times are not measurable
WIDE = 4.0  # ratio of largest to smallest k from which on the axis of k is logarithmic
SECONDS = "running time of the algorithm in seconds"
BOUND = "proven lower bound"
# Thirteen distinct colours, the usual ones first; on a light background → on a dark one.
MORE = {
    "#6a3fb5": "#b79bff",
    "#c2002f": "#ff6b81",
    "#6b8e00": "#b5d84a",
    "#d100b8": "#ff5ee8",
    "#1f2f8f": "#7f8cff",
}
COLOURS = {**SHADES, **MORE}
STAR = "M0,-1L.24,-.32L.95,-.31L.38,.12L.59,.81L0,.4L-.59,.81L-.38,.12L-.95,-.31L-.24,-.32Z"
MARKS = (
    "circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right",
    STAR, "triangle-left", "M-.5,-.87L.5,-.87L1,0L.5,.87L-.5,.87L-1,0Z",  # a hexagon
    "M0,-.35L.5,-.85L.85,-.5L.35,0L.85,.5L.5,.85L0,.35L-.5,.85L-.85,.5L-.35,0L-.85,-.5L-.5,-.85Z",
    "M-1,-.45H1V.45H-1Z", "M-.45,-1H.45V1H-.45Z",  # an x; a horizontal and a vertical bar
)  # fmt: skip
DASHES: tuple[list[int], ...] = (
    [1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [4, 1], [12, 4], [1, 3], [9, 3, 2, 3, 2, 3],
)  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """One method: its loss and its running time, per k."""

    algorithm: str
    loss: str  # the guiding loss
    lost: dict[int, float]
    seconds: dict[int, float]


def draw(
    curves: Sequence[Curve],
    bounds: Mapping[int, float],
    lost: str,
    kind: str,
    notes: Sequence[str] = (),
    bound: str = BOUND,
) -> bytes:
    """Draw two panels as `.svg` or `.png`, with notes below; bars if there is a single k.

    `bound` is written next to the line of the lower bounds.

    >>> curve = Curve("gaa", "nllm", {2: 3.4, 10: 11.0}, {2: 0.1, 10: 0.2})
    >>> b"percent lost" in draw([curve], {}, "percent lost (nllm)", ".svg")
    True
    """
    ks = sorted({k for curve in curves for k in curve.lost})
    if not ks:
        raise ValueError("a plot needs at least one run")
    panels = _bars if len(ks) == 1 else _lines
    spec = side_by_side(
        panels(curves, ks, bounds, lost, bound),
        spacing=36,
        resolve={"scale": {"color": "shared", "shape": "shared", "strokeDash": "shared"}},
        background=GROUND,
        padding=16,
    )
    if notes:
        below = [line for one in notes for line in wrap(one, NOTE)]
        spec["title"] = note(below, orient="bottom", fontSize=11, color=FAINT, offset=14)
    if kind == ".png":
        return to_png(styled(spec))
    return drawn(spec).replace("</style>", f"</style>{_more_colours()}", 1).encode()


def _more_colours() -> str:
    """Those on a dark background that other plots do not have."""
    rules = "".join(
        f'[{what}="{light}"]{{{what}:{dark}}}'
        for light, dark in MORE.items()
        for what in ("fill", "stroke")
    )
    return f"<style>@media screen and (prefers-color-scheme: dark){{{rules}}}</style>"


def _lines(
    curves: Sequence[Curve],
    ks: list[int],
    bounds: Mapping[int, float],
    lost: str,
    bound: str,
) -> list[Spec]:
    """One line per method: colour and mark show its algorithm, dashes its guiding loss."""
    # The legend is in the order of the line ends: the largest loss on top.
    names = list(dict.fromkeys(curve.algorithm for curve in curves))[::-1]
    guides = list(dict.fromkeys(curve.loss for curve in curves))
    kind = {"type": "log"} if ks[-1] >= WIDE * ks[0] else {"zero": False}
    x = quantitative(
        "k",
        title="k",
        scale={**kind, "domain": [ks[0], ks[-1]], "nice": False},
        # Of a logarithmic axis: 10, not 1e+1.
        axis={"values": ks, "labelExpr": "format(datum.value, ',')"},
    )
    legend = {"orient": "right", "symbolType": "stroke", "labelLimit": LABEL}
    color = {"color": look("name", names, _by_name(COLOURS, names), legend=legend)}
    shape = {"shape": look("name", names, _by_name(MARKS, names), legend=legend)}
    several = {
        "orient": "right", "title": "guided by", "symbolType": "stroke", "symbolStrokeColor": INK,
        "symbolStrokeWidth": 2, "titleColor": INK, "titleFontSize": 12,
        "titleFontWeight": "normal", "symbolSize": 400,
    }  # fmt: skip
    guided = several if len(guides) > 1 else None
    dashes = {"strokeDash": look("guide", guides, cycled(DASHES, guides), legend=guided)}
    panels = []
    for title, points in ((lost, "lost"), (SECONDS, "seconds")):
        data = [
            {
                "name": curve.algorithm,
                "guide": curve.loss,
                "k": k,
                "y": y if points == "lost" else max(y, LEAST),
            }
            for curve in curves
            for k, y in getattr(curve, points).items()
        ]
        log = _log([one["y"] for one in data]) if points == "seconds" else {}
        at = {"x": x, "y": quantitative("y", title=title, **log)}
        by = color | {"detail": nominal("guide")}
        layers = [
            layer("line", data, by | dashes | at, strokeWidth=2, opacity=0.9),
            layer("point", data, by | shape | at, filled=True, size=60, opacity=1),
        ]
        if points == "lost" and bounds:
            top = max(one["y"] for one in data)
            layers = [*_bound(at, bounds, top, bound), *layers]
        panels.append(plot(layers, width=WIDTH, height=HEIGHT))
    return panels


def _by_name(choice: Iterable[str], names: Sequence[str]) -> list[str]:
    """One item of the choice per name, the same in every plot of the same algorithms."""
    order = sorted(names)
    given = dict(zip(order, cycled(choice, order), strict=True))
    return [given[name] for name in names]


def _log(values: Sequence[float]) -> Spec:
    """A logarithmic axis with some space at both ends, so that it is never a single point."""
    low, high = min(values) / 1.3, max(values) * 1.3
    ticks = round_ticks(low, high)
    scale = {"scale": {"type": "log", "domain": [low, high], "nice": False}}
    return scale | {"axis": {"values": ticks, "format": "~g"}} if ticks else scale


def _bound(at: Spec, bounds: Mapping[int, float], top: float, words: str) -> list[Spec]:
    data: list[Spec] = [{"k": k, "y": bound, "label": ""} for k, bound in sorted(bounds.items())]
    data[-1]["label"] = words
    text = {"text": nominal("label")}
    below = 14 + _rise(bounds, top, LETTER * len(words))
    return [
        layer("line", data, at, color=FAINT, strokeDash=[4, 4], strokeWidth=1.5),
        layer("text", data, text | at, color=FAINT, align="right", dy=below, fontSize=11),
    ]


def _rise(bounds: Mapping[int, float], top: float, width: float) -> float:
    """Pixels between the end of the bound and the text below it."""
    ks = sorted(bounds)
    if len(ks) == 1 or top <= 0:
        return 0.0
    straight = ks[-1] < WIDE * ks[0]
    place = [k if straight else log(k) for k in ks]
    run = WIDTH * (place[-1] - place[-2]) / (place[-1] - place[0])
    rise = HEIGHT * (bounds[ks[-1]] - bounds[ks[-2]]) / top
    return max(0.0, rise * min(1.0, width / run))


def _bars(
    curves: Sequence[Curve],
    ks: list[int],
    bounds: Mapping[int, float],
    lost: str,
    bound: str,
) -> list[Spec]:
    """One bar per method, the best on top: its loss on the left, its time on the right."""
    k = ks[0]
    one_guide = len({curve.loss for curve in curves}) == 1
    names = [_name(curve, one_guide) for curve in curves]
    panels = []
    for i, points in enumerate(("lost", "seconds")):
        data = [
            {"name": name, "x": getattr(curve, points)[k], "shown": _number(points, curve, k)}
            for name, curve in zip(names, curves, strict=True)
        ]
        top = max(one["x"] for one in data) or 1.0
        title = [f"{lost} at k = {k:,}" if points == "lost" else SECONDS]
        if points == "lost" and k in bounds:
            title.append(f"dashed: {bound}")
        at = {
            "x": quantitative(
                "x",
                title=title,
                axis={"tickCount": 5},
                scale={"domain": [0, 1.18 * top], "nice": False},
            ),
            "y": nominal(
                "name",
                title=None,
                sort=names,
                axis={"labels": i == 0, "ticks": False, "labelLimit": LABEL, "labelPadding": 6},
            ),
        }
        shade = next(iter(SHADES)) if points == "lost" else FAINT
        shown = {"text": nominal("shown")}
        layers = [
            layer("bar", data, at, height=0.7 * STEP, color=shade),
            layer("text", data, shown | at, align="left", dx=4, color=INK, fontSize=12),
        ]
        if points == "lost" and k in bounds:
            rule = [{"x": bounds[k], "label": bound}]
            dashed = {"color": INK, "strokeDash": [4, 4], "strokeWidth": 1.5}
            layers.append(layer("rule", rule, {"x": quantitative("x")}, **dashed))
        panels.append(plot(layers, width=WIDTH - 60, height={"step": STEP}))
    return panels


def _name(curve: Curve, one_guide: bool) -> str:
    return curve.algorithm if one_guide else f"{curve.algorithm} · {curve.loss}"


def _number(points: str, curve: Curve, k: int) -> str:
    value = curve.lost[k] if points == "lost" else curve.seconds[k]
    return f"{value:.2f}"
