"""Upright bars on a common ground, as many as there are counts."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from shoal.studio.charts._svg import element, picture

WIDTH, HEIGHT = 120.0, 32.0


def upright(
    labels: Sequence[str], counts: Sequence[int], title: str, kind: str, gap: float
) -> Markup:
    """One bar per count; its text appears when it is pointed at."""
    most = max(counts, default=0) or 1
    wide = WIDTH / max(len(counts), 1)
    drawn = ""
    for i, (label, count) in enumerate(zip(labels, counts, strict=True)):
        high = HEIGHT * count / most
        drawn += element(
            "rect",
            element("title", escape(f"{label}: {count:,}")),
            x=f"{i * wide:.2f}",
            y=f"{HEIGHT - high:.2f}",
            width=f"{max(wide - gap, 0.5):.2f}",
            height=f"{high:.2f}",
        )
    return picture(WIDTH, HEIGHT, drawn, title, kind)
