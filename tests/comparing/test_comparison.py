"""A comparison on the screen and as a plot."""

from __future__ import annotations

import re

import pytest

from shoal import BadFile
from shoal.cli.screens.comparison_table import show_comparison
from shoal.comparing.comparison import Comparison
from shoal.report.comparison_plot import COLOURS, MARKS, MORE, Curve, draw
from tests.cli.test_console import printed


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_screen(several, width):
    out = printed(show_comparison, several, width=width)
    assert max(map(len, out.splitlines())) <= width
    assert out.count("►") == 3  # one for each k, and what it means
    assert "…" not in out
    assert "Not done: concealment, k = 2, 6" in out
    assert ("distortion" in out) == (width > 100)
    assert "algorithm" in out


def test_plots(several, tmp_path):
    several.plot(tmp_path / "c.svg")
    svg = (tmp_path / "c.svg").read_text()
    for word in ("agglomerative", "gaa", "percent lost (nllm)", "seconds", "prefers-color-scheme"):
        assert word in svg
    one = Comparison(**{**vars(several), "lines": several.at(2)})
    one.plot(tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(BadFile, match=r"\.svg or a \.png"):
        several.plot(tmp_path / "c.pdf")
    with pytest.raises(BadFile, match="no run produced a release"):
        Comparison(**{**vars(several), "lines": several.failed()}).plot(tmp_path / "c.svg")
    with pytest.raises(ValueError, match="at least one run"):
        draw([], {}, "lost", ".svg")


def test_a_plot_of_losses_and_times_of_nothing():
    curve = Curve("gaa", "nllm", {2: 0.0, 3: 0.0}, {2: 0.0, 3: 0.0})
    assert b"<svg" in draw([curve], {}, "lost", ".svg")


def test_twelve_lines_can_be_distinguished():
    """A colour and a mark for each algorithm, dashes for each guide, and ticks as people write."""
    names = [f"method{i}" for i in range(12)]
    curves = [
        Curve(name, guide, {2: i + 1.0, 10: i + 2.0, 1000: i + 4.0}, {2: 0.1, 10: 0.2, 1000: 1})
        for i, name in enumerate(names)
        for guide in ("nllm", "ncp")
    ]
    svg = draw(curves, {2: 0.5, 10: 0.7}, "lost", ".svg", ["why & what"]).decode()
    plain = svg[svg.rindex("</style>") :]
    lines = re.findall(r'<path aria-label="k: [^"]*"[^>]*>', plain)
    strokes = {
        (c, d) for c, d in re.findall(r'stroke="(#[0-9a-f]{6})"[^>]*dasharray="([^"]*)"', plain)
    }
    assert len({colour for colour, _ in strokes} & set(COLOURS)) == 12, lines
    assert len(set(MARKS)) >= 12 <= len(COLOURS)
    assert ">10<" in svg
    assert ">1,000<" in svg
    assert "1e+" not in svg
    assert "why &amp; what" in svg
    for dark in MORE.values():
        assert dark in svg[: svg.rindex("</style>")]
    order = [svg.index(f">{name}<") for name in names]
    assert order == sorted(order, reverse=True)  # as the lines end
