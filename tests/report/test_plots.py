from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from shoal.report.figures.grid import grid
from shoal.report.figures.letters import letters
from shoal.report.interval_plot import IntervalLine, intervals
from shoal.report.plots import (
    DARK,
    SHADES,
    Bars,
    Series,
    axis_labels,
    bars,
    distinguish,
    height_of,
    lines,
    round_ticks,
)

HOSTILE = "</text></svg><script>alert(1)</script>"
TWO = [
    Series("NLLM & co", [(2, 3.0), (100, 30.0), (1500, 66.0)], [(100, 36.0)]),
    Series("LLM", [(2, 5.0), (100, 42.0), (1500, 70.0)]),
]


def test_a_plot_is_one_sound_svg_with_its_words() -> None:
    svg = lines(TWO, "requested k", "percent lost", log_x=True, reference=[(2, 2), (1500, 1500)])
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    words = " ".join(root.itertext())
    for word in ("NLLM & co", "LLM", "requested k", "percent lost", "1,000"):
        assert word in words


def test_nothing_is_fetched_and_no_names_collide_within_a_page() -> None:
    svg = lines(TWO, "x", "y", log_x=True, log_y=True)
    assert not re.search(r"\sid=|href|url\(|<script", svg)
    assert set(re.findall(r'https?://[^"]*', svg)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_every_colour_has_one_for_dark_ground() -> None:
    svg = lines(TWO, "x", "y", reference=[(2, 2), (1500, 60)])
    drawn, _, _ = svg.partition("<style>")
    drawn += svg.partition("</style>")[2]
    used = set(re.findall(r'(?:fill|stroke)="(#\w+)"', drawn))
    assert used <= set(DARK)
    assert len(used & set(SHADES)) == 2
    assert "prefers-color-scheme: dark" in svg
    assert 'fill="white"' not in svg


def test_the_same_numbers_give_the_same_plot() -> None:
    assert lines(TWO, "x", "y") == lines(TWO, "x", "y")


def test_more_series_than_colours() -> None:
    many = [Series(f"series {i}", [(1, i), (2, i + 1)]) for i in range(len(SHADES) + 2)]
    assert f"series {len(SHADES) + 1}" in lines(many, "x", "y")


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="at least one point"):
        lines([Series("empty", [])], "x", "y")
    with pytest.raises(ValueError, match="above 0, got -1"):
        lines([Series("negative", [(-1, 1), (5, 2)])], "x", "y", log_x=True)


def test_ticks() -> None:
    assert round_ticks(0.03, 2) == pytest.approx([0.05, 0.1, 0.2, 0.5, 1, 2])
    assert round_ticks(3, 15000)[-1] == 10000


@pytest.mark.parametrize("series", [1, 2, 4])
def test_the_number_of_a_bar_is_next_to_that_bar(series):
    """Its middle is that of the bar, and its height no more than the bar's."""
    many = [Bars(f"s{i}", [10.0 + i, 20.0 + i]) for i in range(series)]
    svg = bars(["a", "b"], many, "percent")
    drawn = re.findall(r'percent: (\d+); label: (\w)[^>]*d="M0,([\d.]+)h[\d.]+v([\d.]+)h', svg)
    ends = re.findall(
        r'percent: (\d+); label: (\w)[^>]*translate\([\d.]+,([\d.]+)\)[^>]*font-size="([\d.]+)px"',
        svg,
    )
    assert len(drawn) == len(ends) == 2 * series
    base = {(value, label): (float(y), float(size)) for value, label, y, size in ends}
    for value, label, top, height in drawn:
        y, size = base[value, label]
        assert abs((y - 0.36 * size) - (float(top) + float(height) / 2)) < 1.2  # of the digits
        assert 0.72 * size < float(height)


def test_bars_escape_cut_and_distinguish():
    labels = [HOSTILE, "x" * 500, "x" * 501, "", "a\nb", "a b", "https://example.org/"]
    svg = bars(labels, [Bars(HOSTILE, range(7)), Bars("&amp;", [1] * 7)], "percent")
    root = ElementTree.fromstring(svg)
    assert "<script" not in svg
    assert not re.search(r"\sid=|href|url\(", svg)
    words = [one for one in root.itertext() if one]
    assert len([one for one in words if one.startswith("xxx") and "…" in one]) == 2
    assert max(map(len, (one for one in words if "@media" not in one))) <= 44
    assert {"a b", "a b (2)", "(no name)"} <= set(words)
    assert svg == bars(labels, [Bars(HOSTILE, range(7)), Bars("&amp;", [1] * 7)], "percent")
    with pytest.raises(ValueError, match="at least one bar"):
        bars([], [], "x")


def test_bars_that_are_all_zero():
    assert "<svg" in bars(["a"], [Bars("none", [0.0])], "percent")
    assert "<svg" in bars(["a"], [Bars("none", [0.0])], "percent", top=100)


@pytest.mark.parametrize("name", ["constructor", "valueOf", "__proto__", "toString"])
def test_a_series_may_have_any_name(name):
    """Also one that is reserved where the plot is drawn."""
    svg = lines([Series(name, [(1, 2), (2, 3)], [(1, 1)]), Series("gaa", [(1, 4)])], "k", "lost")
    assert f">{name}</text>" in svg
    assert svg.count("NaN") == 0
    plain = lines(
        [Series("plain", [(1, 2), (2, 3)], [(1, 1)]), Series("gaa", [(1, 4)])], "k", "lost"
    )
    assert svg.count("<path") == plain.count("<path")
    for colour in ("#0072b2", "#d55e00"):
        assert svg.count(f'stroke="{colour}"') == plain.count(f'stroke="{colour}"')


LONG_NAMES = [
    "Rindfleischetikettierungsüberwachungsbeauftragter",
    "Ausgeübter Beruf nach Klassifikation der Berufe 2010",
    "Gesundheits- und Kinderkrankenpflegerin der Intensivstation",
    "ledig",
]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: bars(LONG_NAMES, [Bars("one", [1.0] * 4)], "percent"),
        lambda: bars(LONG_NAMES, [Bars(f"{i}", [1.0] * 4) for i in range(3)], "percent"),
        lambda: letters(LONG_NAMES, [25.0] * 4, {"A": [100.0, 0, 0, 0]}, "percent"),
        lambda: grid(LONG_NAMES, lambda i, j: 1.0, str),
        lambda: intervals(
            [IntervalLine(f"{one} and {one}", 0.3, 0.2, 0.4, 0.5, False) for one in LONG_NAMES], "r"
        ),
    ],
    ids=["bars", "bars of series", "letters", "grid", "intervals"],
)
def test_long_labels_are_in_lines_and_not_cut(draw):
    root = ElementTree.fromstring(draw())
    shown = "".join("".join(root.itertext()).split())
    for name in LONG_NAMES:
        assert "".join(name.split()) in shown
    assert "…" not in shown


def test_the_height_of_labels_is_that_of_their_lines():
    labels = distinguish(LONG_NAMES)
    assert [one.count("\n") + 1 for one in labels] == [2, 3, 3, 1]
    assert all(len(line) <= 26 for one in labels for line in one.split("\n"))
    assert height_of(labels) >= 3 * 14
    # Those of fewer lines are in the middle of as many.
    placed = axis_labels(LONG_NAMES)
    assert [one.lstrip("\u2060").count("\n") for one in placed] == [1, 2, 2, 1]
    assert len(set(placed)) == 4
    one, other = distinguish(["x " * 300 + "a", "x " * 300 + "b"])
    assert one.endswith("…")
    assert other == f"{one} (2)"


def test_whole_numbers_have_whole_ticks_and_names_are_not_cut():
    svg = lines([Series("k-anonymity, 0.15-closeness", [(2, 0.5), (4, 0.7)])], "k and l", "seconds")
    assert ">1.5<" not in svg
    assert ">0.5" in svg  # of the other axis
    assert "k-anonymity, 0.15-closeness<" in svg
