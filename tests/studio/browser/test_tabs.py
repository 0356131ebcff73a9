"""Files that are dropped, answers that come late, and a second tab."""

from __future__ import annotations

import re
from typing import Any

from tests.studio.browser.conftest import Pages, expect


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
    expect(page.locator("table.columns tbody tr")).to_have_count(2)
    expect(page.locator("body")).to_contain_text("dropped <b>.csv")


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


def test_what_is_typed_after_a_form_was_sent_is_not_lost(pages: Pages, people: str) -> None:
    """Its answer brings the same field, with the value that was sent."""
    page = pages(f"{people}/requirements")
    page.locator("#preview[data-version]").wait_for()
    held: list[Any] = []
    page.route(re.compile(r"/requirements/models/0$"), lambda route: held.append(route))
    field = k_of(page)
    field.fill("2")
    field.press("Enter")
    until(page, lambda: held)
    field.press("1")
    page.locator("#about-owner").evaluate("one => { one.value = 'Clinic'; }")  # of another form
    held[0].continue_()
    page.locator(".sentence", has_text="at least 1 other person").wait_for()
    page.unroute_all()
    expect(field).to_have_value("21")
    expect(page.get_by_role("slider").first).to_have_value("21")
    expect(page.locator("#about-owner")).to_have_value("Clinic")
    expect(field).to_be_focused()
    field.press("2")  # the caret is where it was
    field.press("Enter")
    page.locator(".sentence", has_text="at least 211 other people").wait_for()
    expect(field).to_have_value("212")


def test_a_list_that_was_changed_again_keeps_the_newer_choice(pages: Pages, people: str) -> None:
    page = pages(f"{people}/requirements")
    page.locator("#method summary").click()
    held: list[Any] = []
    page.route(re.compile(r"/requirements/method$"), lambda route: held.append(route))
    loss = page.locator("#method-loss")
    first, second = loss.locator("option:not([selected])").evaluate_all(
        "all => all.slice(0, 2).map((one) => one.value)"
    )
    loss.select_option(first)
    until(page, lambda: held)
    loss.select_option(second)
    held[0].continue_()
    until(page, lambda: len(held) == 2)  # it is sent when the first answer is shown
    assert loss.locator(f'[value="{first}"][selected]').count() == 1
    assert loss.input_value() == second
    held[1].continue_()
    loss.locator(f'[value="{second}"][selected]').wait_for(state="attached")
    assert loss.input_value() == second


def test_the_second_of_two_tabs_is_told(pages: Pages, people: str) -> None:
    first, second = pages(f"{people}/requirements"), pages(f"{people}/requirements")
    for page in (first, second):
        page.locator("#preview[data-version]").wait_for()
    k_of(first).fill("11")
    k_of(first).press("Enter")
    first.locator(".sentence", has_text="at least 10 other people").wait_for()
    newer = first.locator("#models input[name=version]").first.get_attribute("value")
    # A part that follows the server by itself knows the newer plan; the forms do not show it.
    second.evaluate("(html) => place(html)", f"<p id=x><input name=version value='{newer}'></p>")
    k_of(second).fill("13")
    k_of(second).press("Enter")
    second.locator(".error", has_text="another tab").first.wait_for()
    second.reload()
    expect(k_of(second)).to_have_value("11")
