"""The first page in a browser."""

from __future__ import annotations

from typing import Any

from tests.studio.browser.conftest import Pages, expect


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
