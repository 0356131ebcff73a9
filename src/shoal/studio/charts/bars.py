"""Bars: how often single values occur."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from shoal.studio.charts._upright import upright

GAP = 1.0


def bars(labels: Sequence[str], counts: Sequence[int], title: str) -> Markup:
    """One bar per value."""
    return upright(labels, counts, title, "bars", GAP)
