"""Kernels end, stay inside their arrays, and return to Python often enough."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from shoal import catalog
from shoal import kernels as room
from shoal.base.kernel_files.code_digest import digest
from shoal.hierarchies.base import Hierarchy
from shoal.kernels.search import boxes, cells
from shoal.kernels.search import class_index as index
from shoal.kernels.search import tuple_index as tuples
from shoal.losses import _integer_costs as exact
from shoal.table.encode import Domain
from tests.watched import ROOT, in_a_process


def kernels() -> list[CPUDispatcher]:
    """All kernels of the room."""
    names = [module.name for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]
    return [
        thing for name in names for thing in vars(importlib.import_module(name)).values()
        if isinstance(thing, CPUDispatcher) and thing.py_func.__module__ == name
    ]  # fmt: skip


def test_every_kernel_can_be_cached():
    """A kernel that reads, say, a list of its module has no digest and compiles in every run."""
    assert len({digest(kernel) for kernel in kernels()}) == len(kernels()) > 200


HANGS = """
import faulthandler
faulthandler.dump_traceback_later(240, exit=True)  # it used to hang, whatever signal came
import pyarrow as pa
import shoal
for loss in ("mean", "entropy", "auto"):
    for rows, k in ((3, 3), (6, 5)):
        table = pa.table({
            "letter": list("abcdef")[:rows],
            "age": [1, 20, 33, 47, 58, 61][:rows],
            "zip": ["12345", "12399", "99999", "98765", "55555", "44444"][:rows],
        })
        plan = shoal.Plan(
            columns={
                "letter": "quasi",
                "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}},
                "zip": {"role": "quasi", "hierarchy": {"prefixes": [3, 1]}},
            },
            models=[{"name": "k-anonymity", "k": k}],
            loss=loss, algorithm="peel", seed=1,
        )
        release = shoal.anonymize(table, plan)
        assert release.classes == 1 and release.smallest_class == rows
"""


def test_item_0_peel_ends_where_one_class_is_all_there_can_be():
    done = subprocess.run(
        [sys.executable, "-c", HANGS], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("loss", [name for name in catalog.losses.decided if name != "weights"])
@pytest.mark.parametrize("rows", [1, 3, 7, 1_000, 10**7])
def test_item_0_no_sum_of_costs_comes_near_what_stands_for_no_cost(loss, rows):
    """A few sums over all records, added up, are less than the least of those numbers."""
    limit = min(boxes.NO_COST, cells.MANY, index.NO_COST, tuples.NO_COST)
    trees = [Hierarchy.ranges([5, 10]).tree(range(47)), Hierarchy.prefixes([2, 1]).tree(
        [f"{i:03d}" for i in range(0, 999, 7)]
    )]  # fmt: skip
    domains = [Domain(f"q{i}", tree, np.ones(tree.size, np.int64)) for i, tree in enumerate(trees)]
    costs = exact.exact_costs(catalog.losses[loss](), domains, rows)
    assert 8 * sum(int(cost.max()) for cost in costs) * rows <= limit
    assert any(cost.max() > 0 for cost in costs)


def test_item_0_all_algorithms_with_all_losses_end_on_tables_of_1_to_12_rows():
    done = in_a_process(12, 1)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("examples", [12, pytest.param(40, marks=pytest.mark.slow)])
def test_kernels_run_as_plain_python_and_use_no_negative_index(examples):
    """Without compilation, on arrays that refuse an index such as -1 for a missing class."""
    done = in_a_process(examples, 3, NUMBA_DISABLE_JIT="1", PYTHONWARNINGS="ignore")
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.slow
@pytest.mark.parametrize("name", catalog.algorithms.decided)
def test_item_0_no_kernel_leaves_its_arrays(name):
    """Compiled with bounds checks, into a folder of its own; one process compiles for minutes."""
    done = in_a_process(150, 2, name, NUMBA_BOUNDSCHECK="1")
    assert done.returncode == 0, done.stderr[-4000:]


def test_a_kernel_is_compiled_once_for_all_calls_of_other_kernels(monkeypatch):
    """Neither for each constant nor for each width of a number, and without a wrapper."""
    monkeypatch.setattr(
        room, "_FOLDER", None
    )  # otherwise a second run of this test compiles nothing

    @room.kernel
    def below(values, at, limit):
        return values[at] < limit

    @room.kernel
    def caller(values, narrow, wide):
        first = below(values, 0, 7) and below(values, 1, -7)
        return first, below(values, narrow[0], wide), below(values, wide, narrow[1])

    given = np.array([3, -9, 4]), np.array([2, 4], np.int32), 1
    assert caller(*given) == (True, False, True)
    (inner,) = below._inner.overloads.values()
    assert not [one for one in inner.library.get_defined_functions() if "cpython" in one.name]
    assert not below.overloads
    assert caller.py_func(*given) == (True, False, True)  # it can still be called from Python


STORED = """
import sys
import numpy as np
from shoal.kernels import kernel, on_compiling

@kernel
def filled(many, value):
    if value > 99:
        raise ValueError("too large")
    made = np.empty(many, np.int64)
    made[:] = value
    return made

@kernel
def total(many, value):
    return filled(many, value).sum() + filled(1, 1)[0]

compiled = []
with on_compiling(lambda: compiled.append(1)):
    for name in sys.argv[1].split(","):
        for given in ((3, 7), (-1, 7), (3, 100)):
            try:
                print(np.sum(globals()[name](*given)))
            except ValueError as error:
                print(error)
print(bool(compiled), "numba.np.arrayobj" in sys.modules)
"""


def test_stored_kernels_compute_raise_and_are_inlined_as_before(tmp_path):
    """A file has no form for other kernels, nor what compiled code does not use."""
    source = tmp_path / "stored.py"
    source.write_text(STORED)
    env = {**os.environ, "SHOAL_CACHE": str(tmp_path / "cache")}

    def run(names: str) -> list[str]:
        words = [sys.executable, str(source), names]
        return subprocess.run(
            words, env=env, capture_output=True, text=True, check=True
        ).stdout.splitlines()

    wrong = ["negative dimensions not allowed", "too large"]
    filled, total = ["21", *wrong], ["22", *wrong]
    assert run("filled") == [*filled, "True True"]
    assert run("filled") == [*filled, "False False"]
    assert run("filled,total") == [*filled, *total, "True True"]
    assert run("total,filled") == [*total, *filled, "False False"]


def test_a_rehearsal_on_several_threads_records_what_python_calls():
    """A kernel that ends in one thread does not end those of the others."""
    begun, ended = Barrier(2, timeout=60), Event()

    @room.kernel
    def inside(x):
        return x

    @room.kernel
    def first(x):
        begun.wait()
        return x

    @room.kernel
    def second(x):
        begun.wait()
        ended.wait(60)
        return inside(x)

    with room.rehearse(60) as rehearsal, ThreadPoolExecutor(2) as threads:
        slow = threads.submit(second, 2)
        assert threads.submit(first, 1).result() == 1
        ended.set()
        assert slow.result() == 2
    assert {job.kernel for job in rehearsal.jobs.values()} == {first, second}


SUM = """
import sys
from pathlib import Path
import numpy as np
from shoal import kernels
from shoal.kernels.tree_sums import sum_to_root
print(sum_to_root(np.array([0, 0, 1]), np.array([0.0, 1.0, 2.0])).tolist())
print(sum(sum_to_root.stats.cache_hits.values()))
if len(sys.argv) > 1:
    kernels.ship(Path(sys.argv[1]))
"""


def test_kernels_that_are_shipped_with_the_package_are_not_compiled(tmp_path):
    package, cache = tmp_path / "shoal", tmp_path / "cache"
    shutil.copytree(ROOT / "src/shoal", package, ignore=shutil.ignore_patterns("compiled"))
    folder = package / "kernels/compiled"
    folder.mkdir()
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "SHOAL_CACHE": str(cache)}

    def run(*words: object, **more: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", SUM, *words], env={**env, **more}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    cache.mkdir(mode=0o700)
    assert run(folder, NUMBA_CPU_NAME="generic") == ["[0.0, 1.0, 3.0]", "0"]
    assert len(list(folder.iterdir())) == 1
    shutil.rmtree(cache)
    cache.mkdir(mode=0o700)
    assert run() == ["[0.0, 1.0, 3.0]", "1"]
    assert not list(cache.rglob("*.code"))
    source = package / "kernels/tree_sums.py"  # shipped code of other sources is never run
    source.write_text(source.read_text().replace("+ weight[node]", "+ 2 * weight[node]"))
    assert run() == ["[0.0, 2.0, 6.0]", "0"]
