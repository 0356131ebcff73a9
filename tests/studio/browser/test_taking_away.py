"""Report and export in a browser: files, the command, and reading without scripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.studio.browser.conftest import PATIENCE, Pages, expect


@pytest.fixture
def export(pages: Pages, finished: str) -> Any:
    page = pages(f"{finished}/export")
    page.get_by_role("link", name=re.compile("Open the report")).wait_for()
    return page


def test_a_format_is_chosen_by_the_keyboard_and_saved(export: Any) -> None:
    """The other parts of the page follow without loading it again, and the focus stays."""
    page = export
    field = page.get_by_label("Format", exact=True)
    field.evaluate("one => { one.same = true; }")
    field.focus()
    page.keyboard.type("Par")
    save = page.get_by_role("link", name="Save hospital-release.parquet")
    save.wait_for()
    assert field.evaluate("one => one.same && one === document.activeElement")  # for more letters
    expect(page.locator("#command")).to_have_value(re.compile("--out hospital-release.parquet"))
    expect(page.get_by_label("Types of columns")).to_be_visible()
    save.focus()
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
        page.locator("#status", has_text="being made and verified").wait_for()
    file = waiting.value
    assert file.suggested_filename == "hospital-release.parquet"
    assert Path(file.path()).read_bytes()[:4] == b"PAR1"
    page.locator("code.checksum").wait_for()  # which the page learns by itself


def test_the_command_is_copied_or_selected(pages: Pages, finished: str) -> None:
    page = pages(f"{finished}/export", permissions=("clipboard-read", "clipboard-write"))
    page.locator("#copy-command").click()
    page.locator("#status", has_text="was copied").wait_for()
    command = page.locator("#command").input_value()
    assert command.startswith("shoal anonymize hospital.csv --plan ")
    assert page.evaluate("() => navigator.clipboard.readText()") == command
    page.context.clear_permissions()
    page.context.grant_permissions([])  # everything else is denied
    page.locator("#copy-command").click()
    page.locator("#status", has_text="is selected").wait_for()
    assert page.evaluate("() => getSelection().toString()") == command
    address = page.locator("#report").get_attribute("data-live")
    again = """async (address) => {
        const answer = await fetch(address, { headers: { "x-studio": "1" } });
        place(await answer.text());
    }"""
    page.evaluate(again, address)  # as at each event: a part that is as before is not replaced
    assert page.evaluate("() => getSelection().toString()") == command


def test_everything_can_be_read_and_taken_without_scripts(pages: Pages, finished: str) -> None:
    page = pages(f"{finished}/export", java_script_enabled=False)
    expect(page.locator("#command")).to_be_visible()
    expect(page.locator("#copy-command")).to_be_hidden()
    page.get_by_label("Format", exact=True).select_option(".xlsx")
    page.get_by_role("button", name="Set").last.click()
    save = page.get_by_role("link", name="Save hospital-release.xlsx")
    with page.expect_download() as waiting:
        save.click()
    assert waiting.value.suggested_filename == "hospital-release.xlsx"
    with page.expect_popup() as opened:
        page.get_by_role("link", name=re.compile("Open the report")).click()
    report = opened.value
    report.get_by_role("heading", name=re.compile("^Release of")).first.wait_for()
    expect(report.get_by_text("Sign-off").first).to_be_visible()


def test_a_late_answer_does_not_bring_the_last_choice_back(pages: Pages, finished: str) -> None:
    """The page asks what has changed, a format is chosen, and only then the answer arrives."""
    page = pages(f"{finished}/export")
    page.get_by_label("Format", exact=True).select_option(".tsv")
    page.get_by_role("link", name="Save hospital-release.tsv").wait_for()
    late: list[Any] = []

    def hold(route: Any) -> None:
        """The first answer to a question is kept back, as it is now."""
        if late or route.request.method != "GET":
            route.continue_()
        else:
            late.append((route, route.fetch()))

    page.route(re.compile(page.locator("#report").get_attribute("data-live") + "$"), hold)
    page.reload()
    for _ in range(PATIENCE // 100):
        if late:
            break
        page.wait_for_timeout(100)
    assert late
    page.get_by_label("Format", exact=True).select_option(".csv")
    page.get_by_role("link", name="Save hospital-release.csv").wait_for()
    route, answer = late[0]
    with page.expect_response(lambda one: one.url == route.request.url):
        route.fulfill(response=answer)
    page.wait_for_timeout(300)  # long enough for a wrong answer to be shown
    expect(page.get_by_label("Format", exact=True)).to_have_value(".csv")


def test_a_choice_counts_however_late_the_scripts_come(pages: Pages, finished: str) -> None:
    """Nothing can be chosen before there is something that listens."""
    page = pages(f"{finished}/export")
    page.get_by_label("Format", exact=True).select_option(".tsv")
    page.get_by_role("link", name="Save hospital-release.tsv").wait_for()

    def later(route: Any) -> None:
        page.wait_for_timeout(700)
        route.continue_()

    page.route(re.compile("/static/.*[.]js$"), later)
    page.reload(wait_until="commit")
    page.get_by_label("Format", exact=True).select_option(".csv")
    page.get_by_role("link", name="Save hospital-release.csv").wait_for()


def test_what_cannot_be_written_is_said_where_it_is_chosen(export: Any) -> None:
    """The error stays until something else is done, although the page asks what has changed."""
    page = export
    live = page.locator("#report").get_attribute("data-live")
    page.get_by_label("Format", exact=True).select_option(".sav")
    page.get_by_role("link", name="Save hospital-release.sav").click()
    error = page.locator(".error", has_text="SPSS cannot store columns")
    error.wait_for()
    with page.expect_response(lambda one: one.url.endswith(live)):
        page.reload()
    page.wait_for_timeout(300)  # long enough for the answer to be shown
    expect(error).to_be_visible()
    page.get_by_label("Format", exact=True).select_option(".csv")
    page.get_by_role("link", name="Save hospital-release.csv").wait_for()
    expect(error).to_have_count(0)


def test_a_table_of_a_database(export: Any, tmp_path: Path) -> None:
    page = export
    page.locator("#address").fill(str(tmp_path / "open.db"))
    page.locator("#table").fill("release")
    page.locator("#write-table").click()
    page.locator("#database .good", has_text="The table release was written").wait_for()
    expect(page.locator("#table-command")).to_have_value(re.compile("--out-table release"))
    page.locator("#write-table").click()
    page.locator("#database .error", has_text="tick the box below").wait_for()
    page.get_by_label("Replace the table").check()
    page.locator("#write-table").click()
    page.locator("#database .good").wait_for()
    expect(page.get_by_label("Replace the table")).to_be_checked()
