"""A real browser: Debian's Chromium, or whatever is installed under its names.

Without one these tests are skipped, and say so. Playwright's own browsers are not downloaded.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.studio.served import Served

# The browser without windows starts faster, and opens a page in a quarter of the time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
# A machine for tests may have neither a screen nor a sandbox, and the browser must not call home.
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
TELEPHONE = {"width": 360, "height": 740}
PATIENCE = 30_000  # milliseconds, as the machine may be busy

Pages = Callable[..., Any]


def expect(locator: Any) -> Any:
    """Playwright's `expect`, which looks again until it is so, with the patience of these tests."""
    from playwright.sync_api import expect as expected

    expected.set_options(timeout=PATIENCE)
    return expected(locator)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser of one file: as long as Playwright runs, no other test can have a loop."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no browser: install Debian's chromium for these tests")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def finished(studio: Served, project: str) -> str:
    """A project with a run, so that every page has something to show."""
    studio.ask("POST", f"{project}/run/start", "")
    studio.until(f"{project}/run", "report.html|role=.alert")
    return project


@pytest.fixture(scope="session")
def people(studio: Served, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project with few values, whose plan tests may change: each sets what it needs."""
    jobs = ("baker", "cook", "doctor", "nurse")
    table = tmp_path_factory.mktemp("people") / "people.csv"
    rows = [f"{20 + i % 60},{jobs[i % 4]},{i % 7}" for i in range(300)]
    table.write_text("\n".join(["age,job,children", *rows]) + "\n", encoding="utf-8")
    return studio.opened(urlencode({"data": str(table)}))


@pytest.fixture(scope="module")
def contexts(chromium: Any, studio: Served) -> Callable[..., Any]:
    """Browsers in which the studio has been entered; one for all tests that need the same."""

    @cache
    def entered(**options: Any) -> Any:
        context = chromium.new_context(viewport={"width": 1280, "height": 900}, **options)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(studio.address)
        page.wait_for_url(f"{studio.origin}/")
        page.close()
        return context

    return entered


@pytest.fixture
def pages(contexts: Callable[..., Any], studio: Served) -> Iterator[Pages]:
    """Opens pages of the studio; they must be clean.

    No page may write an error to its console: a refused style or script would be one.
    """
    opened, errors = [], []

    def open_one(path: str = "/", **options: Any) -> Any:
        page = contexts(**options).new_page()
        opened.append(page)
        page.on("console", lambda one: errors.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda one: errors.append(str(one)))
        page.goto(f"{studio.origin}{path}")
        return page

    yield open_one
    for page in opened:
        page.close()
    # An answer that refuses a form is an error for the browser, but not for us.
    assert [one for one in errors if "status of 409" not in one] == []


@pytest.fixture
def page(pages: Pages, project: str) -> Any:
    """The columns of the invented table."""
    return pages(f"{project}/columns")
