"""Pictures of the studio for the documentation: `make pictures`.

A studio is started on the invented table, its pages are opened in a browser without a window, and
what the documentation shows is written next to this file. With a folder (`python -m
docs.images.studio DIR`) all pages are written there, light and dark, wide and narrow, to look at.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

from tests.studio.browser.conftest import NAMES, OPTIONS
from tests.studio.served import Served, serving

HERE = Path(__file__).parent
SIZES = {"wide": (1280, 780), "narrow": (400, 860)}
MOST = 150_000  # bytes of a picture
BORDERS = "kind=borders&level=3,7,14,28&level=7,28"
# What the documentation shows: how far down each page is scrolled, and how high the picture is, in
# pixels.
SHOWN = {"columns": (553, 623), "hierarchy": (0, 780), "requirements": (0, 780), "look": (0, 780)}


def main(folder: Path | None) -> None:
    """Write the pictures."""
    with TemporaryDirectory() as private, serving(Path(private) / "kept") as studio:
        pages = prepared(studio)
        with opened(studio) as new_page:
            if folder is None:
                for name, part in SHOWN.items():
                    file = HERE / f"studio-{name}.png"
                    drawn(new_page("wide", "light"), studio, pages[name], file, part)
                return
            folder.mkdir(parents=True, exist_ok=True)
            for size in SIZES:
                for scheme in ("light", "dark"):
                    page = new_page(size, scheme)
                    for name, address in pages.items():
                        file = folder / f"{name}-{size}-{scheme}.png"
                        drawn(page, studio, address, file)


def prepared(studio: Served) -> dict[str, str]:
    """Open the invented table and run its plan; the addresses of the pages."""
    project = studio.opened()
    names = re.findall(r'data-name="([^"]*)"', studio.get(f"{project}/columns").text)
    stay = f"{project}/columns/{names.index('length-of-stay ')}/hierarchy"
    asked = studio.ask("POST", f"{stay}/kind", BORDERS)
    assert asked.status == 303, asked.text
    asked = studio.ask("POST", f"{project}/requirements/models/add",
                       "name=distinct-l-diversity&column=diagnosis")  # fmt: skip
    assert asked.status == 303, asked.text
    studio.ask("POST", f"{project}/run/start", "")
    run = studio.until(f"{project}/run", "report.html|role=.alert").text
    look = re.search(r'href="([^"]+/look/\w+)"', run)
    assert look is not None, run
    steps = {step: f"{project}/{step}" for step in ("columns", "requirements", "run", "export")}
    return {"open": "/", **steps, "hierarchy": stay, "look": f"{look[1]}?row=3",
            "compare": f"{project}/compare", "reading": f"{project}/reading"}  # fmt: skip


@contextmanager
def opened(studio: Served) -> Iterator[Callable[[str, str], Any]]:
    """Pages of a browser that has been entered, by their size and their scheme."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        sys.exit("no browser: install Debian's chromium-headless-shell or chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=OPTIONS)

        def new_page(size: str, scheme: str) -> Any:
            wide, high = SIZES[size]
            page = browser.new_page(
                viewport={"width": wide, "height": high}, color_scheme=scheme, locale="en"
            )
            page.set_default_timeout(60_000)
            page.goto(studio.address)
            page.wait_for_url(f"{studio.origin}/")
            return page

        yield new_page
        browser.close()


def drawn(
    page: Any, studio: Served, address: str, file: Path, part: tuple[int, int] | None = None
) -> None:
    """Write the picture of a page, once nothing of it is being computed.

    It is what a screen of some height shows, scrolled down; without that, the whole page.
    """
    page.goto(f"{studio.origin}{address}")
    page.locator("main h1").wait_for()
    if address.endswith("/requirements"):
        page.locator("#preview[data-version]").wait_for()
    if part is not None:
        page.set_viewport_size({"width": SIZES["wide"][0], "height": part[1]})
        page.mouse.wheel(0, part[0])
    page.wait_for_timeout(1000)
    page.screenshot(path=file, full_page=part is None, animations="disabled")
    size = file.stat().st_size
    print(f"{file.name}: {size / 1000:.0f} kB")
    assert part is None or size <= MOST, f"{file.name} has more than {MOST:,} bytes"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else None)
