"""Tests mirror the rooms: the tests of src/shoal/<room> are in tests/<room>."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.conftest import LONG

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "shoal"
# Laws over the whole catalog, naive twins, and long runs belong to no single room.
OWN = {"laws", "naive", "slow"}


@cache
def modules() -> dict[str, set[Path]]:
    """The folders that have a module or a package of a name, by that name without underscores."""
    found: dict[str, set[Path]] = {}
    for path in SOURCE.rglob("*.py"):
        inside = path.relative_to(SOURCE)
        package = inside.name == "__init__.py"
        name = inside.parent.name if package else inside.stem
        found.setdefault(name.strip("_"), set()).add(inside.parent)
        if package:
            found[name.strip("_")].add(inside.parent.parent)
    return found


def files() -> list[Path]:
    tests = [path.relative_to(TESTS) for path in TESTS.rglob("test_*.py")]
    return sorted(path for path in tests if path.parts[0] not in OWN)


def test_every_room_has_tests() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    tested = {path.parts[0] for path in files() if len(path.parts) > 1}
    assert tested == rooms, "each room of src/shoal has a folder in tests, and no other has one"


@pytest.mark.parametrize("path", files(), ids=str)
def test_tests_of_a_module_are_in_its_room(path: Path) -> None:
    homes = modules().get(path.stem.removeprefix("test_"))
    if homes is not None:
        places = " or ".join(sorted(f"tests/{home}" for home in homes))
        assert path.parent in homes, f"move tests/{path} to {places}, or name it differently"


@pytest.mark.parametrize("name", LONG)
def test_long_tests_are_there(name: str) -> None:
    """One that was renamed would become part of `make test` again, and nobody would notice."""
    path, _, test = name.partition("::")
    assert (TESTS / path).exists()
    assert not test or f"def {test}(" in (TESTS / path).read_text(encoding="utf-8")
