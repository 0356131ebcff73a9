"""The first page in a browser."""

from __future__ import annotations

from typing import Any

from tests.studio.browser.conftest import Pages, expect
from tests.studio.served import Served


def test_it_shows_in_every_size(pages: Pages) -> None:
    page = pages()
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            box = page.locator("main").bounding_box()
            assert box is not None
            assert box["width"] <= width


def test_the_invented_table_opens(pages: Pages) -> None:
    page = pages()
    page.get_by_role("button", name="Open the invented table").click()
    page.get_by_role("heading", name="What is in this table?").wait_for()
    expect(page.locator("table.columns tbody tr").nth(5)).to_be_visible()


def test_a_role_changes_without_loading_the_page_again(page: Any) -> None:
    field = page.get_by_label("Role of smoker", exact=True)
    field.focus()
    field.select_option("sensitive")
    page.locator("tr.role-sensitive", has_text="smoker").wait_for()
    expect(field).to_have_value("sensitive")
    expect(field).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    page.locator("tr.role-sensitive", has_text="smoker").wait_for(state="detached")


WITHOUT_STORAGE = """
for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
  Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });
}
"""


def test_a_browser_without_storage(chromium: Any, studio: Served, project: str) -> None:
    """Nothing is kept in the browser: a change is there after a reload, and nothing is refused."""
    context, errors = chromium.new_context(), []
    context.add_init_script(WITHOUT_STORAGE)
    page = context.new_page()
    page.on("pageerror", lambda one: errors.append(str(one)))
    page.goto(studio.address)
    page.wait_for_url(f"{studio.origin}/")
    page.goto(f"{studio.origin}{project}/columns")
    role = page.get_by_label("Role of smoker", exact=True)
    before = role.input_value()
    other = "other" if before != "other" else "drop"
    with page.expect_response(lambda one: one.url.endswith("/role")):
        role.select_option(other)
    page.reload()
    expect(role).to_have_value(other)
    with page.expect_response(lambda one: one.url.endswith("/role")):
        role.select_option(before)
    assert errors == []
    context.close()


def test_a_browser_that_keeps_no_cookies_says_so(chromium: Any, studio: Served) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(studio.address)
    page.wait_for_url(f"{studio.origin}/")
    context.clear_cookies()  # as if it had kept none
    assert page.goto(f"{studio.origin}/").status == 401
    expect(page.get_by_text("has not kept the cookie")).to_be_visible()
    context.close()
