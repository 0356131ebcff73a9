"""Files that are dropped, answers that come late, and a second tab."""

from __future__ import annotations

import re
from typing import Any

from tests.studio.browser.conftest import Pages


def until(page: Any, found: Any, seconds: float = 30.0) -> None:
    """Wait until something is true, as a user waits who looks at the page."""
    for _ in range(int(10 * seconds)):
        if found():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it never happened")


def test_a_file_is_dropped(pages: Pages) -> None:
    page = pages()
    file = page.evaluate_handle(
        "() => { const found = new DataTransfer();"
        " found.items.add(new File(['age,job\\n31,cook\\n47,nurse\\n'], 'dropped <b>.csv'));"
        " return found; }"
    )
    page.locator("[data-drop]").first.dispatch_event("drop", {"dataTransfer": file})
    page.get_by_role("heading", name="What is in this table?").wait_for()
    assert page.locator("table.columns tbody tr").count() == 2
    assert "dropped <b>.csv" in (page.locator("body").text_content() or "")


def k_of(page: Any) -> Any:
    return page.get_by_role("spinbutton", name=re.compile("^k "))


def test_a_late_preview_does_not_replace_a_newer_one(pages: Pages, people: str) -> None:
    page = pages(f"{people}/requirements")
    page.locator("#preview[data-version]").wait_for()
    held: list[Any] = []

    def hold_first(route: Any) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route(re.compile(r"/preview(\?|$)"), hold_first)
    for k in ("7", "9"):
        k_of(page).fill(k)
        k_of(page).press("Enter")
        until(page, lambda: held)
    page.locator(".sentence", has_text="at least 8 other people").wait_for()
    now = page.locator("input[name=version]").first.get_attribute("value")
    page.locator(f'#preview[data-version="{now}"]').wait_for()
    held[0].continue_()
    page.wait_for_timeout(500)
    assert page.locator("#preview").get_attribute("data-version") == now
    assert "at least 8 other people" in page.locator(".sentence").first.text_content()


def test_the_second_of_two_tabs_is_told(pages: Pages, people: str) -> None:
    first, second = pages(f"{people}/requirements"), pages(f"{people}/requirements")
    for k, page in (("11", first), ("13", second)):
        k_of(page).fill(k)
        k_of(page).press("Enter")
        if page is first:
            page.locator(".sentence", has_text="at least 10 other people").wait_for()
    second.locator(".error", has_text="another tab").first.wait_for()
    second.reload()
    assert k_of(second).input_value() == "11"
