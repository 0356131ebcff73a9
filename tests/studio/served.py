"""A studio that runs as its users run it: a process of its own, spoken to by HTTP."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from shoal.studio.nursery import HAS_ONE
from shoal.studio.processes import descendants

FIRST = 240.0  # seconds that a page may take on a busy machine on which nothing is compiled


@dataclass
class Answer:
    """What the server said."""

    status: int
    headers: dict[str, str]
    text: str
    content: bytes


@dataclass
class Served:
    """A running studio."""

    process: subprocess.Popen[str]
    port: int
    token: str
    folder: Path
    cookie: str = ""

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """What the user opens first."""
        return f"{self.origin}/?token={self.token}"

    @property
    def workers(self) -> list[int]:
        """The processes that hold tables: those below the one that forks them."""
        below = descendants(self.process.pid)
        return [pid for one in below for pid in descendants(one)] if HAS_ONE else below

    def signal(self, number: int) -> None:
        """Send a signal to all processes but the server; some of them may be gone."""
        for pid in descendants(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def bare(
        self, method: str, path: str, body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:  # fmt: skip
        """A request with exactly these headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=FIRST)
        connection.request(method, path, body, dict(headers or {}))
        response = connection.getresponse()
        content = response.read()
        found = {key.lower(): value for key, value in response.getheaders()}
        connection.close()
        return Answer(response.status, found, content.decode("utf-8", "replace"), content)

    def ask(
        self, method: str, path: str, body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:  # fmt: skip
        """A request of the user's own page."""
        own = {"cookie": self.cookie, "origin": self.origin}
        return self.bare(method, path, body, {**own, **(headers or {})})

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def until(self, path: str, pattern: str, seconds: float = FIRST) -> Answer:
        """Ask for a page again and again until it shows something."""
        end = monotonic() + seconds
        while True:
            answer = self.get(path)
            if re.search(pattern, answer.text):
                return answer
            assert monotonic() < end, f"{path} never showed {pattern!r}: {answer.text[-2000:]}"
            sleep(0.1)

    def opened(self, body: str = "demo=1") -> str:
        """Open a table; the address of its project."""
        answer = self.ask("POST", "/open", body)
        assert answer.status == 303, answer.text
        address = answer.headers["location"]
        self.until(address, 'class="columns"|role="alert"')
        return address.rpartition("/")[0]

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


@contextmanager
def serving(folder: Path, *options: str, cwd: Path | None = None) -> Iterator[Served]:
    """Start a studio, and end it."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "shoal", "studio", "--no-browser", "--folder", str(folder),
         *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd or folder.parent,
        env={**os.environ, "XDG_STATE_HOME": str(folder.parent)},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert found is not None, line + process.stdout.read()
        served = Served(process, int(found[1]), found[2], folder)
        served.cookie = entered(served)
        yield served
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def entered(served: Served) -> str:
    """The cookie that the first address gives; the server may still be starting."""
    end = monotonic() + FIRST
    while True:
        try:
            answer = served.bare("GET", f"/?token={served.token}")
            break
        except ConnectionError:
            assert monotonic() < end
            sleep(0.05)
    assert answer.status == 200, answer.text
    return answer.headers["set-cookie"].partition(";")[0]
