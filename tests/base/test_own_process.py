"""A process of the command line loads only what it needs; any other process is left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WORDS = ["anonymize", "people.csv", "--plan", "plan.toml", "--out", "release.csv"]
AS_A_LIBRARY = f"""
import sys
from shoal.cli.main import main
sys.argv = ["shoal", *{WORDS}]
try:
    main()
except SystemExit as error:
    assert not error.code
import pandas, pyarrow
print(pyarrow.array(pandas.Series([1.0, float("nan")])))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("age,sex\n" + "31,m\n32,m\n47,f\n48,f\n" * 3)
    (tmp_path / "plan.toml").write_text(
        '[columns]\nage = { role = "quasi" }\nsex = { role = "quasi" }\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    return tmp_path


def test_anonymize_loads_neither_pandas_nor_the_whole_compiler(folder: Path) -> None:
    for _ in range(2):  # the first run may compile
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "shoal", *WORDS],
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "pyarrow" in loaded
    # pandas itself is listed, as pyarrow tries to import it.
    assert loaded.isdisjoint({"pandas.core", "numba.cpython.unicode"})


def test_pandas_works_after_a_command_was_run_as_a_library(folder: Path) -> None:
    """pyarrow looks for pandas once, and would take it for missing ever after."""
    done = subprocess.run(
        [sys.executable, "-c", AS_A_LIBRARY], cwd=folder, capture_output=True, text=True
    )
    assert done.stdout.endswith("[\n  1,\n  null\n]\n"), done.stdout + done.stderr
