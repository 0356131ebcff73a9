"""No two compiled functions have one name in machine code, whichever processes compile them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from numba.core.bytecode import FunctionIdentity

from shoal.base.kernel_files.symbols import name_apart
from tests.base.kernel_files.tiny_kernel import SOURCE, environment

COUNT = "FunctionIdentity._unique_ids = itertools.count(1000)"
# What is called must be too large to become a part of its callers.
TWINS = """
import itertools, sys
import numpy as np
from numba.core.bytecode import FunctionIdentity
{before}
from shoal.kernels import lean_kernel
{after}
def make(down):
    @lean_kernel
    def step(x, n):
        total = 0
        for i in range(n):
            while x[i] > i * total:
                x[i] -= 1
                total += x[i] % 7
                for j in range(i, n):
                    if x[j] % 3 == total % 5:
                        x[j] += 2 if down else 1
                        total -= 1
                    elif x[j] % 11 == 3:
                        for k in range(j):
                            total += x[k] % 2
                            if total % 13 == 5 and x[k] > 5:
                                x[k] -= 3
            if total % 2:
                total += n
        return x[n - 1] - n if down else x[n - 1] + n
    return step

step_up, step_down = make(False), make(True)

@lean_kernel
def up(x):
    return step_up(x, 3) + step_up(x, 2) + step_up(x, 1)

@lean_kernel
def down(x):
    return step_down(x, 3) + step_down(x, 2) + step_down(x, 1)

print(*[dict(up=up, down=down)[name](np.zeros(3, np.int64)) for name in sys.argv[1:]])
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_kernels_that_two_processes_compile_are_told_apart(tmp_path, when):
    """Even if numba gives both the same number: as it did when both had compiled equally many."""
    code = TWINS.format(**{"before": "", "after": "", when: COUNT})
    module = tmp_path / "twins.py"
    module.write_text(code)
    more = {"PYTHONPATH": str(SOURCE.parent), "SHOAL_CACHE": str(tmp_path)}

    def say(*names: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, module, *names],
            env=environment(None, **more),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert say("up") == ["6"]
    assert say("down") == ["-6"]
    assert say("up", "down") == ["6", "-6"]
    assert say("down", "up") == ["-6", "6"]


def test_functions_are_named_after_what_they_are_made_with():
    def make(*given):
        number, function = given

        def add(x):
            return function(x) + number

        return name_apart(add).__qualname__.rpartition(".")[2]

    def other(x):
        return x

    here = "test_functions_are_named_after_what_they_are_made_with.<locals>"
    assert make(1, other) == f"add[function={here}.other,number=1]".rpartition(".")[2]
    assert len({make(1, other), make(2, other)}) == 2
    assert name_apart(other).__qualname__ == f"{here}.other"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_fork_does_not_use_the_numbers_of_its_parent():
    code = """
import itertools, os
import shoal.kernels
from numba.core.bytecode import FunctionIdentity
reader, writer = os.pipe()
for _ in range(2):
    child = os.fork()
    if child == 0:
        os.write(writer, f"{next(FunctionIdentity._unique_ids)}\\n".encode())
        os._exit(0)
    os.waitpid(child, 0)
print(next(FunctionIdentity._unique_ids), os.read(reader, 100).decode())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    numbers = [int(one) for one in done.stdout.split()]
    assert len(numbers) == 3
    assert all(abs(a - b) > 10_000 for a in numbers for b in numbers if a is not b)


def test_numba_still_counts_as_we_know_it():
    """Without this counter, only names tell functions apart: numba's own ones might share some."""
    first = next(FunctionIdentity._unique_ids)
    assert next(FunctionIdentity._unique_ids) == first + 1
