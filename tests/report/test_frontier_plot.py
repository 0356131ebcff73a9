"""The frontier as a picture: every axis has its numbers, and no name covers another."""

from __future__ import annotations

import re
from itertools import combinations
from math import sqrt
from xml.etree import ElementTree

import pytest

from shoal.report import frontier_plot
from shoal.report.frontier_plot import Box, Dot, draw


def dots(many: int = 6) -> list[Dot]:
    """Settings close together on the left, as on real tables, and far apart on the right."""
    found = [
        Dot(f"k = {k}, t = 0.35", 30 / sqrt(k) ** 1.2, 6 + 0.08 * k, True, True, own=k == 8)
        for k in range(3, 3 + many)
    ]
    return [
        *found,
        Dot("k = 40, t = 0.2", 0.6, 23.7, True, True, knee=True),
        Dot("k = 9, t = 0.2", 12.0, 26.0, False, False),
    ]


def texts(svg: bytes) -> list[str]:
    return [word.strip() for word in ElementTree.fromstring(svg).itertext() if word.strip()]


def test_ticks_are_plain_numbers():
    words = texts(draw(dots(), "average risk", "loss (nllm)", ".svg"))
    assert not [word for word in words if "e+" in word]
    assert {"10", "5", "0.5", "0.1"} <= set(words)
    ticks = [word for word in words if re.fullmatch(r"[\d.]+", word)]
    assert len(ticks) > 8


@pytest.mark.parametrize("many", [3, 6, 30])
def test_names_cover_neither_dots_nor_each_other(many, monkeypatch):
    seen: list[tuple[Box, str]] = []
    boxes = frontier_plot._boxes

    def watched(label, x, y):
        for place, box in boxes(label, x, y):
            seen.append((box, label))
            yield place, box

    monkeypatch.setattr(frontier_plot, "_boxes", watched)
    given = dots(many)
    words = texts(draw(given, "average risk", "loss", ".svg"))
    last = {label: box for box, label in seen}  # the place that was taken, if one was
    drawn = [last[word] for word in words if word in last]
    assert not [pair for pair in combinations(drawn, 2) if pair[0].meets(pair[1])]
    assert "k = 40, t = 0.2 (knee)" in words
    if many >= 6:
        assert "k = 8, t = 0.35 (plan)" in words
    assert "k = 9, t = 0.2" not in words  # of the sample
    assert len(drawn) >= 4


def test_a_png_is_drawn_too_and_nothing_else():
    assert draw(dots(), "risk", "loss", ".png").startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="at least one setting"):
        draw([], "risk", "loss", ".svg")


def test_a_loss_of_nothing_has_an_axis():
    words = texts(draw([Dot("k = 2", 0.0, 0.0, True, True)], "risk", "loss", ".svg"))
    assert "k = 2" in words
