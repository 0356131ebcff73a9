"""`shoal setup`: on a real terminal, from a pipe, and from a file of answers."""

from __future__ import annotations

import io
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import csv as pa_csv

from shoal import Plan
from tests.cli.test_cli import left
from tests.flow.setup.test_dialogue import people

PATIENCE = 60  # seconds without a byte, on a busy machine

pty = pytest.importorskip("pty", reason="needs a pseudo-terminal")


@pytest.fixture
def data(tmp_path):
    pa_csv.write_csv(people(), tmp_path / "people.csv")
    return tmp_path


def typed(monkeypatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_a_pipe_answers_and_the_plan_runs(run, data, monkeypatch):
    typed(monkeypatch, "\n" * 30)
    status, out, _ = run("setup", "people.csv")
    assert status == 0
    assert "Could a neighbour, an employer or a website know this about a person?" in out
    assert "\x1b" not in out
    plan = Plan.load(data / "plan.toml")
    assert [column.role for column in plan.columns.values()] == [
        "identifier", "quasi", "quasi", "sensitive",
    ]  # fmt: skip
    assert run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")[0] == 0


def test_a_dialogue_can_be_repeated_from_its_answers(run, data, monkeypatch):
    typed(monkeypatch, "identifier\nquasi\ndrop\nsensitive\n4\n2\ny\n")
    words = ("setup", "people.csv", "-o", "first.toml", "--save-answers", "answers.toml")
    assert run(*words)[0] == 0
    typed(monkeypatch, "")
    words = ("setup", "people.csv", "-o", "second.toml", "--answers", "answers.toml")
    status, out, _ = run(*words)
    assert status == 0
    assert "the draft decided" not in out
    assert (data / "first.toml").read_text() == (data / "second.toml").read_text()
    assert 'town = "drop"' in (data / "answers.toml").read_text()


def test_columns_without_an_answer_are_named(run, data):
    (data / "answers.toml").write_text('[columns]\ntown = "drop"\n')
    status, out, _ = run("setup", "people.csv", "--answers", "answers.toml")
    assert status == 0
    assert "no answers for name, age, disease: the draft decided" in " ".join(out.split())


@pytest.mark.parametrize("lines", ["", "\n\n", "q\n", "a\n\n\n"])
def test_the_end_of_the_input_and_quit_leave_nothing(lines, run, data, monkeypatch):
    typed(monkeypatch, lines)
    before = left(data)
    status, _, err = run("setup", "people.csv", "--save-answers", "answers.toml")
    assert status == 2
    assert "writ" in err
    assert left(data) == before


def test_existing_files_are_kept(run, data, monkeypatch):
    (data / "plan.toml").write_text("mine")
    status, _, err = run("setup", "people.csv")
    assert status == 2
    assert "--force" in err
    assert (data / "plan.toml").read_text() == "mine"
    assert run("setup", "people.csv", "-o", "people.csv", "--force")[0] == 2


class Terminal:
    """A process on a pseudo-terminal, and a user who waits for questions."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.side, other = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "shoal", *words], cwd=folder, stdin=other, stdout=other,
            stderr=other, start_new_session=True, env=os.environ | {"TERM": "dumb"},
            preexec_fn=_own_terminal,
        )  # fmt: skip
        os.close(other)
        self.seen = ""

    def wait_for(self, text: str) -> str:
        """Read what is shown until a text occurs; returns what was before, and forgets it."""
        while text not in self.seen:
            self.seen += self._read()
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, keys: str) -> None:
        os.write(self.side, keys.encode())

    def end(self) -> str:
        """Read what is left; returns all of it."""
        try:
            while piece := self._read():
                self.seen += piece
        except (OSError, EOFError):  # Linux raises an error when the other side has ended
            pass
        self.process.wait(timeout=60)
        os.close(self.side)
        return self.seen

    def _read(self) -> str:
        ready, _, _ = select.select([self.side], [], [], PATIENCE)
        assert ready, f"nothing more was shown: {self.seen}"
        piece = os.read(self.side, 4096)
        if not piece:
            raise EOFError(self.seen)
        return piece.decode(errors="replace")


@pytest.fixture
def on_terminal(data):
    """Start commands on terminals, which are ended with the test in any case."""
    started = []

    def start(*words: str) -> Terminal:
        started.append(Terminal(data, *words))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


def _own_terminal() -> None:
    """Make the pseudo-terminal the controlling one, so that Ctrl-C becomes a signal."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_real_terminal(data, on_terminal):
    terminal = on_terminal("setup", "people.csv")
    terminal.wait_for("(1 of 4) name")
    terminal.wait_for("[Y/n]")
    terminal.type("drox\x7fp\n")  # the terminal itself lets the user correct a line
    terminal.wait_for("drop: left out")
    terminal.wait_for("(2 of 4) age")
    terminal.wait_for("[y/N]")
    terminal.type("b\n")
    terminal.wait_for("(1 of 4) name")
    terminal.wait_for("[y/N]")  # the answer before is the default now
    terminal.type("identifier\n")
    terminal.wait_for("(2 of 4) age")
    terminal.type("a\n")
    terminal.wait_for("look alike at least")
    terminal.type("3\n")
    terminal.wait_for("requirement)?")
    terminal.type("\n")
    terminal.wait_for("Write the plan?")
    terminal.type("\n")
    terminal.wait_for("written: plan.toml")
    terminal.end()
    assert terminal.process.returncode == 0
    plan = Plan.load(data / "plan.toml")
    assert plan.columns["name"].role == "identifier"
    assert plan.models[0].k == 3


def test_lines_on_a_terminal_are_broken_between_words(data, on_terminal):
    terminal = on_terminal("setup", "people.csv")
    terminal.wait_for("(1 of 4) name")
    terminal.wait_for("[Y/n] ")  # the terminal shows at once what is typed
    terminal.type("?\n")
    terminal.wait_for("?\r\n")
    shown = terminal.wait_for("[Y/n] ").replace("\r", "")
    terminal.type("q\n")
    terminal.end()
    assert "  quasi: outsiders may know it, generalized\n" in shown  # what roles mean
    assert "accepts all proposals that are left, ? shows this, q quits and\nwrites" in shown
    assert not [line for line in shown.split("\n") if len(line) >= 80]


@pytest.mark.parametrize(("keys", "status"), [("\x03", 130), ("\x04", 2)])
def test_ctrl_c_and_ctrl_d_leave_nothing(keys, status, data, on_terminal):
    terminal = on_terminal("setup", "people.csv", "--save-answers", "answers.toml")
    terminal.wait_for("(1 of 4) name")
    terminal.wait_for("[Y/n]")
    terminal.type("identifier\n")
    terminal.wait_for("(2 of 4) age")
    terminal.wait_for("[y/N]")
    terminal.type(keys)
    shown = terminal.end()
    assert terminal.process.returncode == status
    assert "nothing was written" in shown
    assert left(data) == ["people.csv"]


def test_sigterm_leaves_nothing(data, on_terminal):
    terminal = on_terminal("setup", "people.csv")
    terminal.wait_for("(1 of 4) name")
    terminal.wait_for("[Y/n]")
    terminal.process.send_signal(signal.SIGTERM)
    terminal.end()
    assert terminal.process.returncode == 143
    assert left(data) == ["people.csv"]
