"""Look in a browser: two tables that scroll together, rows by mouse and keyboard, and axe."""

from __future__ import annotations

import re

import pytest

from tests.studio.browser.axe import violations
from tests.studio.browser.conftest import TELEPHONE, Pages, expect
from tests.studio.served import Served


@pytest.fixture(scope="module")
def look(studio: Served, finished: str) -> str:
    """The page about a finished run of the invented table."""
    page = studio.get(f"{finished}/run")
    link = re.search(r'href="([^"]+/look/\w+)"', page.text)
    assert link is not None, page.text
    studio.until(f"{link[1]}?row=1", "requires at least|would violate")
    return link[1]


def test_both_tables_scroll_together(pages: Pages, look: str) -> None:
    page = pages(look)
    for one, other in (("before", "after"), ("after", "before")):
        page.locator(f"#pane-{one}").hover()
        page.mouse.wheel(60, 200 if one == "before" else 90)
        page.wait_for_function(
            f"() => document.getElementById('pane-{other}').scrollTop > 80"
            f" && document.getElementById('pane-{other}').scrollLeft > 40"
        )
    # What is side by side stays side by side, once nothing moves any more.
    for row in (5, 30):
        page.wait_for_function(
            "(row) => { const [a, b] = ['before', 'after'].map((n) => document.querySelector("
            "`#pane-${n} tr[data-row='${row}']`).getBoundingClientRect());"
            " return Math.abs(a.top - b.top) < 1 && Math.abs(a.height - b.height) < 1; }",
            arg=row,
        )
    page.wait_for_function(
        "() => { const [a, b] = document.querySelectorAll('#pane-before, #pane-after');"
        " return a.scrollTop === b.scrollTop && a.scrollLeft === b.scrollLeft; }"
    )


def test_a_row_by_the_mouse_and_pages_without_loading(pages: Pages, look: str) -> None:
    page = pages(look)
    page.evaluate("() => { window.same = true; }")
    page.locator("#pane-after tr[data-row='4'] td").nth(1).click()
    page.locator("#why h2", has_text="Row 4").wait_for()
    expect(page.locator("tr.chosen[data-row='4']")).to_have_count(2)
    page.wait_for_url("**/*row=4*")
    page.locator("#next").click()
    page.locator("#pane-before tr[data-row='51']").wait_for()
    page.locator("#order").select_option("most")
    page.wait_for_url("**/*order=most*")
    page.locator("#found", has_text="2,000 records").wait_for()
    page.locator("#pane-after tbody a").first.click()
    page.wait_for_url("**/*class=*")
    expect(page.locator("#found")).to_contain_text("class")
    expect(page.locator("#pane-before tr[data-row]").nth(49)).to_have_count(0)
    assert page.evaluate("() => window.same")
    page.go_back()  # the address leads there again
    page.locator("#found", has_text="2,000 records").wait_for()


def test_a_row_by_the_keyboard(pages: Pages, look: str) -> None:
    page = pages(look)
    page.locator("#row-1").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#row-3")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("#why h2", has_text="Row 3").wait_for()
    expect(page.locator("#why")).to_be_focused()
    for _ in range(100):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.id") == "close":
            break
    expect(page.locator("#close")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("#why").wait_for(state="hidden")
    expect(page.locator("#row-3")).to_be_focused()


def test_axe_finds_nothing_with_a_row_chosen(pages: Pages, look: str) -> None:
    page = pages(f"{look}?row=3", bypass_csp=True)
    page.set_viewport_size(TELEPHONE)
    page.locator("#why h2").wait_for()
    assert violations(page) == ""
    box = page.locator("main").bounding_box()
    assert box["x"] + box["width"] <= 361
