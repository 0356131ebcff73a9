"""Histogram: how often numbers or dates of equal ranges occur; bars touch each other."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from shoal.studio.charts._upright import upright


def histogram(labels: Sequence[str], counts: Sequence[int], title: str) -> Markup:
    """One bar per range."""
    return upright(labels, counts, title, "histogram", 0.0)
