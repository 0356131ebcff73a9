"""The public line: what docs/stability.md lists is what users can import, and nothing else."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shoal

PAGE = (Path(__file__).parents[1] / "docs" / "stability.md").read_text(encoding="utf-8")
LISTS = dict(re.findall(r"^- (\w+): (.*?)[;.]$", PAGE, re.MULTILINE | re.DOTALL))


def listed(kind: str) -> list[str]:
    return re.findall(r"`(\w+)`", LISTS[kind])


def test_the_page_lists_exactly_the_public_names() -> None:
    names = [
        name for kind in ("functions", "classes", "errors", "modules") for name in listed(kind)
    ]
    assert sorted([*names, "__version__"]) == shoal.__all__ == dir(shoal)


# Libraries take seconds to load: a fork for each module has them, and nothing of shoal.
FRESH = """
import json, os, sys
import numba, numpy, pyarrow, pydantic
for name, inside in json.load(sys.stdin).items():
    child = os.fork()
    if child == 0:
        assert not any(known.partition(".")[0] == "shoal" for known in sys.modules)
        exec("import shoal; " + "; ".join(f"shoal.{name}.{one}" for one in inside))
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0, name
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are copied")
def test_a_public_module_is_reachable_in_a_fresh_process() -> None:
    inside = {name: importlib.import_module(f"shoal.{name}").__all__ for name in listed("modules")}
    assert inside
    assert all(inside.values())
    done = subprocess.run(
        [sys.executable, "-c", FRESH], input=json.dumps(inside), text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_functions_and_classes_are_what_the_page_calls_them() -> None:
    assert not any(isinstance(getattr(shoal, name), type) for name in listed("functions"))
    assert all(isinstance(getattr(shoal, name), type) for name in listed("classes"))
    assert all(issubclass(getattr(shoal, name), shoal.ShoalError) for name in listed("errors"))


def test_the_exit_statuses_of_the_page() -> None:
    from shoal.base import interrupt
    from shoal.cli import app

    statuses = re.findall(r"^\| ([\d, ]+) \|", PAGE, re.MULTILINE)
    assert statuses == ["0", "1", "2", "70", "130, 143"]
    assert (app.NOT_SATISFIED, app.BAD_INPUT, app.DEFECT) == (1, 2, 70)
    assert interrupt.status() == 130
