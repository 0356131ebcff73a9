"""The command `shoal compare`."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from time import sleep

import pytest

from shoal.comparing.isolated_run import Here
from tests.command_line import left


@pytest.fixture
def here(monkeypatch):
    """Runs in this process: quick."""
    monkeypatch.setattr(import_module("shoal.comparing.compare"), "Apart", Here)


WORDS = ("compare", "people.csv", "--plan", "plan.toml")


def test_the_command(run, people, here):
    targets = ("--json", "c.json", "--csv", "c.csv", "--plot", "c.svg")
    status, out, err = run(*WORDS, "--k", "2,5", "--algorithms", "gaa,forest", *targets)
    assert status == 0, err
    assert "►" in out
    assert "written: c.svg" in out
    numbers = json.loads((people / "c.json").read_text())
    assert [one["k"] for one in numbers["runs"]] == [2, 2, 5, 5]
    assert numbers["seed"] == 3
    assert left(people) == ["c.csv", "c.json", "c.svg", "people.csv", "plan.toml"]
    assert "Person" not in (people / "c.csv").read_text() + out + json.dumps(numbers)


def test_the_command_prints_json_alone(run, people, here):
    status, out, err = run(*WORDS, "--algorithms", "gaa", "--json", "-", "--seed", "9")
    assert status == 0
    assert json.loads(out)["seed"] == 9
    assert "algorithm" in err


def test_the_command_writes_nothing_where_nothing_was_reached(run, people, here):
    status, out, err = run(*WORDS, "--k", "61", "--csv", "c.csv", "--json", "c.json")
    assert status == 1
    assert "the best k possible is 60" in " ".join(out.split())
    assert "nothing was written" in err
    assert left(people) == ["people.csv", "plan.toml"]


@pytest.mark.parametrize(
    "words",
    [
        ("--csv", "people.csv"),
        ("--json", "plan.toml"),
        ("--csv", "c.svg", "--plot", "c.svg"),
        ("--plot", "c.pdf"),
        ("--csv", "nowhere/c.csv"),
        ("--k", "x"),
        ("--k", "1"),
        ("--algorithms", "gab"),
        ("--losses", "nlm"),
        ("--limit", "-1"),
    ],
)
def test_bad_words(run, people, here, words):
    status, out, err = run(*WORDS, *words)
    assert status == 2, out
    assert err.startswith("shoal: ")
    assert left(people) == ["people.csv", "plan.toml"]


def gone(group, seconds=10.0):
    """Whether no process of a group is left; the last of them may still be about to end."""
    for _ in range(round(10 * seconds)):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("after", "send", "status"),
    [
        (1, lambda process: os.killpg(process.pid, signal.SIGINT), 130),
        pytest.param(
            3,
            lambda process: os.killpg(process.pid, signal.SIGINT),
            130,
            marks=pytest.mark.slow,
        ),
        (3, lambda process: process.terminate(), 143),
    ],
)
def test_an_interrupt_leaves_what_has_finished(people, after, send, status):
    """Ctrl-C while a run is under way: what had finished, and no process that goes on."""
    rows = "".join(f"Person {i},{20 + i % 40},{'fm'[i % 2]},d{i % 5}\n" for i in range(20_000))
    (people / "people.csv").write_text("name,age,sex,disease\n" + rows, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-u", "-c",
         "import shoal.cli.progress as p; p.FIRST = p.INTERVAL = 0.0\n"
         "import shoal.cli.main; shoal.cli.main.main()",
         *WORDS, "--k", "50,60,70,80", "--algorithms", "gaa,forest,sequential",
         "--csv", "c.csv", "--plot", "c.svg", "--json", "c.json"],
        cwd=people, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    for line in process.stderr:
        if line.startswith(f"run {after} of 12"):
            break
    send(process)
    out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    assert gone(process.pid)
    if after == 1:
        assert "nothing was written" in err
        assert left(people) == ["people.csv", "plan.toml"]
        return
    assert "the results of the finished runs" in err
    assert "Not done: sequential, k = 50, 60, 70, 80: interrupted" in " ".join(out.split())
    assert left(people) == ["c.csv", "c.json", "c.svg", "people.csv", "plan.toml"]
    numbers = json.loads((people / "c.json").read_text())
    assert numbers["finished"] is False
    assert 2 <= sum(one["holds"] for one in numbers["runs"]) < 12 == len(numbers["runs"])
    lines = list(csv.DictReader(io.StringIO((people / "c.csv").read_text())))
    assert {line["finished"] for line in lines} == {"False"}
    assert any("interrupted" in line["reason"] for line in lines)
