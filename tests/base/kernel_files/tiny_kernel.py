"""A tiny kernel, stored and loaded in this process or in another."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from shoal.base.kernel_files import machine_code

SOURCE = Path(machine_code.__file__).parents[2]
posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
POWERLESS = shutil.which("setpriv")  # root without its powers, whom permissions do stop
TINY = """
import logging, sys
from pathlib import Path
import numba, numpy as np
from numba.core import event
from shoal.base.kernel_files import code_folder, machine_code
logging.getLogger("shoal").addHandler(logging.StreamHandler(sys.stderr))
compiled = []
class Seen(event.Listener):
    def on_start(self, event): compiled.append(event)
    def on_end(self, event): pass
def double(x): return x * 2
kernel = numba.njit(no_cfunc_wrapper=True)(double)
folder = code_folder.folder(Path(sys.argv[1]))
kernel._cache = machine_code.MachineCode(kernel, folder)
with event.install_listener("numba:run_pass", Seen()):
    print(kernel(21), bool(compiled), folder)
"""


def run(
    package: Path, *, home: Path | None = None, power: bool = True, **more: str
) -> tuple[str, bool, Path, str]:
    """What a tiny kernel says, whether it was compiled, where it is kept, and what was said."""
    done = subprocess.run(
        [*words(power), "-c", TINY, str(package)],
        env=environment(home, PYTHONPATH=str(SOURCE.parent), **more),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    value, compiled, folder = done.stdout.split()
    return value, compiled == "True", Path(folder), done.stderr


def words(power: bool) -> list[str]:
    if power or os.geteuid() != 0:
        return [sys.executable]
    if POWERLESS is None:
        pytest.skip("root can write anywhere, and there is no setpriv to prevent that")
    return [POWERLESS, "--bounding-set=-all", "--inh-caps=-all", sys.executable]


def environment(home: Path | None, **more: str) -> dict[str, str]:
    left_out = ("HOME", "XDG_CACHE_HOME", "SHOAL_CACHE", "NUMBA_CACHE_DIR", "TMPDIR")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, **({} if home is None else {"HOME": str(home)}), **more}


def double(x):
    return x * 2


def call(folder: Path) -> tuple[int, bool]:
    """What a tiny kernel says that nobody has loaded yet, and whether it had to be compiled."""
    kernel = numba.njit(no_cfunc_wrapper=True)(double)
    kernel._cache = machine_code.MachineCode(kernel, folder)
    return kernel(21), not kernel.stats.cache_hits


def stored(folder: Path) -> list[Path]:
    return list(folder.glob("*" + machine_code.ENDING))
