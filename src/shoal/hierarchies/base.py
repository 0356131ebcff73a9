"""Hierarchies: how the values of one column may be published.

`Hierarchy` is what every builder shares. The builders are in the folder `builders`, one per file:
a new file there is all that a new kind of hierarchy needs.
"""

from __future__ import annotations

from abc import ABC, ABCMeta, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Longs
from shoal.base.errors import BadHierarchy, brief, did_you_mean
from shoal.base.folder_registry import FolderRegistry
from shoal.base.wording import many
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import ROOT, plain

Rows = list[list[Label]]
End = Fraction | date  # of a range
OpenEnd = End | None  # None: the range is open at this end
Ends = tuple[OpenEnd, OpenEnd]


class Placed(NamedTuple):
    """A tree, and the node of each value of a column."""

    tree: Tree
    nodes: Longs  # int64[values]

    @staticmethod
    def of(tree: Tree, leaves: Longs, order: Longs) -> Placed:
        """From leaves that are given in an order of the values."""
        nodes = np.empty(len(order), np.int64)
        nodes[order] = leaves
        return Placed(tree, nodes)

    @staticmethod
    def in_order(levels: list[pa.Array], order: Longs) -> Placed | None:
        """A tree whose rows are in an order of the values; None if arrow cannot build it."""
        made = Tree.from_sorted(levels, ROOT)
        return None if made is None else Placed.of(made[0], made[1][0], order)


class Width(NamedTuple):
    """The width of a published value: a number to sort by, and a name.

    Without a name it is a level of a tree, for which a report shows an example.
    """

    place: float
    words: str


AS_IT_WAS = "as it was"
SUPPRESSED_WIDTH = Width(inf, "suppressed")


class _Builders(ABCMeta):
    """Makes each builder, also one in a new file, a constructor: `Hierarchy.ranges(…)`."""

    if not TYPE_CHECKING:  # the known ones are methods, so that a type checker sees them

        def __getattr__(cls, name: str) -> Callable[..., Hierarchy]:
            if name.startswith("_") or cls.__bases__ != (ABC,) or name not in builders:
                raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
            return builders[name]


class Hierarchy(ABC, metaclass=_Builders):
    """How one column may be generalized: a given tree, or one that is built from the column.

    >>> Hierarchy.ranges([5, 10, 20]).tree([17, 42, 90]).labels[:5]
    ('*', '[0, 20)', '[10, 20)', '[15, 20)', '17')
    """

    name: ClassVar[str]  # the key in a plan file: hierarchy = { name = … }
    takes: ClassVar[str] = ""  # what the value of that key is, in words
    options: ClassVar[Mapping[str, str]] = {}  # further keys of the same mapping, in words
    is_free: ClassVar[bool] = False  # whether any range or set may be published
    has_ends: ClassVar[bool] = False  # whether values are numbers or dates, or ranges of them
    is_ordered: ClassVar[bool] = True  # whether the order of the leaves is meaningful
    exact: ClassVar[str] = AS_IT_WAS  # the name of values that are not generalized, in reports

    @classmethod
    def summary(cls) -> str:
        """What it does, in one line: the first line of the docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0]

    @abstractmethod
    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The tree for a column with these values: each once, without missing ones."""

    def placed(self, texts: pa.Array) -> Placed | None:  # noqa: ARG002
        """The tree for a column of these texts (each once), and the node of each, with arrow.

        None if that is not possible: then `tree` builds it value by value.
        """
        return None

    def knows(self, value: object) -> bool:  # noqa: ARG002
        """Whether `tree` accepts this value; by default every value."""
        return True

    def settled(self, tree: Tree | None = None) -> Hierarchy:  # noqa: ARG002
        """The same hierarchy, independent of its file and of the column.

        `tree` is the tree of that column. In every table a value then has the same labels.
        """
        return self

    def parts(self, label: str) -> list[Label]:  # noqa: ARG002
        """The ends or elements of a free range or set; empty if the label is neither."""
        return []

    def ends(self, label: str) -> Ends | None:  # noqa: ARG002
        """The ends of a published value as numbers or dates; None if it has none.

        A number has itself for both ends.
        """
        return None

    def labelled(self, low: OpenEnd, high: OpenEnd) -> str:
        """The published value with these ends; only for hierarchies that have them."""
        raise NotImplementedError

    def open_labels(self) -> Collection[str]:
        """The published values that lack an end."""
        return ()

    # What `at_most` limits

    def width_unit(self) -> str:
        """What a width in `at_most` counts; "": values have no width."""
        return ""

    def extent(self, label: str) -> Fraction | None:  # noqa: ARG002
        """How many units of width a published value spans; None: it has no bounds."""
        return None

    def level_of(self, label: str) -> int | None:
        """How many steps a published value is above original ones.

        None: that depends on the column, and the level in its tree counts.
        """
        steps = self.steps()
        if label == ROOT:
            return len(steps) + 1 if steps else None
        step = self.step_of(label)
        if step is None:
            return 0
        return sum(one.place <= step.place for one in steps) if steps else None

    def normal(self, label: str) -> str:
        """A form of a published value that is equal for all spellings of it: 17 and 17.0."""
        return plain(label)

    # In a plan file

    @classmethod
    def from_setting(cls, value: Any, folder: Path, **options: Any) -> Hierarchy:  # noqa: ARG003
        """The hierarchy that a plan file writes as { name = value, … }.

        `folder` is that of the plan file: paths are relative to it.
        """
        build: Callable[..., Hierarchy] = cls
        return build(value, **options)

    @abstractmethod
    def setting(self) -> Any:
        """How a plan file writes this hierarchy."""

    def setting_in(self, folder: Path | None) -> Any:  # noqa: ARG002
        """The same for a plan file in this folder; None: paths are not changed."""
        return self.setting()

    @property
    def file(self) -> Path | None:
        """The file that the hierarchy is read from, if there is one."""
        return None

    # In a report

    def describe(self) -> str:
        """How values are published, in words that follow "The column is published"."""
        return f"by the hierarchy {self.name}"

    def listed_values(self) -> int:
        """How many values of the column the setting lists: a report must not show them.

        By default everything but numbers counts, so that no new builder shows values by mistake.
        """
        setting = self.setting()
        return _texts(list(setting.values()) if isinstance(setting, Mapping) else setting)

    def public_setting(self) -> Any:
        """The setting for a report: without values of the column."""
        listed = self.listed_values()
        if not listed:
            return self.setting()
        return {self.name: f"… {many(listed, 'value')}, see the plan file"}

    def steps(self) -> list[Width]:
        """The widths of the hierarchy, whether or not they occur in a release."""
        return []

    def step_of(self, label: str) -> Width | None:  # noqa: ARG002
        """How wide a generalized value is; None for a value that is not generalized."""
        return None

    def width(self, label: str) -> Width:
        """How wide a published value is."""
        if label == ROOT:
            return SUPPRESSED_WIDTH
        return self.step_of(label) or Width(-inf, self.exact)

    # Builders

    @staticmethod
    def from_csv(path: str | Path, sep: str | None = None) -> Hierarchy:
        """A level table in a file: one row per value, which leads from it up to the root."""
        return _build("csv", path, sep)

    @staticmethod
    def from_levels(rows: Iterable[Sequence[object]]) -> Hierarchy:
        """A level table: rows that lead from a value up to the root.

        >>> Hierarchy.from_levels([["Cat", "Felid", "*"], ["Dog", "*"]]).tree().height
        3
        """
        return _build("levels", rows)

    @staticmethod
    def from_tree(nested: Mapping[Any, Any]) -> Hierarchy:
        """A nested mapping; leaves map to None, or are in a list.

        >>> Hierarchy.from_tree({"Mammal": {"Felid": ["Cat", "Lion"], "Dog": None}}).tree().labels
        ('Mammal', 'Felid', 'Cat', 'Lion', 'Dog')
        """
        return _build("tree", nested)

    @staticmethod
    def from_parents(parents: Mapping[Any, Any]) -> Hierarchy:
        """A mapping from each value to its parent; the root has no parent.

        >>> Hierarchy.from_parents({"Cat": "Felid", "Felid": "*", "Dog": "*"}).tree().labels
        ('*', 'Felid', 'Cat', 'Dog')
        """
        return _build("parents", parents)

    @staticmethod
    def ranges(widths: Sequence[float], start: float | None = None) -> Hierarchy:
        """Numbers in ranges of growing width; a range includes its lower end, not its upper."""
        return _build("ranges", widths, start)

    @staticmethod
    def borders(levels: Sequence[Any]) -> Hierarchy:
        """Numbers or dates cut at given borders, one list per level, from fine to coarse.

        >>> Hierarchy.borders([[18, 30, 65], [18, 65]]).tree([17, 18, 42, 90]).labels[:5]
        ('*', '<18', '17', '[18, 65)', '[18, 30)')
        """
        return _build("borders", levels)

    @staticmethod
    def prefixes(keep: Sequence[int] | None = None, length: int | None = None) -> Hierarchy:
        """Codes shortened from the right: 47677 → 4767* → … → *.

        `keep` is the numbers of characters to keep, for example [3, 1]; by default one character
        less per level. `length` is the number of characters of a code, 0 if codes differ; by
        default that of the codes in the column. It decides between the labels 476** and 476*.
        """
        return _build("prefixes", keep, length)

    @staticmethod
    def dates(steps: Sequence[str]) -> Hierarchy:
        """Dates in calendar steps, for example month, quarter, year, 5 years, decade."""
        return _build("dates", steps)

    @staticmethod
    def flat() -> Hierarchy:
        """Suppression only: a value is published unchanged or suppressed."""
        return _build("flat")

    @staticmethod
    def free_ranges(low: float | None = None, high: float | None = None) -> Hierarchy:
        """Numbers in any range, without fixed steps: [33, 34].

        `low` and `high` are the smallest and largest possible numbers; by default those that occur.
        """
        return _build("free_ranges", low, high)

    @staticmethod
    def free_sets(values: Sequence[object] | None = None) -> Hierarchy:
        """Categories in any set, without a taxonomy: {10070, 10073}.

        `values` are the possible values, in their order within sets; by default those that occur,
        sorted.
        """
        return _build("free_sets", values)

    @staticmethod
    def of(setting: Any, folder: Path | None = None) -> Hierarchy:
        """The hierarchy that a plan asks for: an object, a path, or a mapping."""
        if isinstance(setting, Hierarchy):
            return setting
        if isinstance(setting, str | Path):
            return _build("csv", Path(folder or ".", setting))
        if isinstance(setting, Mapping):
            return _from_setting(setting, Path(folder or "."))
        raise BadHierarchy(
            f"a hierarchy is a path, a mapping or a Hierarchy, not {type(setting).__name__}"
        )


builders = FolderRegistry("shoal.hierarchies.builders", Hierarchy)  # type: ignore[type-abstract]


def _build(name: str, *arguments: object) -> Hierarchy:
    build: Callable[..., Hierarchy] = builders[name]
    return build(*arguments)


def _from_setting(setting: Mapping[str, Any], folder: Path) -> Hierarchy:
    names = [name for name in setting if name in builders]
    if len(names) != 1:
        word = next(iter(setting), "")
        raise BadHierarchy(
            f"no hierarchy {brief(dict(setting))}{did_you_mean(word, builders) or ';'} "
            f"name one of {', '.join(builders)}, or give a path"
        )
    (name,) = names
    builder = builders[name]
    options = {word: value for word, value in setting.items() if word != name}
    for word in options:
        if word not in builder.options:
            raise BadHierarchy(f"the hierarchy {name!r} has no option {word!r}")
    try:
        return builder.from_setting(setting[name], folder, **options)
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise BadHierarchy(
            f"cannot build a hierarchy from {brief(dict(setting))}: {error}; see docs/choosing.md "
            "for the settings of each kind"
        ) from None


def _texts(value: Any) -> int:
    """The number of texts in a part of a setting."""
    if isinstance(value, Mapping):
        return sum(_texts(key) + _texts(inside) for key, inside in value.items())
    if isinstance(value, list | tuple):
        return sum(map(_texts, value))
    return 0 if isinstance(value, bool | int | float) else 1


# What builders share


def one_label(spots: Mapping[str, Hashable], normal: Callable[[str], str]) -> dict[str, str]:
    """The label of each value: as it is written, or its normal form if there are several spellings.

    `spots` are the numbers or dates of the values. Equal ones are one value, with one label.

    >>> one_label({"25": 25, "25.0": 25, "07": 7}, lambda value: str(int(float(value))))
    {'25': '25', '25.0': '25', '07': '07'}
    """
    if len(set(spots.values())) == len(spots):
        return {value: value for value in spots}
    often = Counter(spots.values())
    return {value: value if often[at] == 1 else normal(value) for value, at in spots.items()}


def check_true(name: str, given: object, hint: str = "") -> None:
    """Raise an error unless the value of a key without options is true."""
    if given is not True:
        raise BadHierarchy(f"{name} takes only true, got {given!r}{hint}")
