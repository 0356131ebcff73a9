"""Commands load only what they need."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from shoal.base import own_process

SCRIPT = """
import sys
from shoal.cli.main import main
sys.argv = ["shoal", "anonymize", "people.csv", "--plan", "plan.toml", "--out", "release.csv"]
try:
    main()
except SystemExit as error:
    assert not error.code
print("loaded:", [name for name in ("pandas", "numba.cpython.unicode") if name in sys.modules])
import pandas
print("there:", pandas.Series([1]).sum())
"""

GARBAGE = """
import gc, sys
seen = []
def search(phase, _):
    if "numba" in sys.modules and "shoal.flow.anonymize" not in sys.modules:
        seen.append(phase)
gc.callbacks.append(search)
from shoal.__main__ import main
sys.argv = ["shoal", "anonymize", "people.csv", "--plan", "plan.toml", "--out", "release.csv"]
try:
    main()
except SystemExit as error:
    assert not error.code
print("searched while loading:", bool(seen), "later:", gc.isenabled())
"""


@pytest.fixture
def table(tmp_path):
    """A folder with a small table and its plan."""
    (tmp_path / "people.csv").write_text("age,sex\n" + "31,m\n32,m\n47,f\n48,f\n" * 3)
    (tmp_path / "plan.toml").write_text(
        '[columns]\nage = { role = "quasi" }\nsex = { role = "quasi" }\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    return tmp_path


def test_modules_are_not_searched_for_garbage_while_they_are_loaded(table):
    done = subprocess.run(
        [sys.executable, "-c", GARBAGE], cwd=table, capture_output=True, text=True
    )
    expected = "searched while loading: False later: True"
    assert expected in done.stdout, done.stdout + done.stderr


def test_a_library_leaves_the_search_for_garbage_as_it_is():
    with own_process.loading():
        assert gc.isenabled()


def test_anonymize_loads_neither_pandas_nor_the_whole_compiler(table):
    for _ in range(2):  # the first run may compile
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], cwd=table, capture_output=True, text=True
        )
    assert "loaded: []\nthere: 1\n" in done.stdout, done.stdout + done.stderr
