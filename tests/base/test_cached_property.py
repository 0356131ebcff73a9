"""Cached properties: threads never wait for each other because of one."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cached_property as locked
from threading import Barrier, BrokenBarrierError

import pytest

import shoal
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.base.threads import cached_property, in_threads, limited


def at_once(made: list[object], name: str) -> list[object]:
    """A property of several objects, each read by a thread of its own."""
    with limited(len(made)):
        return in_threads(lambda one: getattr(one, name), made)


def test_threads_compute_the_same_property_of_two_objects_at_the_same_time() -> None:
    both = Barrier(2, timeout=20)

    class Part:
        @cached_property
        def number(self) -> int:
            """Waits until the other thread is here as well."""
            return both.wait()

    assert sorted(at_once([Part(), Part()], "number")) == [0, 1]


def test_parts_are_prepared_at_the_same_time() -> None:
    """Parts that threads share: the tuples of one are sorted while those of another are."""
    both = Barrier(2, timeout=20)

    class Table:
        def tally(self) -> int:
            return both.wait()

    parts: list[object] = [PeelingProblem(Table(), 2, [], print) for _ in range(2)]  # type: ignore[arg-type]
    assert sorted(at_once(parts, "start")) == [0, 1]


def test_a_value_is_computed_once_and_kept() -> None:
    class Part:
        calls = 0

        @cached_property
        def number(self) -> int:
            """A number."""
            self.calls += 1
            return 7

    part = Part()
    assert (part.number, part.number, part.calls) == (7, 7, 1)
    assert vars(part)["number"] == 7
    assert isinstance(Part.number, cached_property)
    assert Part.number.__doc__ == "A number."


def test_an_error_is_not_kept() -> None:
    class Part:
        calls = 0

        @cached_property
        def number(self) -> int:
            self.calls += 1
            if self.calls == 1:
                raise BrokenBarrierError
            return self.calls

    part = Part()
    with pytest.raises(BrokenBarrierError):
        _ = part.number
    assert part.number == 2


def test_no_class_has_a_property_with_a_lock() -> None:
    """Python 3.11 has one lock for all objects of a class (`functools.cached_property`)."""
    for module in pkgutil.walk_packages(shoal.__path__, "shoal."):
        if module.name.startswith(("shoal.spark", "shoal.__main__")):
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and kind.__module__.startswith("shoal."):
                found = [
                    name
                    for name, one in vars(kind).items()
                    if isinstance(one, locked) and not isinstance(one, cached_property)
                ]
                assert not found, f"{kind.__module__}.{kind.__name__}: {found}"
