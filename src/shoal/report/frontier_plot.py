"""The frontier: what settings lose, against the risk that remains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10, sqrt
from typing import NamedTuple

from shoal.report.plots import FAINT, GROUND, INK, SHADES, drawn, styled
from shoal.report.vega_lite import Spec, layer, nominal, note, plot, quantitative, to_png

WIDTH, HEIGHT = 620, 380
TICKS = (0, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100)  # percent
BLUE, ORANGE = list(SHADES)[:2]
DOT, NEAR = 5, 4  # from the middle of a dot to its edge, and on to the nearest name of another
FONT = 11  # of the names of settings
LETTER = 0.56 * FONT  # width of a letter, on average
# Where a name may stand next to its dot, the best first: the line rises to the right, so that
# there is most room above it to the left and below it to the right.
PLACES = (
    ("right", -10, -9), ("left", 10, 13), ("right", -10, -23), ("left", 10, 27),
    ("center", 0, -18), ("center", 0, 21), ("left", 12, -9), ("right", -12, 13),
    ("right", -10, -37), ("left", 10, 41),
)  # fmt: skip


@dataclass(frozen=True)
class Dot:
    """One setting in the plot."""

    label: str
    risk: float  # percent
    lost: float  # percent
    on_table: bool
    best: bool  # whether no other setting loses less at no more risk
    knee: bool = False
    own: bool = False  # whether it is the setting of the plan


def draw(dots: Sequence[Dot], risk: str, lost: str, kind: str) -> bytes:
    """Draw loss against risk as `.svg` or `.png`; safer settings are on the right.

    >>> dots = [Dot("k = 2", 40.0, 1.0, True, True), Dot("k = 5", 15.0, 3.0, True, True)]
    >>> svg = draw(dots, "average risk", "loss (nllm)", ".svg")
    >>> b"k = 2" in svg and b"average risk" in svg
    True
    """
    if not dots:
        raise ValueError("a plot needs at least one setting")
    key = note(_key(dots), orient="bottom", fontSize=11, color=FAINT, offset=10)
    layers = _layers(dots, risk, lost)
    spec = plot(layers, width=WIDTH, height=HEIGHT, background=GROUND, padding=16, title=key)
    return to_png(styled(spec)) if kind == ".png" else drawn(spec).encode()


def _key(dots: Sequence[Dot]) -> list[str]:
    """What the marks mean."""
    words = ["filled: on the whole table, and no other setting loses less at no more risk"]
    if any(dot.on_table and not dot.best for dot in dots):
        words.append("square: on the whole table, another setting is better")
    if not all(dot.on_table for dot in dots):
        words.append("hollow: on the sample, where settings usually lose more")
    return ["; ".join(words)]


def _layers(dots: Sequence[Dot], risk: str, lost: str) -> list[Spec]:
    rows = [_row(dot) for dot in sorted(dots, key=lambda dot: -dot.risk)]
    high = max(one["risk"] for one in rows) * 1.2 or 1.0
    top = _top(max(one["lost"] for one in rows))
    ticks = [tick for tick in TICKS if tick <= high]
    at = {
        "x": quantitative(
            "risk",
            title=f"{risk} in percent; safer settings are on the right",
            axis={"values": ticks, "labelExpr": "'' + datum.value"},
            scale={"type": "sqrt", "domain": [high, 0], "nice": False},
        ),
        "y": quantitative(
            "lost", title=f"{lost} in percent", scale={"domain": [0, top], "nice": False}
        ),
    }
    line = [one for one in rows if one["best"] and one["table"]]
    sample = [one for one in rows if not one["table"]]
    worse = [one for one in rows if one["table"] and not one["best"]]
    marked = [one for one in rows if one["table"] and (one["knee"] or one["own"])]
    faint = {"size": 34, "color": FAINT, "strokeWidth": 1.2, "opacity": 0.7}
    square = {"shape": "square", "size": 70, "color": BLUE, "strokeWidth": 1.5, "opacity": 1}
    diamond = {"shape": "diamond", "size": 260, "color": ORANGE, "strokeWidth": 2.5, "opacity": 1}
    return [
        *([layer("point", sample, at, filled=False, **faint)] if sample else []),
        layer("line", line, at, color=BLUE, strokeWidth=2, opacity=0.9),
        layer("point", line, at, filled=True, size=70, color=BLUE, opacity=1),
        layer("point", worse, at, filled=False, **square),
        layer("point", marked, at, filled=False, **diamond),
        *_labels(rows, high, top, at),
    ]


def _labels(rows: list[Spec], high: float, top: float, channels: Spec) -> list[Spec]:
    """Names of the settings on the line, where they cover neither a dot nor each other."""
    at = [
        (WIDTH * (1 - sqrt(one["risk"] / high)), HEIGHT * (1 - one["lost"] / top)) for one in rows
    ]
    dots = [Box(left, up, left, up).grown(DOT) for left, up in at]
    # The knee and the setting of the plan choose first: they are what a reader looks for.
    order = sorted(range(len(rows)), key=lambda i: not (rows[i]["knee"] or rows[i]["own"]))
    taken: list[Box] = []
    chosen: dict[tuple[str, int, int], list[Spec]] = {}
    for i in order:
        if not (rows[i]["table"] and rows[i]["best"]):
            continue
        near = [one.grown(NEAR) for one in dots[:i] + dots[i + 1 :]]  # it would seem to be theirs
        for place, box in _boxes(rows[i]["label"], *at[i]):
            if not any(box.meets(other) for other in (*taken, *near)):
                taken.append(box)
                chosen.setdefault(place, []).append(rows[i])
                break
    named = {"text": nominal("label")} | channels
    return [
        layer("text", some, named, align=align, dx=dx, dy=dy, color=INK, fontSize=FONT)
        for (align, dx, dy), some in chosen.items()
    ]


class Box(NamedTuple):
    """A rectangle of the drawing, in its units, from its left upper corner."""

    left: float
    up: float
    right: float
    down: float

    def grown(self, by: float) -> Box:
        """A larger one around it."""
        return Box(self.left - by, self.up - by, self.right + by, self.down + by)

    def meets(self, other: Box) -> bool:
        """Whether two rectangles overlap."""
        across = self.left < other.right and other.left < self.right
        return across and self.up < other.down and other.up < self.down


def _boxes(label: str, x: float, y: float) -> Iterator[tuple[tuple[str, int, int], Box]]:
    """The places for a name next to its dot, as far as they are inside the drawing."""
    width = LETTER * len(label)
    for align, dx, dy in PLACES:
        left = x + dx - {"left": 0.0, "center": width / 2, "right": width}[align]
        box = Box(left, y + dy - FONT * 0.7, left + width, y + dy + FONT * 0.5)
        if box.left >= 0 and box.right <= WIDTH and box.up >= 0 and box.down <= HEIGHT:
            yield (align, dx, dy), box


def _top(most: float) -> float:
    """A round number at the upper end of an axis.

    >>> _top(32.4), _top(9.1), _top(0.0)
    (35.0, 10.0, 1.0)
    """
    if most <= 0:
        return 1.0
    unit = 10.0 ** floor(log10(most))
    step = unit if most / unit >= 4 else unit / 2 if most / unit >= 2 else unit / 5
    return ceil(round(most / step, 9)) * step


def _row(dot: Dot) -> Spec:
    words = [name for name, is_so in (("plan", dot.own), ("knee", dot.knee)) if is_so]
    label = dot.label + (f" ({', '.join(words)})" if words else "")
    return {
        "risk": dot.risk,
        "lost": dot.lost,
        "table": dot.on_table,
        "best": dot.best,
        "knee": dot.knee,
        "own": dot.own,
        "label": label,
    }
