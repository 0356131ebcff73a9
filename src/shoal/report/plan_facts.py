"""What was asked for: the plan in words, and as a file, without values that stay at home."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from shoal.base.wording import many
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import MISSING_WORDS
from shoal.plan import Plan
from shoal.table.roles import Column

WITHHELD = "see the plan file"


@dataclass(frozen=True)
class ColumnFact:
    """A column of the plan: its name, its role, and how it may be published."""

    name: str
    role: str
    how: str


def columns(plan: Plan) -> list[ColumnFact]:
    """All columns of the plan, in words."""
    return [ColumnFact(name, column.role, _how(column)) for name, column in plan.columns.items()]


def _how(column: Column) -> str:
    match column.role:
        case "identifier":
            return "not published"
        case "person":
            if not column.publish:
                return "not published; people were counted by it"
            return "replaced by a number that is drawn at random"
        case "sensitive" | "other":
            return "as it is"
    return (column.hierarchy or Hierarchy.flat()).describe()


class _Shown(Hierarchy):
    """Stands in a plan for a hierarchy of which only this may be shown."""

    def __init__(self, hierarchy: Hierarchy, setting: Any) -> None:
        self._hierarchy = hierarchy
        self._setting = setting

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The tree of the hierarchy itself."""
        return self._hierarchy.tree(values)

    def setting(self) -> Any:
        """What a report may show."""
        return self._setting


@dataclass(frozen=True)
class PlanFile:
    """The plan as TOML, and what had to be left out of it."""

    toml: str
    withheld: list[str]


def plan_file(plan: Plan) -> PlanFile:
    """The plan as TOML, in which no value of the original stands.

    A hierarchy within the plan lists all original values, also those that are not published;
    so may the order of t-closeness, weights of the user's own, and words for missing values.
    """
    withheld: list[str] = []
    shown = {name: _shown(name, column, withheld) for name, column in plan.columns.items()}
    missing = [word for word in plan.missing_values if _tells_nothing(word)]
    if hidden := len(plan.missing_values) - len(missing):
        missing.append(f"… {many(hidden, 'word')}, {WITHHELD}")
        withheld.append("words that mean missing")
    named = plan.algorithm  # as a draft leaves it open
    public = plan.changed(columns=shown, missing_values=missing, algorithm=named)
    public.notes.clear()  # free text of the user
    public.remarks.clear()
    above, head, below = public.to_toml().partition("\n[columns]\n")
    if not head:
        above, head, below = "", "[columns]\n", public.to_toml().removeprefix("[columns]\n")
    listed, mark, settings = below.partition("\n\n")  # no value in TOML holds a line break
    lines = [_line(line, withheld) for line in settings.split("\n")]
    return PlanFile(above + head + listed + mark + "\n".join(lines), withheld)


def missing_words(words: list[str]) -> list[str]:
    """Words for missing values that may be shown."""
    return [word for word in words if word and _tells_nothing(word)]


def _tells_nothing(word: str) -> bool:
    return word in MISSING_WORDS or not any(character.isalnum() for character in word)


def _shown(name: str, column: Column, withheld: list[str]) -> Column:
    hierarchy = column.hierarchy
    if hierarchy is None:
        return column
    if hierarchy.listed_values():
        withheld.append(f"the hierarchy of {name}")
    shown_as = _Shown(hierarchy, hierarchy.public_setting())
    return Column(role=column.role, hierarchy=shown_as, publish=column.publish)


def _line(line: str, withheld: list[str]) -> str:
    """A line of a model, the algorithm or the loss; lists and mappings hold values."""
    if " = " not in line:
        return line
    ((key, value),) = tomllib.loads(line).items()
    if not isinstance(value, list | dict):
        return line
    withheld.append(key.replace("_", " "))
    return f'{key} = "… {many(_count(value), "value")}, {WITHHELD}"'


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return sum(_count(inner) for inner in value.values())
    return len(value) if isinstance(value, list) else 1
