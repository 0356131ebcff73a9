"""Plots of estimates over intervals."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from shoal.report.interval_plot import IntervalLine, intervals
from shoal.report.plots import DARK

LINES = [
    IntervalLine("age and pay", 0.3, 0.25, 0.35, 0.31, True),
    IntervalLine("</text><script>", -0.1, -0.2, 0.0, 0.2, False),
    IntervalLine("age and pay", 0.3, 0.25, 0.35, 0.31, True),
]


def test_a_plot_is_one_sound_svg_with_its_words():
    svg = intervals(LINES, "correlation")
    root = ElementTree.fromstring(svg)
    words = " ".join(root.itertext())
    for word in ("age and pay", "age and pay (2)", "correlation", "release, outside"):
        assert word in words
    assert not re.search(r"\sid=|href|url\(|<script", svg)


def test_every_colour_has_one_for_dark_ground():
    svg = intervals(LINES, "x")
    drawn = svg.partition("<style>")[0] + svg.partition("</style>")[2]
    assert set(re.findall(r'(?:fill|stroke)="(#\w+)"', drawn)) <= set(DARK)


def test_shapes_tell_inside_from_outside():
    """For those who do not see colours."""
    inside, outside = (intervals(LINES[i : i + 1], "x") for i in (0, 1))
    assert inside.count("M0,") != outside.count("M0,") or inside != outside
    shapes = [set(re.findall(r'd="(M[^"]{0,40})', svg)) for svg in (inside, outside)]
    assert shapes[0] != shapes[1]


def test_nothing_to_draw():
    with pytest.raises(ValueError, match="at least one line"):
        intervals([], "x")
