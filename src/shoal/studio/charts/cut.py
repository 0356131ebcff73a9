"""Cut: a histogram with the borders at which it is cut; a script lets them be moved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from shoal.studio.charts._svg import element

if TYPE_CHECKING:
    from shoal.studio.tasks.trees._borders import Histogram

WIDTH, HEIGHT, FOOT = 480.0, 120.0, 46.0


def cut(shown: Histogram, borders: Sequence[tuple[float, int]], title: str) -> Markup:
    """The histogram; each border has the number of levels that keep it."""
    most = max(shown.counts, default=0) or 1
    wide = WIDTH / max(len(shown.counts), 1)
    drawn = Markup()
    for i, count in enumerate(shown.counts):
        high = HEIGHT * count / most
        drawn += element(
            "rect",
            element("title", escape(f"{count:,}")),
            x=f"{i * wide:.2f}",
            y=f"{HEIGHT - high:.2f}",
            width=f"{max(wide - 0.6, 0.5):.2f}",
            height=f"{high:.2f}",
        )
    lines = Markup()
    for place, levels in borders:
        x = WIDTH * (place - shown.low) / (shown.high - shown.low)
        if 0 <= x <= WIDTH:
            lines += element(
                "line", x1=f"{x:.2f}", x2=f"{x:.2f}", y1="0", y2=f"{HEIGHT:g}", class_="border"
            )
            lines += element(
                "text", escape(f"{named(place, shown.dates)}"), x=f"{x:.2f}",
                y=f"{HEIGHT + 18 + 16 * (levels % 2):g}", class_="border-name",
            )  # fmt: skip
    return element(
        "svg",
        element("title", escape(title)) + drawn + element("g", lines, class_="handles"),
        viewBox=f"-12 -6 {WIDTH + 24:g} {HEIGHT + FOOT + 6:g}",
        role="group",
        aria_label=title,
        class_="cut",
    )


def named(place: float, dates: bool) -> str:
    """A border as it is written."""
    if dates:
        return date.fromordinal(int(place)).isoformat()
    return f"{place:.12g}"
