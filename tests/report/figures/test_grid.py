"""The grid: every cell of the lower half, readable without colours."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from shoal.report.figures.grid import LIGHT_TO_DARK, ON_DARK, grid
from shoal.report.plots import DARK, INK

HOSTILE = "</text></svg><script>alert(1)</script>"


def test_all_names_and_numbers_are_drawn():
    names = [f"column {i}" for i in range(12)]
    svg = grid(names, lambda i, j: float(10 * i + j), lambda share: f"{share:g}!")
    words = [word for word in ElementTree.fromstring(svg).itertext() if word.strip()]
    for i, name in enumerate(names):
        assert words.count(name) == 2  # of a row and of a column
        for j in range(i + 1):
            assert f"{10 * i + j}!" in words


@pytest.mark.parametrize(
    ("share", "step"), [(0, 0), (0.01, 1), (0.99, 1), (1, 2), (10, 3), (49.9, 3), (50, 4), (100, 4)]
)
def test_the_colour_of_a_share(share, step):
    svg = grid(["a"], lambda i, j: share, str)
    drawn = svg.partition("</style>")[2]
    (used,) = {shade for shade in LIGHT_TO_DARK if f'fill="{shade}"' in drawn}
    assert list(LIGHT_TO_DARK).index(used) == step
    ink = re.search(rf'fill="(#\w+)">{share}<', drawn)[1]
    assert contrast(ink, used) >= 4.5
    assert contrast(DARK[ink], DARK[used]) >= 4.5
    assert ink == (ON_DARK if step >= 3 else INK)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """As WCAG 2 defines it."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_the_steps_are_told_apart_without_colours():
    for shades in (list(LIGHT_TO_DARK), list(LIGHT_TO_DARK.values())):
        levels = [luminance(shade) for shade in shades]
        assert levels in (sorted(levels), sorted(levels, reverse=True))
        assert all(contrast(one, other) > 1.15 for one, other in pairwise(shades))


def test_names_are_only_words():
    svg = grid([HOSTILE, "x" * 90, "x" * 91], lambda i, j: 1.0, str)
    ElementTree.fromstring(svg)
    assert "<script" not in svg
    assert not re.search(r"\sid=|href|url\(", svg)
    with pytest.raises(ValueError, match="at least one name"):
        grid([], lambda i, j: 0.0, str)
