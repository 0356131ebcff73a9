"""Ctrl-C and a polite kill: an interrupt is an interrupt wherever it comes, and nothing else."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from shoal import Plan, anonymize
from shoal.algorithms._shared.repair import Repair
from shoal.base import interrupt
from shoal.kernels.histogram import count_values

BOTH = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@pytest.fixture(autouse=True)
def _handlers():
    """As a process has them when it starts, and afterwards as they were."""
    before = {number: signal.getsignal(number) for number in interrupt.SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Trap:
    """Sends Ctrl-C in the middle of a Python function, whoever calls it."""

    def __init__(self, name):
        self.name, self.sprung = name, False

    def __enter__(self):
        sys.setprofile(self.look)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def look(self, frame, event, _):
        if event == "call" and frame.f_code.co_name == self.name and not self.sprung:
            self.sprung = True
            signal.raise_signal(signal.SIGINT)


def count():
    return count_values(np.zeros(3, np.int64), np.zeros(3, np.int32), np.zeros(0, np.int64), 1, 1)


def test_item_14_an_interrupt_while_a_kernel_hands_over_its_arrays():
    """numba does so by Python code, in which an exception became a SystemError."""
    count()
    with Trap("_numba_unpickle") as trap, pytest.raises(KeyboardInterrupt):
        count()
    assert trap.sprung
    assert count()[2].tolist() == [3]


def test_item_14_an_interrupt_while_classes_are_repaired(monkeypatch):
    rng = np.random.default_rng(3)
    secret = rng.choice(["a", "b", "c"], 300, p=[0.8, 0.15, 0.05])
    table = pa.table({"age": rng.integers(0, 90, 300), "s": secret})
    plan = Plan(
        columns={"age": {"role": "quasi", "hierarchy": {"ranges": [5, 30]}}, "s": "sensitive"},
        models=[{"name": "k-anonymity", "k": 3}, {"name": "t-closeness", "column": "s", "t": 0.2}],
        algorithm="peel",
    )
    traps = []
    repair = Repair.run
    anonymize(table, plan)  # then all that it needs is compiled

    def trapped(*args):
        with Trap("_numba_unpickle") as trap:
            traps.append(trap)
            return repair(*args)

    monkeypatch.setattr(Repair, "run", trapped)
    with pytest.raises(KeyboardInterrupt):
        anonymize(table, plan)
    assert [trap.sprung for trap in traps] == [True]


def test_a_signal_while_a_kernel_is_compiled_is_not_delayed():
    def compiler():
        signal.raise_signal(signal.SIGINT)
        return "not reached"

    with pytest.raises(KeyboardInterrupt):
        interrupt.held(interrupt.released, compiler)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def status_of(program):
    with pytest.raises(SystemExit) as ended:
        interrupt.run(program)
    return ended.value.code


@pytest.mark.parametrize(("number", "status"), BOTH)
def test_the_status_shows_the_signal(number, status):
    def program():
        os.kill(os.getpid(), number)
        while True:
            pass

    assert status_of(program) == status
    assert interrupt.asked() == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_whatever_a_library_makes_of_an_interrupt_is_one():
    def library():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            error = SystemError("returned a result with an exception set")
            error.add_note("the release is written")
            raise error from None

    def program():
        with interrupt.consequences():
            library()

    assert status_of(program) == 130


def test_errors_stay_errors_where_nobody_interrupts():
    def program():
        with interrupt.consequences():
            raise ValueError("17")

    with pytest.raises(ValueError, match="17"):
        interrupt.run(program)


def test_an_interrupt_that_a_library_swallows_comes_again():
    reached = []

    def program():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            reached.append("swallowed")
        interrupt.check()
        reached.append("not reached")

    assert status_of(program) == 130
    assert reached == ["swallowed"]


def test_what_must_be_whole_is_not_left():
    """Nor are `__del__`, where an exception would be printed and lost."""
    done = []

    @interrupt.whole
    def write():
        signal.raise_signal(signal.SIGINT)
        done.append("renamed")

    class Thing:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)
            done.append("freed")

    for part in (write, lambda: (Thing(), gc.collect())):

        def program(part=part):
            part()
            while True:
                pass

        assert status_of(program) == 130
    assert done == ["renamed", "freed"]


def test_nohup_is_respected():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupt.run(lambda: signal.raise_signal(signal.SIGINT))
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_an_interrupt_as_the_handler_is_put_back_leaves_nothing_behind(monkeypatch):
    """The handler raises at once: kernels that come later must not swallow interrupts."""
    count()
    real = interrupt._signal.signal
    sent = []

    def put_back(number, handler):
        before = real(number, handler)
        if handler is signal.default_int_handler and not sent:
            sent.append(number)
            signal.raise_signal(signal.SIGINT)
        return before

    monkeypatch.setattr(interrupt._signal, "signal", put_back)
    with pytest.raises(KeyboardInterrupt):
        count()
    monkeypatch.setattr(interrupt._signal, "signal", real)
    assert sent
    assert not interrupt._state.holding
    assert interrupt._state.waiting == 0
    assert interrupt.released(lambda: 1) == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_polite_kill_waits_for_kernels_where_ctrl_c_is_ignored():
    """As for a command that a script starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seen = []

    def program():
        def kernel():
            signal.raise_signal(signal.SIGTERM)
            seen.append("whole")

        interrupt.held(kernel)
        for _ in range(1000):
            interrupt.sleep(0.01)

    with pytest.raises(SystemExit) as end:
        interrupt.run(program)
    assert seen == ["whole"]
    assert end.value.code == 143


def test_a_command_that_has_taken_note_is_not_interrupted_again():
    done = []

    def program():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            interrupt.settle()
        interrupt.check()
        done.append(True)

    with pytest.raises(SystemExit) as end:
        interrupt.run(program)
    assert done
    assert end.value.code == 130


def test_an_interrupt_waits_for_code_that_is_made_from_text():
    """Python would end by the signal, and not with the status, although somebody caught it."""
    seen = []
    code = "import signal\nsignal.raise_signal(signal.SIGINT)\nseen.append('whole')"

    def program():
        exec(code, {"seen": seen})
        for _ in range(1000):
            interrupt.sleep(0.01)

    with pytest.raises(SystemExit) as end:
        interrupt.run(program)
    assert seen == ["whole"]
    assert end.value.code == 130


def test_an_interrupt_through_code_from_a_string_ends_with_its_status(tmp_path):
    """Code that takes longer than its grace is left, and `python -m` would then end by SIGINT."""
    code = (
        "import sys; from shoal.base.interrupt import run\n"
        "def program():\n"
        "    print('ready', flush=True)\n"
        "    exec('import time\\nfor _ in range(3000): time.sleep(0.01)')\n"
        "run(program, last=True)\n"
    )
    (tmp_path / "program.py").write_text(code, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "program"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
