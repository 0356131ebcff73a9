"""Imports point one way, and the public names are what the package says they are."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import shoal

SOURCE = Path(shoal.__file__).parent

# From the ground up: a module may import from its own line or the lines above it, no further down.
ORDER = [
    ["errors", "version", "progress", "interrupt", "pace", "machine_code"],
    ["atomic", "compact"],
    ["kernels", "settings", "values", "stopwatch"],
    ["tree", "calendar", "alike"],
    ["free", "coding"],
    ["hierarchy", "files"],
    ["reachable"],
    ["frames", "histogram"],
    ["holdings"],
    ["columns", "datasets"],
    ["recoding", "classes", "distances", "covering"],
    ["losses", "models"],
    ["exact", "published"],
    ["linkage"],
    ["algorithms", "attacks", "risks", "row_counts", "if_known", "beliefs"],
    ["catalog", "bound"],
    ["plan", "quality", "exposure", "queries"],
    ["freeing"],
    ["verify", "utility", "choose", "findings"],
    ["explanation"],
    ["explain", "placing"],
    ["audit", "outcome"],
    ["report"],
    ["release", "publish", "fitted"],
    ["anonymize", "draft"],
    ["trial"],
    ["comparison"],
    ["compare"],
    ["reproduce", "screen"],
    ["screen_comparison"],
    ["demo"],
    ["cli", "__main__"],
]
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}


def imported(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("shoal"):
            parts = node.module.split(".")
            rooms |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            rooms |= {a.name.split(".")[1] for a in node.names if a.name.startswith("shoal.")}
    return rooms


def test_imports_point_one_way():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        wrong += [f"{room} imports {other}" for other in imported(path) if RANK[other] > RANK[room]]
    assert not wrong


def test_public_names_are_all_there():
    assert sorted(shoal.__all__) == shoal.__all__
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
    assert callable(shoal.anonymize)
    assert callable(shoal.audit)
    assert callable(shoal.compare)
    assert callable(shoal.draft)


def test_functions_win_over_the_files_of_their_name():
    """Importing a file first must not put the file in the place of the function."""
    code = (
        "import shoal.anonymize, shoal.audit, shoal.compare, shoal.draft, shoal;"
        "assert callable(shoal.anonymize) and callable(shoal.audit) and callable(shoal.draft)"
        " and callable(shoal.compare)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_is_light():
    """`import shoal` loads none of the heavy libraries; they come when they are needed."""
    code = (
        "import sys, shoal;"
        "heavy = {'numba', 'pyarrow', 'pandas', 'polars', 'altair', 'pydantic'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    code = code.replace("import sys, shoal", "import sys, shoal.cli")
    subprocess.run([sys.executable, "-c", code], check=True)
