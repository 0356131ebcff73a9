"""The picture of the frontier: every setting of the table is a link, and names are data."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from math import hypot
from typing import Any

from shoal.studio.charts.frontier import frontier
from shoal.studio.wording import Wording

TITLES = {"picture": "Loss & risk", "risk": "risk", "lost": "loss"}
SVG = "{http://www.w3.org/2000/svg}"


def point(k: int, average: float, lost: float | None, **given: Any) -> dict[str, Any]:
    one = {"setting": f"k = {k}", "k": k, "average": average, "lost": lost, "on": "table",
           "frontier": True, "own": False, "knee": False}  # fmt: skip
    return one | given


def drawn(points: list[dict[str, Any]]) -> ElementTree.Element:
    return ElementTree.fromstring(str(frontier(points, "average", Wording("en"), TITLES)))


def test_settings_of_the_table_are_links_to_their_buttons() -> None:
    points = [
        point(2, 0.4, 1.0),
        point(5, 0.1, 3.0, own=True),
        point(5, 0.1, 9.0, on="sample"),
        point(9, 0.05, None),
        point(10, 0.05, 8.0, knee=True, frontier=False),
    ]
    root = drawn(points)
    links = root.findall("a")
    assert [one.get("data-choose") for one in links] == ["choose-0", "choose-1", "choose-4"]
    assert [one.get("href") for one in links] == ["#setting-0", "#setting-1", "#setting-4"]
    assert links[1].get("aria-label") == "k = 5: 10%, 3%"
    kinds = [one.get("class") for one in root.iter("circle")]
    assert kinds.count("sampled") == 1
    assert kinds.count("own") == kinds.count("knee") == 1
    assert root.find("title") is not None


def test_safer_settings_are_on_the_right_and_losses_go_up() -> None:
    root = drawn([point(2, 0.4, 1.0), point(50, 0.01, 30.0)])
    places = [one.find("circle[@class='best']") for one in root.findall("a")]
    x = [float(one.get("cx", "")) for one in places if one is not None]
    y = [float(one.get("cy", "")) for one in places if one is not None]
    assert x[0] < x[1]
    assert y[0] > y[1]
    for one in root.iter("circle"):
        assert 0 <= float(one.get("cx", "")) <= 560
        assert 0 <= float(one.get("cy", "")) <= 340


def test_names_are_data() -> None:
    root = drawn([point(2, 0.0, 0.0, setting="<script>alert(1)</script>")])
    assert not list(root.iter("script"))


def test_without_a_release_there_is_no_picture() -> None:
    assert frontier([point(2, 0.1, None)], "average", Wording("en"), TITLES) == ""


def test_a_click_on_a_setting_chooses_no_other_one() -> None:
    """What can be touched of a setting ends halfway to the next one."""
    root = drawn([point(8, 0.106, 29.4), point(12, 0.1, 30.0), point(50, 0.01, 35.0)])
    touched = [one.find("circle[@class='touch']") for one in root.findall("a")]
    x, y, r = (
        [float(one.get(name, "")) for one in touched if one is not None]
        for name in ("cx", "cy", "r")
    )
    assert r[2] == 16
    assert 0 < r[0] == r[1] <= hypot(x[0] - x[1], y[0] - y[1]) / 2 + 0.1
