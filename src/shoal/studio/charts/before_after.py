"""Before and after: the values of a column in the original, and what is left of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from shoal.studio.charts._svg import element
from shoal.studio.wording import Wording

WIDTH = 460.0
LINE, BAR, NAME = 34.0, 11.0, 165.0  # of a value with its two bars, and the room for its name
HEIGHT, FOOT = 150.0, 20.0  # of a picture of ranges
LETTERS = 21  # of a name that there is room for


def before_after(shown: Mapping[str, Any], t: Wording, title: str) -> Markup:
    """Neighbouring ranges stand side by side, single values below each other.

    The bar of the release has two parts: records that have exactly the value, and those with a more
    general one, by expectation.
    """
    most = max(
        max(shown["before"], default=0.0),
        max(map(sum, zip(shown["exact"], shown["general"], strict=True)), default=0.0),
        1e-9,
    )
    high, drawn = _ranges(shown, most, t) if shown["is_range"] else _values(shown, most, t)
    return element(
        "svg",
        element("title", escape(title)) + drawn,
        viewBox=f"0 0 {WIDTH:g} {high:g}",
        role="img",
        class_="before-after",
    )


def _said(shown: Mapping[str, Any], i: int, t: Wording) -> Markup:
    """What appears when somebody points at a value."""
    before, after = shown["before"][i], shown["exact"][i] + shown["general"][i]
    numbers = f"{t.number(round(before))} → {t.number(round(after))}"
    return element("title", escape(f"{shown['labels'][i]}: {numbers}"))


def _values(shown: Mapping[str, Any], most: float, t: Wording) -> tuple[float, Markup]:
    room = WIDTH - NAME - 4
    drawn = Markup("")
    for i, label in enumerate(shown["labels"]):
        y = i * LINE
        name = label if len(label) <= LETTERS else f"{label[: LETTERS - 1]}…"
        inside = _said(shown, i, t)
        inside += element("text", escape(name), x=f"{NAME - 8:g}", y=f"{y + LINE / 2 + 1:g}",
                          text_anchor="end")  # fmt: skip
        exact = room * shown["exact"][i] / most
        parts = (
            ("was", NAME, y + 4, room * shown["before"][i] / most),
            ("exact", NAME, y + 4 + BAR, exact),
            ("general", NAME + exact, y + 4 + BAR, room * shown["general"][i] / most),
        )
        for kind, x, top, wide in parts:
            inside += _bar(kind, x, top, wide, BAR)
        drawn += element("g", inside)
    return max(len(shown["labels"]), 1) * LINE, drawn


def _ranges(shown: Mapping[str, Any], most: float, t: Wording) -> tuple[float, Markup]:
    wide = WIDTH / max(len(shown["labels"]), 1)
    half = wide * 0.42
    drawn = Markup("")
    for i in range(len(shown["labels"])):
        x = i * wide + wide * 0.08
        before, exact, general = (
            HEIGHT * shown[kind][i] / most for kind in ("before", "exact", "general")
        )
        inside = _said(shown, i, t)
        inside += _bar("was", x, HEIGHT - before, half, before)
        inside += _bar("exact", x + half, HEIGHT - exact, half, exact)
        inside += _bar("general", x + half, HEIGHT - exact - general, half, general)
        drawn += element("g", inside)
    first, last = shown["labels"][0], shown["labels"][-1]
    for words, x, anchor in (
        (first.partition(" – ")[0], 0.0, "start"),
        (last.rpartition(" – ")[2], WIDTH, "end"),
    ):
        drawn += element("text", escape(words), x=f"{x:g}", y=f"{HEIGHT + FOOT - 4:g}",
                         text_anchor=anchor)  # fmt: skip
    return HEIGHT + FOOT, drawn


def _bar(kind: str, x: float, y: float, wide: float, high: float) -> Markup:
    if wide <= 0 or high <= 0:
        return Markup("")
    return element("rect", x=f"{x:.1f}", y=f"{y:.1f}", width=f"{wide:.1f}", height=f"{high:.1f}",
                   class_=kind)  # fmt: skip
