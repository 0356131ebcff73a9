"""Accessibility: axe finds nothing on any page, and all of it can be done with the keyboard."""

from __future__ import annotations

from typing import Any

from tests.studio.browser.axe import violations
from tests.studio.browser.conftest import TELEPHONE, Pages

STEPS = (
    "columns",
    "reading",
    "columns/2/hierarchy",
    "requirements",
    "run",
    "look",
    "export",
    "compare",
)


def test_every_page_is_accessible(pages: Pages, finished: str) -> None:
    """In light and in dark."""
    page = pages(bypass_csp=True)
    assert violations(page) == ""
    for step in STEPS:
        page.goto(page.url.partition("/p/")[0].rstrip("/") + f"{finished}/{step}")
        page.locator("main h1").wait_for()
        if step == "requirements":  # the preview has to be there
            page.locator("#preview[data-version]").wait_for()
        assert violations(page) == "", step


def test_nothing_is_wider_than_a_telephone(pages: Pages, finished: str) -> None:
    """Wide tables scroll inside of their own frame, the page does not; German words are longer."""
    for language in ("en", "de"):
        page = pages(locale=language)
        page.set_viewport_size(TELEPHONE)
        origin = page.url.rstrip("/")
        for step in STEPS:
            page.goto(f"{origin}{finished}/{step}")
            page.locator("main h1").wait_for()
            if step == "requirements":
                page.locator("#preview .compact").wait_for()
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, (language, step)


def test_a_release_by_the_keyboard_alone(pages: Pages) -> None:
    """Enter, Tab and arrows lead from the first page to a report."""
    page = pages()
    press_until(page, "Open the invented table")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What is in this table?").wait_for()
    press_until(page, "Next: requirements")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="How well must people be protected?").wait_for()
    press_until(page, "Next: run")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Run", exact=True).wait_for()
    press_until(page, "Start a run")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Report", exact=True).first.wait_for()


def press_until(page: Any, name: str, most: int = 200) -> None:
    """Press Tab until the focus is on the button or the link of this name."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if name in page.evaluate("() => document.activeElement.textContent"):
            return
    raise AssertionError(f"the keyboard never reached {name!r}")
