"""The studio, spoken to as a browser does: how long its user waits, and what its processes hold.

All of it is measured in one run, against one server: the first page, opening a table of 1,000,000
rows against reading it alone, previews on the sample, pages while a run uses all cores, and memory.
Memory is that of all processes of the studio together, as Linux counts it: what several of them
share counts once, and pages of files, which the system can drop, do not count.

`python -m benchmarks.studio 100000` measures with another number of rows.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep
from typing import TypeVar
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from shoal.io.frames import read
from shoal.studio.processes import descendants
from shoal.studio.wording import Wording

T = TypeVar("T")

ROWS = 1_000_000
STEPS = 7  # positions of a slider
BEING_WRITTEN = Wording("en")("run.details")
COLUMNS = 'class="columns"'  # on the page of the columns, once all records are counted
LOOKED = 'class="columns'  # and before that, by a first look at some of them
PATIENCE = 900.0  # seconds for anything
READING = (
    "import sys; from time import perf_counter as now, process_time as used;"
    "from shoal.io.frames import read;"
    "begin = now(), used(); read(sys.argv[1]); print(now() - begin[0], used() - begin[1])"
)


def run(rows: int = ROWS) -> list[dict]:
    return list(measured(rows))


def measured(rows: int) -> Iterator[dict]:
    """What is known, as soon as it is: a run of a large table takes a while."""
    with TemporaryDirectory() as folder:
        table = Path(folder) / "people.csv"
        pa_csv.write_csv(_people(rows), table)
        size = read(table).native.nbytes
        reading = sorted(_reading(table) for _ in range(3))[1]
        with _serving(Path(folder) / "kept") as (studio, first):
            yield {"what": "studio: first page, server up", "shoal": first, "goal": "≤ 1 s"}
            yield from _of_a_table(studio, table, rows, reading, size)


def _of_a_table(
    studio: Studio, table: Path, rows: int, reading: tuple[float, float], size: int
) -> Iterator[dict]:
    many = f"{rows:,} rows"
    bare = studio.memory()
    yield {"what": "studio: memory without a table", "gigabytes": bare / 1e9, "goal": ""}
    small = studio.opened("demo=1")
    studio.get(f"/p/{small}/preview")  # loads the kernels
    base = studio.memory()
    yield {"what": "studio: memory with a small table", "gigabytes": base / 1e9, "goal": ""}
    studio.post(f"/p/{small}/remove")
    begin, used = perf_counter(), studio.processor()
    big = studio.opened(urlencode({"data": table}), shows=LOOKED)
    looked = perf_counter() - begin, studio.processor() - used
    studio.until(f"/p/{big}/columns", COLUMNS)
    counted = perf_counter() - begin, studio.processor() - used
    for words, found, goal in (
        ("columns shown", looked, "≤ 1.3"),
        ("all records counted", counted, ""),
    ):
        for clock, mine, alone in zip(("", ", processor time"), found, reading, strict=True):
            yield {
                "what": f"studio: opening {many}, {words}, against reading alone{clock}",
                "shoal": mine,
                "plain scan": alone,
                "ratio": mine / alone,
                "goal": "" if clock else goal,
            }
    yield {"what": f"studio: {many} in Arrow", "gigabytes": size / 1e9, "goal": ""}
    studio.settled()
    yield _beyond(f"{many} open", studio.memory(), base, size)
    sampling, _ = _timed(lambda: studio.get(f"/p/{big}/preview"))
    yield {"what": "studio: first preview of them, sample included", "shoal": sampling, "goal": ""}
    yield from _previews(studio, big)
    for place in (2, 1):  # a run that most tables are released with
        studio.post(f"/p/{big}/requirements/models/{place}/remove")
    studio.settled()
    yield _beyond(f"{many}, after previews", studio.memory(), base, size)
    yield from _waits("no run", _latency(studio, big, lambda: sleep(3.0)))
    with _peak(studio) as peak:
        taken, busy = _timed(lambda: _latency(studio, big, lambda: studio.run(big)))
    yield from _waits("run on all cores", busy)
    yield {"what": f"studio: a run of {many}", "shoal": taken, "goal": ""}
    studio.settled()
    yield _beyond(f"{many}, after a run", studio.memory(), base, size)
    yield {
        "what": f"studio: memory, {many}, peak of a run",
        "gigabytes": max(peak) / 1e9,
        "goal": "",
    }


def _waits(when: str, seconds: list[float]) -> list[dict]:
    return [
        {"what": f"studio: a page, {when}, median", "shoal": median(seconds), "goal": ""},
        {"what": f"studio: a page, {when}, worst", "shoal": max(seconds), "goal": "≤ 1 s"},
    ]


def _beyond(what: str, held: int, base: int, size: int) -> dict:
    """Memory beyond that with a small table, against the table in Arrow."""
    return {
        "what": f"studio: memory, {what}, beyond a small table",
        "gigabytes": (held - base) / 1e9,
        "ratio": (held - base) / size,
        "goal": "≤ 2",
    }


def _previews(studio: Studio, project: str) -> Iterator[dict]:
    """What a slider costs: from the change of the plan to the page that shows what it does."""
    for model in ("k-anonymity", "distinct-l-diversity", "t-closeness"):
        if model != "k-anonymity":
            asked = {"name": model, "column": "diagnosis"}
            studio.post(f"/p/{project}/requirements/models/add", urlencode(asked))
            studio.get(f"/p/{project}/preview")  # loads what this model needs
        for full, words in (("", "first estimate"), ("?full=1", "whole sample")):
            begin = 6 + STEPS * bool(full)
            used = studio.processor()
            taken = [_moved(studio, project, k, full) for k in range(begin, begin + STEPS)]
            used = (studio.processor() - used) / STEPS
            what = f"studio: preview, down to {model}, {words}"
            goal = "" if full else "≤ 1 s"
            yield {"what": f"{what}, processor time", "shoal": used, "goal": ""}
            yield {"what": f"{what}, median", "shoal": median(taken), "goal": goal}
            yield {"what": f"{what}, worst", "shoal": max(taken), "goal": goal}


def _moved(studio: Studio, project: str, k: int, full: str) -> float:
    def move() -> None:
        studio.post(f"/p/{project}/requirements/models/0", f"k={k}")
        page = studio.get(f"/p/{project}/preview{full}")
        assert "data-version" in page, page[-2000:]

    return _timed(move)[0]


def _latency(studio: Studio, project: str, work: Callable[[], object]) -> list[float]:
    """Seconds that pages take, one after the other, as long as something is going on."""
    over = Event()

    def do() -> None:
        try:
            work()
        finally:
            over.set()

    thread = Thread(target=do)
    thread.start()
    taken = []
    while not over.is_set():
        taken.append(_timed(lambda: studio.get(f"/p/{project}/requirements"))[0])
        sleep(0.1)
    thread.join()
    return taken


@contextmanager
def _peak(studio: Studio) -> Iterator[list[int]]:
    """The memory of the studio, again and again."""
    seen, over = [studio.memory()], Event()

    def look() -> None:
        while not over.wait(0.1):
            seen.append(studio.memory())

    thread = Thread(target=look)
    thread.start()
    yield seen
    over.set()
    thread.join()


class Studio:
    """A running studio."""

    def __init__(self, process: subprocess.Popen[str], port: int, token: str) -> None:
        self.process, self._port, self._cookie = process, port, ""
        self._enter(token)

    def _enter(self, token: str) -> None:
        while not self._cookie:
            try:
                answer = self._ask("GET", f"/?token={token}", None)
                self._cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
            except ConnectionError:
                sleep(0.01)

    def _ask(self, method: str, path: str, body: str | None) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        origin = f"http://127.0.0.1:{self._port}"
        connection.request(method, path, body, {"cookie": self._cookie, "origin": origin})
        return connection.getresponse()

    def get(self, path: str) -> str:
        return self._ask("GET", path, None).read().decode()

    def post(self, path: str, body: str = "") -> str:
        """Send a form; the address that it leads to."""
        answer = self._ask("POST", path, body)
        text = answer.read().decode()
        assert answer.status == 303, text[-2000:]
        return str(answer.getheader("location"))

    def opened(self, body: str, shows: str = COLUMNS) -> str:
        """Open a table and wait until its page shows something; the name of its project."""
        address = self.post("/open", body)
        self.until(address, shows)
        return address.split("/")[2]

    def until(self, address: str, shows: str) -> None:
        """Wait until a page shows something."""
        while shows not in (page := self.get(address)):
            assert 'role="alert"' not in page, page[-2000:]
            sleep(0.02)

    def run(self, project: str) -> None:
        """Run the plan, until the release and its report are there, and its process is gone."""
        self.post(f"/p/{project}/run/start")
        page = ""
        while "/report.html" not in page or BEING_WRITTEN in page:
            page = self.get(f"/p/{project}/run")
            assert 'role="alert"' not in page, page[-2000:]
            sleep(0.2)

    def settled(self) -> None:
        """Wait until its processes have nothing to do: some of it is done after an answer."""
        before, now = -1.0, self.processor()
        while now - before > 0.05:
            sleep(1.0)
            before, now = now, self.processor()

    def processor(self) -> float:
        """Seconds of processor time that its processes have used so far."""
        return sum(_used(pid) for pid in [self.process.pid, *descendants(self.process.pid)])

    def memory(self) -> int:
        """Bytes that its processes hold together."""
        return sum(_held(pid) for pid in [self.process.pid, *descendants(self.process.pid)])


def _used(pid: int) -> float:
    """Seconds of processor time of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _held(pid: int) -> int:
    """Bytes of a process: its share of what is no file."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has just ended
        return 0
    return sum(
        1024 * int(line.split()[1]) for line in lines if line.startswith(("Pss_Anon", "Pss_Shmem"))
    )


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[Studio, float]]:
    """Start a studio; also the seconds from its address to its first page."""
    command = [sys.executable, "-u", "-m", "shoal", "studio", "--no-browser", "--folder", folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ})
    try:
        assert process.stdout is not None
        address = re.search(r":(\d+)/\?token=(\S+)", process.stdout.readline())
        assert address is not None
        seconds, studio = _timed(lambda: Studio(process, int(address[1]), address[2]))
        yield studio, seconds
    finally:
        process.kill()
        process.wait()


def _reading(table: Path) -> tuple[float, float]:
    """Seconds that reading takes in a process that does nothing else, also of processor time."""
    command = [sys.executable, "-c", READING, table]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    taken, used = map(float, said.split())
    return taken, used


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    begin = perf_counter()
    result = work()
    return perf_counter() - begin, result


def _people(rows: int) -> pa.Table:
    rng = np.random.default_rng(7)

    def some(stem: str, many: int) -> np.ndarray:
        return np.array([f"{stem} {i}" for i in range(many)])[rng.integers(0, many, rows)]

    days = np.datetime64("1940-01-01") + rng.integers(0, 25_000, rows)
    return pa.table(
        {
            "id": [f"p{i:07}" for i in rng.permutation(rows)],
            "age": rng.integers(18, 90, rows),
            "sex": rng.choice(["female", "male"], rows),
            "zip": rng.integers(10_000, 10_400, rows),
            "occupation": some("occupation", 40),
            "born": days.astype("datetime64[D]"),
            "children": rng.integers(0, 6, rows),
            "region": some("region", 25),
            "income": rng.integers(10_000, 90_000, rows),
            "diagnosis": some("diagnosis", 60),
            "weight": np.round(rng.normal(75, 12, rows), 1),
        }
    )


if __name__ == "__main__":
    for found in measured(int((sys.argv[1:] or [ROWS])[0])):
        print(json.dumps(found, ensure_ascii=False), flush=True)
