"""Plots as dictionaries: what a channel and a layer say, and which numbers can be drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest

from shoal.report.vega_lite import (
    layer,
    look,
    nominal,
    note,
    plot,
    quantitative,
    side_by_side,
    to_png,
    to_svg,
)


def points(xs, **options):
    rows = [{"x": x, "name": name} for x, name in zip(xs, "abc", strict=False)]
    looks = look("name", ["c", "b", "a"], ["#111111", "#222222", "#333333"])
    channels = {"x": quantitative("x", title="how much"), "color": looks}
    return plot([layer("point", rows, channels, filled=True)], **options)


def test_each_name_has_its_look_and_the_legend_their_order():
    svg = to_svg(points([1, 2, 3]))
    drawn = re.findall(r'aria-label="how much: (\d); name: (\w)"[^>]*fill="(#\w+)"', svg)
    assert drawn == [("1", "a", "#333333"), ("2", "b", "#222222"), ("3", "c", "#111111")]
    assert re.findall(r">([abc])</text>", svg) == ["c", "b", "a"]


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, np.float32, np.float64])
def test_numbers_of_numpy_are_drawn_like_those_of_python(kind):
    assert to_svg(points(np.array([1, 2, 4], kind))) == to_svg(points([1, 2, 4]))
    assert to_svg(points([1], width=kind(90))) == to_svg(points([1], width=90))


def test_what_is_no_number_is_not_drawn():
    for gap in (float("nan"), float("inf"), None):
        assert to_svg(points([1, gap, 3])) == to_svg(points([1, None, 3]))
    assert len(re.findall("how much: ", to_svg(points([1, float("nan"), 3])))) == 2


def test_the_first_layer_is_behind():
    rows = [{"x": 1, "word": "w"}]
    at = {"x": quantitative("x")}
    bar, word = layer("bar", rows, at), layer("text", rows, at | {"text": nominal("word")})
    one, other = to_svg(plot([bar, word])), to_svg(plot([word, bar]))
    assert one.index("mark-rect role-mark") < one.index("mark-text role-mark")
    assert other.index("mark-rect role-mark") > other.index("mark-text role-mark")


def test_plots_side_by_side_with_a_note():
    two = [points([1, 2], width=100), points([3], width=100)]
    svg = to_svg(side_by_side(two, title=note(["line one", "line two"], orient="bottom")))
    assert svg.count(">how much<") == 2
    assert "line one" in svg
    assert "line two" in svg


def test_a_drawing_changes_nothing_and_is_the_same_again():
    spec, again = points([1, 2, 3]), points([1, 2, 3])
    assert to_svg(spec) == to_svg(spec)
    assert to_png(spec).startswith(b"\x89PNG")
    assert spec == again


@pytest.mark.parametrize(
    ("misspelled", "said"),
    [
        (lambda: points([1], widht=90), "no option 'widht'; did you mean 'width'?"),
        (lambda: plot([layer("bar", [], {"x": nominal("x", tittle="x")})]), "'tittle'"),
        (lambda: plot([layer("bar", [], {"x": nominal("x", axis={"tick": 1})})]), "'tick'"),
        (lambda: plot([layer("bar", [], {"colour": nominal("x")})]), "did you mean 'color'"),
        (lambda: plot([layer("bar", [], {}, strokeDashes=[4])]), "did you mean 'strokeDash'"),
    ],
)
def test_a_misspelled_option_is_an_error(misspelled, said):
    """Vega-Lite ignores it, and the plot would look different without a word."""
    for draw in (to_svg, to_png):
        with pytest.raises(ValueError, match=re.escape(said)):
            draw(misspelled())


def test_fields_of_rows_may_have_any_name():
    rows = [{"widht": 1, "tittle": "a"}]
    assert "a" in to_svg(plot([layer("text", rows, {"text": nominal("tittle")})]))
