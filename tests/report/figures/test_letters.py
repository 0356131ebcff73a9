"""Letters: each stands where its class does, and none is hidden by another."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from shoal.report.figures.letters import letters

HOSTILE = "</text></svg><script>alert(1)</script>"


def test_every_letter_is_drawn_in_every_row():
    svg = letters(
        ["flu", "gout", "cold"],
        [50.0, 30.0, 20.0],
        {"A": [100.0, 0.0, 0.0], "B": [0.0, 60.0, 40.0], "C": [99.5, 0.5, 0.0]},
        "percent of the people",
    )
    words = [word for word in ElementTree.fromstring(svg).itertext() if word.strip()]
    drawn = [word for word in words if re.fullmatch("[ABC]+", word)]
    assert sorted("".join(drawn)) == sorted("ABC" * 3)
    assert "AC" in drawn  # at 100 and 99.5
    assert {"flu", "gout", "cold", "percent of the people", "100"} <= set(words)


def test_words_are_only_words():
    svg = letters([HOSTILE, "", "a\nb"], [1, 2, 3], {"A": [0, 0, 0]}, "percent")
    ElementTree.fromstring(svg)
    assert "<script" not in svg
    assert not re.search(r"\sid=|href|url\(", svg)
    with pytest.raises(ValueError, match="at least one bar"):
        letters([], [], {}, "x")
