"""Rooms: imports point one way between them, none is a circle, and each has its rule."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import shoal
from tests.sources import statements, tree

SOURCE = Path(shoal.__file__).parent
# From the ground up: a room may use the rooms above it in this list. Rooms on one line do not
# know each other.
ORDER = """
base
kernels
io
databases
hierarchies
table, datasets, populations
losses, models
attacks
algorithms
catalog
plan
measures
report
engines
flow
comparing
papers
studio
cli
""".split("\n")[1:-1]
RANK = {room: rank for rank, line in enumerate(ORDER) for room in line.split(", ")}
# They only hand over names that live in the rooms.
PUBLIC = {"bound", "comparison", "distances", "errors", "spark", "__init__", "__main__"}
ENTRIES = (
    "algorithms",
    "attacks",
    "databases.kinds",
    "hierarchies.builders",
    "io.formats",
    "losses",
    "models",
)
MOST = 16  # files of a room that are no entries


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@cache
def imports(module: str) -> list[str]:
    """The modules that a module imports, also inside functions; not those for types alone."""
    found = []
    for node in statements(tree(modules()[module])):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "shoal":
            assert node.module is not None
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                found.append(inside if inside in modules() else node.module)
        elif isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.split(".")[0] == "shoal"]
    return found


INSIDE = sorted(name for name in modules() if room(name) not in PUBLIC)


def test_every_room_has_its_place() -> None:
    assert {room(name) for name in INSIDE} == set(RANK)


def test_imports_point_one_way() -> None:
    wrong = [
        f"{name} imports {other}"
        for name in INSIDE
        for other in imports(name)
        if room(other) != room(name)
        and (room(other) in PUBLIC or RANK[room(other)] >= RANK[room(name)])
    ]
    assert not wrong


def test_the_docs_draw_every_room_in_this_order():
    text = (SOURCE.parents[1] / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    drawing = text.split("```")[1]
    words = [word.removesuffix(".py") for word in drawing.split()]
    first = list(dict.fromkeys(word for word in words if word in RANK))
    assert set(first) == set(RANK)
    assert [RANK[room] for room in first] == sorted(RANK[room] for room in first)


def test_no_circles() -> None:
    """Not even by imports inside functions."""
    try:
        TopologicalSorter({name: set(imports(name)) - {name} for name in modules()}).prepare()
    except CycleError as error:
        pytest.fail(f"these import each other: {' → '.join(error.args[1])}")


@pytest.mark.parametrize("kind", ENTRIES)
def test_entries_do_not_import_entries(kind: str) -> None:
    entries = {
        name
        for name in modules()
        if name.startswith(f"shoal.{kind}.")
        and not name.removeprefix(f"shoal.{kind}.").startswith("_")
    }
    borrowed = [
        f"{name} imports {other}" for name in sorted(entries) for other in imports(name)
        if other in entries
    ]  # fmt: skip
    assert not borrowed


def packages() -> list[str]:
    return sorted(name for name, path in modules().items() if path.name == "__init__.py")


def rule(package: str) -> str:
    return ast.get_docstring(tree(modules()[package])) or ""


@pytest.mark.parametrize("package", packages())
def test_every_room_has_its_rule(package: str) -> None:
    assert rule(package).split("\n")[0].rstrip().endswith("."), f"{package} has no rule"
    if package not in ("shoal", "shoal.datasets"):
        top = ".".join(package.split(".")[:2])
        assert "nternal" in rule(package) + rule(top), f"{package} does not say it is internal"


@pytest.mark.parametrize("package", packages())
def test_rooms_are_small(package: str) -> None:
    files = [
        name for name, path in modules().items()
        if name.rpartition(".")[0] == package and path.name != "__init__.py"
    ]  # fmt: skip
    if package.removeprefix("shoal.") in ENTRIES:
        files = [name for name in files if name.rpartition(".")[2].startswith("_")]
    assert len(files) <= MOST


def test_other_names_are_not_public() -> None:
    assert sorted(shoal.__all__) == shoal.__all__
    with pytest.raises(AttributeError, match="no attribute 'kernels_'"):
        _ = shoal.kernels_


def test_public_names_are_reachable_in_a_fresh_process() -> None:
    """Whatever is imported first, the verbs are functions and the public modules are there."""
    code = (
        "import shoal.flow.anonymize, shoal.flow.audit, shoal.comparing.compare, shoal;"
        "assert all(map(callable, [shoal.anonymize, shoal.audit, shoal.compare, shoal.draft]));"
        "assert shoal.datasets.adult and shoal.bound.lower_bound and shoal.distances.kl;"
        "assert shoal.errors.BadPlan is shoal.BadPlan and shoal.plan.Plan is shoal.Plan"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["shoal", "shoal.cli.main"])
def test_import_is_light(name: str) -> None:
    """None of the heavy libraries is loaded before it is needed."""
    code = (
        f"import sys, {name};"
        "heavy = {'numba', 'pyarrow', 'pandas', 'polars', 'vl_convert', 'pydantic'};"
        "heavy &= set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_command_loads_only_what_it_needs(tmp_path: Path) -> None:
    """Neither pandas, which pyarrow would import, nor the other algorithms and models."""
    (tmp_path / "people.csv").write_text("age,sex\n31,f\n38,f\n52,m\n57,m\n")
    (tmp_path / "plan.toml").write_text(
        '[columns]\nage = { role = "quasi", hierarchy = { ranges = [10] } }\nsex = "quasi"\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    code = (
        "import sys\n"
        "from shoal.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(sorted({'pandas', 'vl_convert', 'jinja2', 'shoal.algorithms.gaa',"
        " 'shoal.models.t_closeness', 'shoal.algorithms.peel'} & set(sys.modules)))"
    )
    words = ["anonymize", "people.csv", "--plan", "plan.toml", "--out", "release.csv"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, check=True, capture_output=True
    )
    assert done.stdout.splitlines()[-1] == b"['shoal.algorithms.peel']"
