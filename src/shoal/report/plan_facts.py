"""The plan in words and as a file, without original values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa

from shoal import catalog
from shoal.base.wording import listed, many, number, short
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import MISSING_WORDS
from shoal.io.labels import NO_LABELS, table_labels
from shoal.losses import Loss
from shoal.plan import Plan
from shoal.table.roles import LINKS, Column

WITHHELD = "see the plan file"
KNOWS = "knows"  # the columns of an attacker


@dataclass(frozen=True)
class ColumnFact:
    """A column of the plan: its name, its role, how it is published, and its label in the file."""

    name: str
    role: str
    how: str
    label: str = ""
    importance: float = 1.0
    brief: str = "–"  # how it is published in a word or two, for the summary; "–": it is not


def columns(plan: Plan, frame: Any = None) -> list[ColumnFact]:
    """All columns of the plan, in words; published ones with the label that the frame has."""
    labels = table_labels(frame.schema) if isinstance(frame, pa.Table) else {}
    return [
        ColumnFact(
            name,
            column.role,
            _how(column) + _own_words(column),
            labels.get(name, NO_LABELS).column,
            column.importance,
            _brief(column),
        )
        for name, column in plan.columns.items()
    ]


def _own_words(column: Column) -> str:
    """The words for missing of this column alone, as far as they may be shown."""
    words = [f"“{short(word)}”" for word in missing_words(column.missing_values or [])]
    if not words or column.role in ("identifier", "drop"):
        return ""
    return f"; {listed(words)} {'means' if len(words) == 1 else 'mean'} missing"


def _how(column: Column) -> str:
    match column.role:
        case "identifier":
            return "not published"
        case "drop":
            return "dropped"
        case "person":
            if not column.publish:
                return "not published; used to count people"
            return "replaced by a random number"
        case "household":
            if not column.together:
                return "not published; used to count the households of a class"
            if not column.publish:
                return "not published; used to hide the members of a household together"
            return "replaced by a random number"
        case "weight" if not column.publish:
            return "not published; used to estimate the population"
        case "sensitive" | "other" | "weight":
            return _coded(column) or "unchanged"
    times = f"; importance {number(column.importance)}" if column.importance != 1 else ""
    at_most = column.at_most
    most = "" if at_most is None else f"; at most {at_most.words(column.hierarchy)}"
    if column.microaggregate is not None:
        return f"the {column.microaggregate} of each class" + times
    coded = f"{_coded(column)}, then " if column.codes_numbers else ""
    return coded + (column.hierarchy or Hierarchy.flat()).describe() + most + times


def _brief(column: Column) -> str:
    """How a column is published, in a word or two.

    >>> _brief(Column(role="other", top=90, round=5)), _brief(Column(role="sensitive"))
    ('rounded and cut off', 'unchanged')
    """
    if column.role in ("identifier", "drop") or not column.publish:
        return "–"
    if column.role in LINKS:
        return "random numbers"
    if column.derive is not None:
        return "exact"
    if column.microaggregate is not None:
        return f"{column.microaggregate} of each class"
    cut = column.top is not None or column.bottom is not None
    said = [*(["rounded"] if column.round is not None else []), *(["cut off"] if cut else [])]
    if column.role == "quasi":
        said.append("generalized")
    return listed(said) if said else "unchanged"


def _coded(column: Column) -> str:
    """How numbers are rounded and cut off; empty if they are not.

    >>> _coded(Column(role="other", top=90, round=5))
    'numbers rounded to multiples of 5, and at most 90'
    """
    said = []
    if column.round is not None:
        said.append(f"rounded to multiples of {number(column.round)}")
    if column.bottom is not None:
        said.append(f"at least {number(column.bottom)}")
    if column.top is not None:
        said.append(f"at most {number(column.top)}")
    return f"numbers {', and '.join(said)}" if said else ""


class _Shown(Hierarchy):
    """Replaces a hierarchy in a plan by what may be shown of it."""

    def __init__(self, hierarchy: Hierarchy, setting: Any) -> None:
        self._hierarchy = hierarchy
        self._setting = setting

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The tree of the hierarchy itself."""
        return self._hierarchy.tree(values)

    def width_unit(self) -> str:
        """That of the hierarchy itself."""
        return self._hierarchy.width_unit()

    def extent(self, label: str) -> Fraction | None:
        """That of the hierarchy itself."""
        return self._hierarchy.extent(label)

    def level_of(self, label: str) -> int | None:
        """That of the hierarchy itself."""
        return self._hierarchy.level_of(label)

    def setting(self) -> Any:
        """What a report may show."""
        return self._setting


@dataclass(frozen=True)
class PlanFile:
    """The plan as TOML, and what is withheld."""

    toml: str
    withheld: list[str]


def plan_file(plan: Plan) -> PlanFile:
    """The plan as TOML, without any value of the original.

    A hierarchy inside the plan lists all original values, also those that are not published. The
    order of t-closeness, the weights of a loss and the words for missing values may do so too.
    """
    withheld: list[str] = []
    shown = {name: _shown(name, column, withheld) for name, column in plan.columns.items()}
    missing = _shown_words(plan.missing_values, "words that mean missing", withheld)
    named = plan.algorithm  # a draft may leave it open
    public = plan.changed(columns=shown, missing_values=missing, algorithm=named)
    public.notes.clear()  # free text of the user
    public.remarks.clear()
    public.comments.clear()
    above, head, below = public.to_toml().partition("\n[columns]\n")
    if not head:
        above, head, below = "", "[columns]\n", public.to_toml().removeprefix("[columns]\n")
    listed, mark, settings = below.partition("\n\n")  # no value in TOML contains a line break
    lines = [_line(line, withheld) for line in settings.split("\n")]
    return PlanFile(above + head + listed + mark + "\n".join(lines), withheld)


def missing_words(words: list[str]) -> list[str]:
    """Words for missing values that may be shown."""
    return [word for word in words if word and _reveals_nothing(word)]


def _shown_words(words: list[str], what: str, withheld: list[str]) -> list[str]:
    """Words for missing values, without those that could be values of people."""
    shown = [word for word in words if _reveals_nothing(word)]
    if hidden := len(words) - len(shown):
        shown.append(f"… {many(hidden, 'word')}, {WITHHELD}")
        withheld.append(what)
    return shown


def _reveals_nothing(word: str) -> bool:
    return word in MISSING_WORDS or not any(character.isalnum() for character in word)


def _shown(name: str, column: Column, withheld: list[str]) -> Column:
    if column.missing_values is not None:
        words = _shown_words(column.missing_values, f"words that mean missing in {name}", withheld)
        column = column.changed(missing_values=words)
    hierarchy = column.hierarchy
    if hierarchy is None:
        return column
    if hierarchy.listed_values():
        withheld.append(f"the hierarchy of {name}")
    shown_as = _Shown(hierarchy, hierarchy.public_setting())
    return column.changed(hierarchy=shown_as)


def _line(line: str, withheld: list[str]) -> str:
    """A line of a model, an attacker, the algorithm or the loss; lists and mappings contain values.

    But what an attacker knows are names of columns, which the plan shows anyway.
    """
    if " = " not in line:
        return line
    ((key, value),) = tomllib.loads(line).items()
    if key == KNOWS or not isinstance(value, list | dict):
        return line
    withheld.append(key.replace("_", " "))
    return f'{key} = "… {many(_count(value), "value")}, {WITHHELD}"'


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return sum(_count(inner) for inner in value.values())
    return len(value) if isinstance(value, list) else 1


def loss_words() -> dict[str, str]:
    """What each metric of the catalog counts."""
    return {
        name: kind.description() for name, kind in catalog.losses.items() if issubclass(kind, Loss)
    }
