"""The first page in a browser."""

from __future__ import annotations

import signal
from pathlib import Path
from time import sleep
from typing import Any
from urllib.parse import urlencode

from tests.studio.browser.axe import violations
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


def test_a_large_table_is_shown_before_all_of_it_is_counted(
    pages: Pages, studio: Served, tmp_path: Path
) -> None:
    """Its processes go on for a moment at a time, until there is a first look and no more."""
    table = tmp_path / "large.csv"
    table.write_text("age,sex,<b>job\n" + "31,f,cook\n47,m,nurse\n52,f,cook\n" * 60_000)
    address = studio.ask("POST", "/open", urlencode({"data": table})).headers["location"]
    try:
        while "first look at" not in (text := studio.get(address).text):
            assert 'class="columns"' not in text
            studio.signal(signal.SIGCONT)
            sleep(0.005)
            studio.signal(signal.SIGSTOP)
        page = pages(address, bypass_csp=True)
        expect(page.get_by_text("180,000 records are read.")).to_be_visible()
        expect(page.get_by_text("<b>job", exact=True)).to_be_visible()
        role = page.get_by_label("Role of age", exact=True)
        with page.expect_response(lambda one: one.url.endswith("/role")):
            role.select_option("sensitive")
        assert not violations(page)
        role.focus()
    finally:
        studio.signal(signal.SIGCONT)
    page.get_by_role("heading", name="What is in this table?").wait_for()
    expect(role).to_have_value("sensitive")
    expect(role).to_be_focused()
    expect(page.get_by_role("button", name="Undo")).to_contain_text("age role: sensitive → quasi")


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
