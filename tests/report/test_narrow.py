"""A report on a narrow screen: nothing is cut off, nothing has to be scrolled sideways."""

from __future__ import annotations

import pytest

import shoal
from tests.report.test_front import ABOUT, LIMITS
from tests.report.test_release_report import people, plan
from tests.studio.browser.conftest import chromium  # noqa: F401 (a fixture)

# Elements that reach beyond the screen, or hide a part of their text; what scrolls by itself may.
CUT = """() => [...document.querySelectorAll("body *")].filter(one => {
    const box = one.getBoundingClientRect(), style = getComputedStyle(one);
    if (!box.width || style.position === "absolute") return false;
    for (let around = one.parentElement; around; around = around.parentElement)
        if (getComputedStyle(around).overflowX === "auto") return false;
    const hides = style.overflowX === "hidden" && one.scrollWidth > one.clientWidth + 1;
    return box.right > innerWidth + 1 || box.left < -1 || hides;
}).map(one => `${one.tagName} ${one.textContent.trim().slice(0, 80)}`)"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("narrow") / "report.html"
    table, asked = people(), plan().changed(about=ABOUT, limits=LIMITS)
    shoal.anonymize(table, asked).report(path)
    return path


@pytest.mark.parametrize("width", [360, 400, 500])
def test_nothing_is_cut(report, chromium, width):  # noqa: F811 (a fixture)
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.goto(report.as_uri())
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
