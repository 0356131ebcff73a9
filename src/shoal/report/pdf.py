"""PDF: a page printed by a browser without a window, or by WeasyPrint.

Both work offline. The browser gets a private folder that is removed afterwards, a page that forbids
scripts and further files, and no names that it could look up. The time in the file is that of the
release, so that the same page gives the same file.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from shoal.base.errors import BadFile, ShoalError
from shoal.io.atomic import private_folder

ENDING = ".pdf"
PAPER = "A4"
SECONDS = 180  # that a browser may take; it took 3 for a report of 14 pages
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
)
# Where browsers are that are not on the search path.
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
OPTIONS = (
    "--headless",
    "--disable-gpu",
    "--no-pdf-header-footer",
    "--no-first-run",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no network
    "--user-agent=shoal",  # it is written into the file
)


def check_report(path: Path | None) -> None:
    """Raise an error if a report of this name is a PDF and nothing here can make one."""
    if path is not None and is_pdf(path) and _browser() is None and not _has_weasyprint():
        raise BadFile(
            f"cannot write {path}: a PDF is printed by a browser (Chromium, Chrome or Edge) or by "
            "WeasyPrint, and neither was found. Install one, as in pip install 'shoal[pdf]', or "
            "write report.html and print it from a browser"
        )


def is_pdf(path: str | Path) -> bool:
    """Whether a file of this name is a PDF."""
    return Path(path).suffix.lower() == ENDING


def write_pdf(html: str, target: Path, made: datetime) -> None:
    """Print a page to a file."""
    check_report(target)
    browser = _browser()
    if browser is not None:
        try:
            content = _printed_by(browser, html)
        except ShoalError:
            if not _has_weasyprint():
                raise
        else:
            target.write_bytes(_dated(content, made))
            return
    target.write_bytes(_by_weasyprint(html))


def _browser() -> str | None:
    """The program that prints, if there is one."""
    known = next(filter(None, map(shutil.which, BROWSERS)), None)
    return known or next((place for place in ELSEWHERE if Path(place).is_file()), None)


def _has_weasyprint() -> bool:
    """Whether WeasyPrint can be loaded; without the libraries of Pango it is there but cannot."""
    try:
        import weasyprint  # noqa: F401 (it takes a moment, and is asked for without a browser only)
    except (ImportError, OSError):
        return False
    return True


def _printed_by(browser: str, html: str) -> bytes:
    """The page as a PDF, made by a browser that can see nothing else."""
    with private_folder(Path(tempfile.gettempdir())) as folder:
        page, printed = folder / "report.html", folder / "report.pdf"
        page.write_text(html, encoding="utf-8")
        command = [
            browser,
            *OPTIONS,
            *(["--no-sandbox"] if _is_root() else []),  # it refuses to run as root otherwise
            f"--user-data-dir={folder / 'profile'}",
            f"--print-to-pdf={printed}",
            page.as_uri(),
        ]
        said = _run(command, _alone(folder))
        if not printed.is_file() or not printed.stat().st_size:
            last = " ".join(said.decode(errors="replace").replace(str(folder), "…").split())[-300:]
            raise ShoalError(
                f"the browser {Path(browser).name} did not print the report. Write report.html "
                f"and print it, or install WeasyPrint: pip install 'shoal[pdf]'. It said: {last}"
            )
        return printed.read_bytes()


def _run(command: list[str], environment: Mapping[str, str]) -> bytes:
    """Run a program to its end; whatever happens, it does not outlive this call."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=dict(environment),
            start_new_session=True,  # to end it with all of its processes
        )
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise ShoalError(
                f"the browser did not print the report within {SECONDS} seconds; write "
                "report.html and print it"
            ) from None
        finally:
            _end(process)
        said.seek(0)
        return said.read()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with all processes that it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):  # all of them have ended
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _alone(folder: Path) -> dict[str, str]:
    """An environment in which a browser writes to the folder only, and finds no session."""
    homes = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR")
    kept = {name: value for name, value in os.environ.items() if name not in _SESSION}
    return kept | dict.fromkeys(homes, str(folder))


_SESSION = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _dated(content: bytes, made: datetime) -> bytes:
    """The same file with the time of the release in place of that of printing.

    The new time is as long as the old one, so that nothing moves in the file.
    """
    time = made.astimezone(UTC).strftime("D:%Y%m%d%H%M%S+00'00'").encode()
    for old in set(_times(content)):
        if len(old) == len(time):
            content = content.replace(old, time)
    return content


def _times(content: bytes) -> Iterator[bytes]:
    """The times in the information about a file."""
    for found in re.finditer(rb"/(?:CreationDate|ModDate) ?\((D:[^)]*)\)", content):
        yield found[1]


def _by_weasyprint(html: str) -> bytes:
    """The page as a PDF, made by WeasyPrint."""
    import weasyprint

    def refuse(url: str, *_: object, **__: object) -> None:
        raise ShoalError(f"a report needs nothing but itself, and asked for {url}")

    printed: bytes = weasyprint.HTML(string=html, url_fetcher=refuse).write_pdf()
    return printed
