"""Categories in any set, without a taxonomy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from fractions import Fraction
from pathlib import Path
from typing import Any

from shoal.base.errors import BadHierarchy, preview
from shoal.base.threads import cached_property
from shoal.hierarchies.base import Hierarchy, Width
from shoal.hierarchies.free_values import FreeTree, elements_of
from shoal.hierarchies.step_words import rounded_up
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import ROOT, number_of, plain, text


class FreeSets(Hierarchy):
    """Generalizes categories to any set, without a taxonomy: {10070, 10073}."""

    name = "free_sets"
    takes = "the values that can occur, or true for those in the column"
    is_free = True

    def __init__(self, values: Sequence[object] | None = None) -> None:
        if values is not None and not isinstance(values, list | tuple | Set):
            raise BadHierarchy(
                f"free sets need a list of values, or true for those that occur, got {values!r}"
            )
        self._values = None if values is None else list(dict.fromkeys(map(text, values)))

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The categories that occur, directly below the root."""
        found = {text(value) for value in values}
        labels = sorted(found - {ROOT}, key=_by_number)
        if self._values is not None:
            strange = [label for label in labels if not self._has(label)]
            if strange:
                raise BadHierarchy(
                    f"the free sets lack values of the column: {preview(strange)}; add them, or, "
                    "if they mean missing, list them under missing_values"
                )
            labels = [label for label in self._values if label != ROOT]
        if not labels:
            return Tree.from_rows([[ROOT]])
        braced = [label for label in labels if label[:1] == "{" and label[-1:] == "}"]
        if braced:
            raise BadHierarchy(
                f"the column contains {preview(braced)}, which look like sets already; give it "
                "another hierarchy, or write these values without braces"
            )
        return FreeTree.of_sets(labels, closed=ROOT not in found)

    def knows(self, value: object) -> bool:
        """Whether it is one of the possible values, and not a set."""
        label = text(value)
        if label[:1] == "{" and label[-1:] == "}":
            return False
        return label == ROOT or self._values is None or self._has(label)

    def _has(self, label: str) -> bool:
        """Whether a value is one of the possible ones, in any spelling."""
        return label in self._known or plain(label) in self._known

    @cached_property
    def _known(self) -> set[str]:
        values = self._values or ()
        return {*values, *map(plain, values)}

    def level_of(self, label: str) -> int:
        """1 for any set: there are no fixed steps."""
        return 1 if label == ROOT or elements_of(label) else 0

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"free_sets": True if self._values is None else list(self._values)}

    @classmethod
    def from_setting(cls, value: Any, folder: Path, **options: Any) -> Hierarchy:  # noqa: ARG003
        """The possible values, or true for those that occur."""
        return cls(None if value is True else value, **options)

    def parts(self, label: str) -> list[Label]:
        """The elements of a set."""
        return elements_of(label)

    def describe(self) -> str:
        """How values are published."""
        return "in sets of values as needed"

    def step_of(self, label: str) -> Width | None:
        """The size of a set, rounded up, as there may be as many sizes as classes."""
        elements = elements_of(label)
        return rounded_up(len(elements), "a set of") if elements else None


def _by_number(label: str) -> tuple[bool, Fraction, str]:
    """A sort key: numbers by size, before other categories."""
    number = number_of(label)
    return number is None, number or Fraction(0), label
