"""Machine code is keyed by what it was compiled from: an edit recompiles what depends on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import shoal
from shoal.base.kernel_files.code_digest import UnknownContent, digest

SOURCE = Path(shoal.__file__).parents[1]
TABLE = [1, 2, 3]
LEAF = '''
LIMIT = 10

def small(x):
    """Whether x is small."""
    return x < LIMIT

def large(x):
    return not x < LIMIT * 100
'''


def made(source: str, name: str, **known: object) -> object:
    """A kernel from source code."""
    names: dict[str, object] = dict(known)
    exec(source, names)
    return numba.njit(names[name])


def test_a_digest_covers_code_callees_and_constants_and_nothing_else():
    caller = "def caller(x):\n    return small(x + 1)\n"

    def of(leaf: str) -> str:
        return digest(made(caller, "caller", small=made(leaf, "small")))

    plain = of(LEAF)
    assert of(LEAF.replace("x < LIMIT\n", "x <= LIMIT\n")) != plain
    assert of(LEAF.replace("LIMIT = 10", "LIMIT = 11")) != plain
    assert of(LEAF.replace("LIMIT = 10", "LIMIT = 10.0")) != plain
    assert of(LEAF.replace("Whether x is small.", "True if x is below the limit.")) == plain
    assert of(LEAF.replace("LIMIT * 100", "LIMIT * 200")) == plain
    assert of("\n\n# A comment\n" + LEAF) == plain


def test_a_digest_covers_compiler_options_defaults_and_arrays():
    source = "def first(x, place=0):\n    return table[place] + x\n"

    def of(values: list[int], code: str = source, **options: bool) -> str:
        names: dict[str, object] = {"table": np.array(values)}
        exec(code, names)
        return digest(numba.njit(**options)(names["first"]))

    plain = of([1, 2])
    assert of([1, 2]) == plain
    assert of([1, 3]) != plain
    assert of([1, 2], nogil=True) != plain
    assert of([1, 2], source.replace("place=0", "place=1")) != plain


def test_kernels_that_call_themselves_have_a_digest():
    source = "def down(x):\n    return 0 if x <= 0 else down(x - STEP)\n"

    def of(step: int) -> str:
        names: dict[str, object] = {"STEP": step}
        exec(source, names)
        names["down"] = numba.njit(names["down"])
        return digest(names["down"])

    assert of(1) == of(1) != of(2)


def test_what_has_no_digest_is_refused():
    with pytest.raises(UnknownContent, match=r"list \[1, 2, 3\]"):
        digest(numba.njit(lambda x: TABLE[0] + x))


RUN = """
import sys
from pathlib import Path
import numba
from numba.core import event
from shoal.base.kernel_files import code_folder, machine_code
folder = code_folder.folder(Path(sys.argv[1]))
def kernel(function):
    made = numba.njit(no_cfunc_wrapper=True)(function)
    made._cache = machine_code.MachineCode(made, folder)
    return made
import builtins
builtins.kernel = kernel
from pack import caller, other
values = caller.caller(5), other.other(5)
compiled = [k.py_func.__name__ for ks in machine_code._KERNELS.values() for k in ks
            if k.stats.cache_misses]
print(*values, *sorted(compiled))
"""
FILES = {
    "__init__": "",
    "leaf": "LIMIT = 10\n@kernel\ndef leaf(x): return x + LIMIT\n",
    "caller": "from pack.leaf import leaf\n@kernel\ndef caller(x): return leaf(x) * 2\n",
    "other": "@kernel\ndef other(x): return x - 1\n",
}


@pytest.fixture
def pack(tmp_path):
    """A package of three kernels, one of which calls another, with a cache of its own."""
    folder = tmp_path / "pack"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def run(pack: Path, **more: str) -> str:
    hidden = ("SHOAL_CACHE", "NUMBA_CACHE_DIR")
    plain = {name: value for name, value in os.environ.items() if name not in hidden}
    path = os.pathsep.join([str(pack.parent), str(SOURCE)])
    done = subprocess.run(
        [sys.executable, "-B", "-c", RUN, str(pack)],
        env={**plain, "PYTHONPATH": path, **more},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def files(pack: Path) -> list[str]:
    found = (pack / "__pycache__" / "kernels").glob("*.code")
    return sorted(path.name.split("-")[1] for path in found)


def test_an_edit_recompiles_what_depends_on_it_and_removes_stale_code(pack):
    assert run(pack) == "30 4 caller leaf other"
    (pack / "leaf.py").write_text(FILES["leaf"].replace("10", "20"))
    assert run(pack) == "50 4 caller leaf"
    assert files(pack) == ["caller", "leaf", "other"]
    (pack / "other.py").write_text("# a comment\n" + FILES["other"])
    assert run(pack) == "50 4"
    (pack / "leaf.py").rename(pack / "moved.py")
    (pack / "caller.py").write_text(FILES["caller"].replace("pack.leaf", "pack.moved"))
    assert run(pack) == "50 4 caller leaf"
    assert files(pack) == ["caller", "leaf", "other"]


def test_a_shared_folder_keeps_the_code_of_other_installations(pack, tmp_path):
    """Even where both installations are below the folder that is named."""
    places = {"SHOAL_CACHE": str(tmp_path)}
    assert run(pack, **places) == "30 4 caller leaf other"
    (pack / "leaf.py").write_text(FILES["leaf"].replace("10", "20"))
    assert run(pack, **places) == "50 4 caller leaf"
    (pack / "leaf.py").write_text(FILES["leaf"])
    assert run(pack, **places) == "30 4"


def test_code_compiled_with_other_settings_is_not_loaded(pack):
    assert run(pack) == "30 4 caller leaf other"
    assert run(pack, NUMBA_BOUNDSCHECK="1") == "30 4 caller leaf other"
    assert files(pack) == ["caller", "caller", "leaf", "leaf", "other", "other"]
