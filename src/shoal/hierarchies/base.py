"""Hierarchies: how the values of one column may be published."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Longs
from shoal.base.errors import BadFile, BadHierarchy, brief, did_you_mean, preview
from shoal.base.settings import DIGITS
from shoal.hierarchies.calendar import STEPS, CalendarStep, as_date
from shoal.hierarchies.free_values import FreeTree
from shoal.hierarchies.sorting import sorted_order
from shoal.hierarchies.tree import Label, Labels, Tree, flat_tree, label_array
from shoal.hierarchies.values import (
    ROOT,
    is_long_number,
    number_of,
    plain,
    range_of,
    setting_number,
    shown,
    simple,
    text,
)
from shoal.io.files import check_source

Rows = list[list[Label]]
LONGEST = 1000  # characters of a code that is shortened one by one: each makes a level


def _no_numbers(kind: str, strange: list[object]) -> BadHierarchy:
    """What is wrong with values that ranges cannot hold, and what to do."""
    large = [value for value in strange if is_long_number(value)]
    if large:
        begin = [f"{text(value)[:20]}…" for value in large]
        return BadHierarchy(
            f"{kind} need numbers of at most {DIGITS} digits before the point, and the column "
            f"holds longer ones: {preview(begin)}; if they are codes, give the column another "
            "hierarchy, for example prefixes or flat"
        )
    hint = "; dates want the hierarchy dates" if isinstance(strange[0], date) else ""
    return BadHierarchy(
        f"{kind} need numbers, but the column holds {preview(strange)}{hint}; give the column "
        "another hierarchy, or, if they mean missing, list them under missing_values"
    )


class Placed(NamedTuple):
    """A tree, and the node of each value of a column."""

    tree: Tree
    nodes: Longs  # int64[values]


class Hierarchy(ABC):
    """How one column may be published: a tree of values, ready or to be built from the column.

    >>> Hierarchy.ranges([5, 10, 20]).tree([17, 42, 90]).labels[:5]
    ('*', '[0, 20)', '[10, 20)', '[15, 20)', '17')
    """

    @abstractmethod
    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The tree for a column with these values (each once; missing ones left out)."""

    def placed(self, texts: pa.Array) -> Placed | None:  # noqa: ARG002
        """The tree for a column of these texts (each once), and the node of each, with arrow.

        None where that is not possible: then `tree` builds it value by value.
        """
        return None

    @abstractmethod
    def setting(self) -> Any:
        """How a plan file writes this hierarchy."""

    def knows(self, value: object) -> bool:  # noqa: ARG002
        """Whether `tree` has a place for this value; by default there is one for every value."""
        return True

    def settled(self, tree: Tree | None = None) -> Hierarchy:  # noqa: ARG002
        """The same hierarchy without the file, or the column, that it was read from.

        `tree` is what it made of that column. The same value is then published under the same
        labels in every table.
        """
        return self

    @staticmethod
    def from_csv(path: str | Path, sep: str | None = None) -> Hierarchy:
        """A level table in a file: a value a row, then what it may become, up to the root."""
        return LevelFile(path, sep)

    @staticmethod
    def from_levels(rows: Iterable[Sequence[object]]) -> Hierarchy:
        """A level table: rows that lead from a value up to the root.

        >>> Hierarchy.from_levels([["Cat", "Felid", "*"], ["Dog", "*"]]).tree().height
        3
        """
        return Levels(rows)

    @staticmethod
    def from_tree(nested: Mapping[Any, Any]) -> Hierarchy:
        """A nested mapping; a leaf maps to nothing, or stands in a list.

        >>> Hierarchy.from_tree({"Mammal": {"Felid": ["Cat", "Lion"], "Dog": None}}).tree().labels
        ('Mammal', 'Felid', 'Cat', 'Lion', 'Dog')
        """
        return Nested(nested)

    @staticmethod
    def from_parents(parents: Mapping[Any, Any]) -> Hierarchy:
        """A mapping from each value to its parent; the root is the parent without one.

        >>> Hierarchy.from_parents({"Cat": "Felid", "Felid": "*", "Dog": "*"}).tree().labels
        ('*', 'Felid', 'Cat', 'Dog')
        """
        return Parents(parents)

    @staticmethod
    def ranges(widths: Sequence[float], start: float | None = None) -> Hierarchy:
        """Numbers in ranges of growing width; a range holds its lower end and not its upper."""
        return Ranges(widths, start)

    @staticmethod
    def prefixes(keep: Sequence[int] | None = None, length: int | None = None) -> Hierarchy:
        """Codes shortened from the right: 47677 → 4767* → … → *.

        `keep` names the numbers of characters to keep, for example [3, 1]; without it one
        character goes at a time. `length` is how many characters a code has, 0 if they differ;
        without it the column tells. It decides how the codes are written: 476** or 476*.
        """
        return Prefixes(keep, length)

    @staticmethod
    def dates(steps: Sequence[str]) -> Hierarchy:
        """Dates in calendar steps, for example month, quarter, year, 5 years, decade."""
        return Dates(steps)

    @staticmethod
    def flat() -> Hierarchy:
        """Suppression only: a value is published as it is, or not at all."""
        return Flat()

    @staticmethod
    def free_ranges(low: float | None = None, high: float | None = None) -> Hierarchy:
        """Numbers in any range that is needed, without steps: [33, 34].

        `low` and `high` are the ends of what could occur; without them, of what does occur.
        """
        return FreeRanges(low, high)

    @staticmethod
    def free_sets(values: Sequence[object] | None = None) -> Hierarchy:
        """Categories in any set that is needed, without a taxonomy: {10070, 10073}.

        `values` are those that could occur, in the order in which a set names them; without them
        those that do occur, sorted.
        """
        return FreeSets(values)

    @staticmethod
    def of(setting: Any, folder: Path | None = None) -> Hierarchy:
        """The hierarchy that a plan asks for: an object, a path, or a mapping."""
        if isinstance(setting, Hierarchy):
            return setting
        if isinstance(setting, str | Path):
            return LevelFile(Path(folder or ".", setting))
        if isinstance(setting, Mapping):
            return _from_setting(setting, Path(folder or "."))
        raise BadHierarchy(
            f"a hierarchy is a path, a mapping or a Hierarchy, not {type(setting).__name__}"
        )


def _in_order(levels: list[pa.Array], order: Longs) -> Placed | None:
    """A tree whose rows are in an order of the values, and the node of each value."""
    made = Tree.from_sorted(levels, ROOT)
    return None if made is None else _placed(made[0], made[1][0], order)


def _placed(tree: Tree, leaves: Longs, order: Longs) -> Placed:
    nodes = np.empty(len(order), np.int64)
    nodes[order] = leaves
    return Placed(tree, nodes)


class Given(Hierarchy):
    """A tree that does not depend on the column."""

    _tree: Tree

    def tree(self, values: Iterable[object] = ()) -> Tree:  # noqa: ARG002
        """The tree as it was given."""
        return self._tree

    def placed(self, texts: pa.Array) -> Placed | None:
        """The tree as it was given, where it has every value as it is written."""
        found = pc.index_in(texts, label_array(self._tree.labels).cast(texts.type))
        if found.null_count:
            return None
        return Placed(self._tree, found.to_numpy(zero_copy_only=False).astype(np.int64))

    def knows(self, value: object) -> bool:
        """Whether the tree has this value, however it is written."""
        label = text(value)
        return self._tree.node(label) >= 0 or plain(label) in self._alike

    @cached_property
    def _alike(self) -> set[str]:
        return {plain(str(label)) for label in self._tree.labels}


class Levels(Given):
    """A level table."""

    def __init__(self, rows: Iterable[Sequence[object]]) -> None:
        self._rows = _tidy(rows)
        self._tree = Tree.from_rows(self._rows)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"levels": [["" if label is None else label for label in r] for r in self._rows]}


class LevelFile(Given):
    """A level table in a file, read when it is first needed."""

    def __init__(self, path: str | Path, sep: str | None = None) -> None:
        self.path = Path(path)
        self._sep = sep
        self._rows = _tidy(_read_rows(self.path, sep))
        try:
            self._tree = Tree.from_rows(self._rows)
        except BadHierarchy as error:
            raise BadHierarchy(f"{self.path}: {error}") from None

    def settled(self, tree: Tree | None = None) -> Hierarchy:  # noqa: ARG002
        """The content of the file."""
        return Levels(self._rows)

    def setting(self) -> Any:
        """How a plan file writes it."""
        if self._sep is None:
            return str(self.path)
        return {"csv": str(self.path), "sep": self._sep}


class Nested(Given):
    """A nested mapping."""

    def __init__(self, nested: Mapping[Any, Any]) -> None:
        if not nested:
            raise BadHierarchy("the hierarchy is empty; give the root and what is below it")
        self._nested = nested if len(nested) == 1 else {ROOT: nested}
        rows: Rows = []
        try:
            _walk(self._nested, [], rows)
        except RecursionError:
            raise BadHierarchy(
                "the nested hierarchy is too deep; give each value its parent instead (parents)"
            ) from None
        self._tree = Tree.from_rows(rows)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"tree": _plain_tree(self._nested)}


class Parents(Given):
    """A mapping from each value to its parent."""

    def __init__(self, parents: Mapping[Any, Any]) -> None:
        self._parents = {text(child): text(above) for child, above in parents.items()}
        if not self._parents:
            raise BadHierarchy("the hierarchy is empty; give each value its parent")
        inner = set(self._parents.values())
        rows: Rows = []
        for leaf in self._parents:
            if leaf in inner:
                continue
            row: list[Label] = [leaf]
            while (above := self._parents.get(str(row[-1]))) is not None:
                if above in row:
                    raise BadHierarchy(f"the values {preview(row)} go round in a cycle; break it")
                row.append(above)
            rows.append(row)
        lost = set(self._parents) - {label for row in rows for label in row}
        if lost:
            raise BadHierarchy(f"the values {preview(sorted(lost))} go round in a cycle; break it")
        self._tree = Tree.from_rows(rows)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"parents": dict(self._parents)}


class Ranges(Hierarchy):
    """Numbers in ranges of growing width."""

    def __init__(self, widths: Sequence[float], start: float | None = None) -> None:
        if isinstance(widths, int | float):
            widths = [widths]
        self._widths = [setting_number(width) for width in widths]
        self._start = setting_number(0 if start is None else start)
        self._given_start = start
        if not self._widths or any(width <= 0 for width in self._widths):
            raise BadHierarchy(f"ranges need widths above 0, got {brief(list(widths))}")
        for narrow, wide in zip(self._widths, self._widths[1:], strict=False):
            if wide <= narrow:
                raise BadHierarchy(
                    f"write the widths from small to large, not {brief(list(widths))}"
                )
            if wide % narrow != 0:
                raise BadHierarchy(
                    f"each width of ranges must be a multiple of the one before, but "
                    f"{shown(wide)} is no multiple of {shown(narrow)}"
                )

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The ranges around the numbers that occur, and around ranges of a table made before."""
        spans = self._spans(values)
        if not spans:
            return Tree.from_rows([[ROOT]])
        low, high = min(span[0] for span in spans.values()), max(span[1] for span in spans.values())
        whole = all(end.denominator == 1 for span in spans.values() for end in span)
        counts: dict[Label, int] = {}
        rows: Rows = []
        for label, (bottom, top) in sorted(spans.items(), key=lambda item: (item[1], item[0])):
            row: list[Label] = [label]
            for width in self._widths:
                start = self._start + (bottom - self._start) // width * width
                name = f"[{shown(start)}, {shown(start + width)})"
                if top > start + width or (top - bottom == width and name != label):
                    continue  # a range that this step does not hold
                row.append(name)
                if whole:
                    # Whole numbers that could occur count, whether or not they do.
                    end = min(int(high), ceil(start + width) - 1)
                    counts[name] = max(1, end - max(int(low), ceil(start)) + 1)
            rows.append([*row, ROOT])
        if whole:
            counts[ROOT] = int(high) - int(low) + 1
        return Tree.from_rows(rows, counts)

    def placed(self, texts: pa.Array) -> Placed | None:
        """The same for whole numbers of up to 15 digits that are all different."""
        steps = [*self._widths, self._start]
        if not len(texts) or any(one.denominator != 1 or abs(one) > 10**15 for one in steps):
            return None
        if not pc.all(pc.match_substring_regex(texts, "^-?[0-9]{1,15}$")).as_py():
            return None
        numbers = texts.cast(pa.int64()).to_numpy()
        order = np.argsort(numbers, kind="stable")
        rising = numbers[order]
        if (rising[1:] == rising[:-1]).any():
            return None
        levels, counts = [texts.take(pa.array(order))], []
        nothing, begin, comma, end = (pa.scalar(one, texts.type) for one in ("", "[", ", ", ")"))
        for width in map(int, self._widths):
            low = int(self._start) + (rising - int(self._start)) // width * width
            ends = (pa.array(one).cast(texts.type) for one in (low, low + width))
            first, last = ends
            levels.append(pc.binary_join_element_wise(begin, first, comma, last, end, nothing))
            # Whole numbers that could occur count, whether or not they do.
            most = np.minimum(rising[-1], low + width - 1) - np.maximum(rising[0], low) + 1
            counts.append(most[np.append(True, low[1:] != low[:-1])])
        made = Tree.from_sorted(levels, ROOT)
        if made is None:
            return None
        tree, found = made
        for nodes, count in zip(found[1:], counts, strict=True):
            tree.leaves[nodes] = count
        tree.leaves[0] = rising[-1] - rising[0] + 1
        return _placed(tree, found[0], order)

    def _spans(self, values: Iterable[object]) -> dict[str, tuple[Fraction, Fraction]]:
        """What each value covers: a number itself, a range from its lower end to its upper."""
        spans: dict[str, tuple[Fraction, Fraction]] = {}
        strange: list[object] = []
        for value in values:
            number = number_of(value)
            if number is not None:
                spans[text(value)] = (number, number)
            elif (span := range_of(value)) is not None:
                spans[text(value)] = span
            elif value != ROOT:
                strange.append(value)
        if strange:
            raise _no_numbers("ranges", strange)
        return spans

    def knows(self, value: object) -> bool:
        """Whether it is a number, or a range of a table made before."""
        return number_of(value) is not None or range_of(value) is not None or value == ROOT

    def setting(self) -> Any:
        """How a plan file writes it."""
        setting: dict[str, Any] = {"ranges": [simple(width) for width in self._widths]}
        if self._given_start is not None:
            setting["start"] = simple(self._start)
        return setting


class Prefixes(Hierarchy):
    """Codes shortened from the right."""

    def __init__(self, keep: Sequence[int] | None = None, length: int | None = None) -> None:
        wrong = keep is not None and (
            not isinstance(keep, list | tuple | range)
            or not keep
            or len(keep) > LONGEST
            or any(not isinstance(kept, int) or not 1 <= kept <= LONGEST for kept in keep)
            or sorted(set(keep), reverse=True) != list(keep)
        )
        if wrong:
            raise BadHierarchy(
                "prefixes need falling numbers of characters to keep, as in [3, 1], from 1 to "
                f"{LONGEST:,}; got {brief(keep)}"
            )
        if length is not None and (
            not isinstance(length, int) or isinstance(length, bool) or length < 0
        ):
            raise BadHierarchy(
                f"prefixes need a length of 0 or more characters, got {brief(length)}"
            )
        if length is not None and length > LONGEST:
            raise BadHierarchy(
                f"prefixes are for codes of at most {LONGEST:,} characters, got length = "
                f"{brief(length)}; give the number of characters that a code of this column has"
            )
        self._keep = keep
        self._length = length

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The prefixes of the codes that occur."""
        codes = sorted({text(value) for value in values})
        if not codes:
            return Tree.from_rows([[ROOT]])
        length = self._length or max(map(len, codes))
        if self._keep is None and length > LONGEST:
            long = [f"{code[:20]}…" for code in codes if len(code) > LONGEST]
            raise BadHierarchy(
                f"prefixes that lose one character at a time are for codes of at most {LONGEST:,} "
                f"characters, and the column holds longer ones, which begin {preview(long)}; say "
                "how many characters to keep, as in prefixes = [3, 1], or choose another hierarchy"
            )
        uneven = self._length == 0 or (
            self._length is None and any(len(code) != length for code in codes)
        )
        # Where codes of another table may be longer, 123 is below 123* too.
        longest = length + (self._length == 0)
        keep = self._keep if self._keep is not None else range(longest - 1, 0, -1)
        rows: Rows = []
        for code in codes:
            if code == ROOT:
                continue
            row: list[Label] = [code]
            for kept in keep:
                if uneven or (kept < len(code) and len(code) == length):
                    row.append(code[:kept] + ROOT * (1 if uneven else length - kept))
            rows.append([*row, ROOT])
        return Tree.from_rows(rows or [[ROOT]])

    def placed(self, texts: pa.Array) -> Placed | None:
        """The same for codes of one length without stars."""
        lengths = pc.min_max(pc.utf8_length(texts)).as_py()
        length = lengths["max"]
        if not length or lengths["min"] != length or self._length not in (None, length):
            return None
        if self._keep is None and length > LONGEST:
            return None
        if pc.any(pc.match_substring(texts, ROOT)).as_py():
            return None
        keep = self._keep if self._keep is not None else range(length - 1, 0, -1)
        order = sorted_order(texts)
        codes = texts.take(pa.array(order))
        levels = [codes]
        for kept in keep:
            if kept < length:
                stars = pa.scalar(ROOT * (length - kept), texts.type)
                nothing = pa.scalar("", texts.type)
                start = pc.utf8_slice_codeunits(codes, 0, kept)
                levels.append(pc.binary_join_element_wise(start, stars, nothing))
        return _in_order(levels, order)

    def setting(self) -> Any:
        """How a plan file writes it."""
        setting: dict[str, Any] = {"prefixes": True if self._keep is None else list(self._keep)}
        if self._length is not None:
            setting["length"] = self._length
        return setting

    def settled(self, tree: Tree | None = None) -> Hierarchy:
        """The same with the length that the codes of the column have, 0 where they differ."""
        if self._length is not None or tree is None:
            return self
        lengths = {len(label) for label in tree.labels[1:] if label is not None}
        return Prefixes(self._keep, lengths.pop() if len(lengths) == 1 else 0) if lengths else self


class Dates(Hierarchy):
    """Dates in calendar steps."""

    def __init__(self, steps: Sequence[str]) -> None:
        if isinstance(steps, str):
            steps = [steps]
        self._steps = [CalendarStep.of(step) for step in steps]
        if not self._steps:
            raise BadHierarchy(f"dates need at least one step of {', '.join(STEPS)}")
        for fine, coarse in zip(self._steps, self._steps[1:], strict=False):
            if not coarse.holds(fine):
                raise BadHierarchy(
                    f"the step {coarse.name!r} does not hold whole steps of {fine.name!r}; "
                    "order the steps from fine to coarse"
                )

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The calendar steps around the dates that occur."""
        moments: dict[str, datetime] = {}
        bad: list[object] = []
        for value in values:
            moment = as_date(value)
            if moment is None:
                bad.append(value)
            else:
                moments[text(value)] = moment
        if bad:
            raise BadHierarchy(
                f"{preview(bad)}: no dates; write them as 2024-05-17 or 2024-05-17 13:45, "
                "or give the column another hierarchy"
            )
        if not moments:
            return Tree.from_rows([[ROOT]])
        whole_days = all(
            moment == datetime.combine(moment, datetime.min.time()) for moment in moments.values()
        )
        low, high = min(moments.values()).toordinal(), max(moments.values()).toordinal()
        counts: dict[Label, int] = {}
        rows: Rows = []
        for label, moment in sorted(moments.items(), key=lambda item: item[1]):
            row: list[Label] = [label]
            for step in self._steps:
                name, bottom, top = step.around(moment)
                row.append(name)
                counts[name] = min(high, top - 1) - max(low, bottom) + 1
            rows.append([*row, ROOT])
        counts[ROOT] = high - low + 1
        return Tree.from_rows(rows, counts if whole_days else None)

    def knows(self, value: object) -> bool:
        """Whether it is a date."""
        return as_date(value) is not None

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"dates": [step.name for step in self._steps]}


class Flat(Hierarchy):
    """Suppression only."""

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """Every value that occurs, straight under the root."""
        labels = sorted({text(value) for value in values} - {ROOT})
        return Tree.from_rows([[label, ROOT] for label in labels] or [[ROOT]])

    def placed(self, texts: pa.Array) -> Placed | None:
        """The same for values without a star."""
        order = sorted_order(texts)
        count = len(texts)
        if not count or pc.any(pc.equal(texts, ROOT)).as_py():
            return None
        labels = Labels(
            pa.concat_arrays([texts, pa.array([ROOT], texts.type)]),
            pa.array(np.append(count, order)),
        )
        nodes = np.empty(count, np.int64)
        nodes[order] = np.arange(1, count + 1)
        return Placed(Tree(labels, *flat_tree(count + 1)), nodes)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"flat": True}


class FreeRanges(Hierarchy):
    """Any range of numbers."""

    def __init__(self, low: float | None = None, high: float | None = None) -> None:
        self._low = None if low is None else setting_number(low)
        self._high = None if high is None else setting_number(high)
        if self._low is not None and self._high is not None and self._low >= self._high:
            raise BadHierarchy(f"free ranges need low below high, got {low} and {high}")

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The numbers that occur, straight under the root."""
        spots: dict[str, Fraction] = {}
        strange: list[object] = []
        whole = True
        for value in values:
            number = number_of(value)
            if number is not None:
                spots[text(value)] = number
            elif value == ROOT:
                whole = False  # who knows what it stands for
            else:
                strange.append(value)
        if strange:
            raise _no_numbers("free ranges", strange)
        if not spots:
            return Tree.from_rows([[ROOT]])
        order = sorted((number, label) for label, number in spots.items())
        low, high = self._low, self._high
        ends = (order[0][0] if low is None else low, order[-1][0] if high is None else high)
        outside = [label for number, label in order if not ends[0] <= number <= ends[1]]
        if outside:
            raise BadHierarchy(
                f"free ranges from {shown(ends[0])} to {shown(ends[1])} do not hold the values "
                f"{preview(outside)} of the column; widen low and high"
            )
        return FreeTree.of_ranges(order, ends, whole)

    def knows(self, value: object) -> bool:
        """Whether it is a number between low and high."""
        number = number_of(value)
        if number is None:
            return value == ROOT
        low, high = self._low, self._high
        return (low is None or low <= number) and (high is None or number <= high)

    def setting(self) -> Any:
        """How a plan file writes it."""
        setting: dict[str, Any] = {"free_ranges": True}
        if self._low is not None:
            setting["low"] = simple(self._low)
        if self._high is not None:
            setting["high"] = simple(self._high)
        return setting


class FreeSets(Hierarchy):
    """Any set of categories."""

    def __init__(self, values: Sequence[object] | None = None) -> None:
        if values is not None and not isinstance(values, list | tuple | Set):
            raise BadHierarchy(
                f"free sets need a list of values, or true for those that occur, got {values!r}"
            )
        self._values = None if values is None else list(dict.fromkeys(map(text, values)))

    def tree(self, values: Iterable[object] = ()) -> Tree:
        """The categories that occur, straight under the root."""
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
                f"the column holds {preview(braced)}, which look like sets already; give it "
                "another hierarchy, or write these values without braces"
            )
        return FreeTree.of_sets(labels, closed=ROOT not in found)

    def knows(self, value: object) -> bool:
        """Whether it is among the values that could occur, and no set."""
        label = text(value)
        if label[:1] == "{" and label[-1:] == "}":
            return False
        return label == ROOT or self._values is None or self._has(label)

    def _has(self, label: str) -> bool:
        """Whether a value is among those that could occur, however it is written."""
        return label in self._known or plain(label) in self._known

    @cached_property
    def _known(self) -> set[str]:
        values = self._values or ()
        return {*values, *map(plain, values)}

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"free_sets": True if self._values is None else list(self._values)}


def _by_number(label: str) -> tuple[bool, Fraction, str]:
    """Numbers by their size, before other categories."""
    number = number_of(label)
    return number is None, number or Fraction(0), label


ENDS = "; for the ends write free_ranges = true, low = 1, high = 10"


def _if_true(given: object, hierarchy: Hierarchy, hint: str = "") -> Hierarchy:
    """The hierarchy, where a word that takes no value is said to be true."""
    if given is not True:
        (kind,) = (word for word in hierarchy.setting() if word in _Settings.makers)
        raise BadHierarchy(f"{kind} takes only true, got {given!r}{hint}")
    return hierarchy


class _Settings:
    """The words of a plan file, and what they build."""

    makers: ClassVar[dict[str, tuple[set[str], Any]]] = {
        "csv": ({"sep"}, lambda s, **o: Hierarchy.from_csv(s, **o)),
        "levels": (set(), Hierarchy.from_levels),
        "tree": (set(), Hierarchy.from_tree),
        "parents": (set(), Hierarchy.from_parents),
        "ranges": ({"start"}, Hierarchy.ranges),
        "prefixes": (
            {"length"},
            lambda s, **o: Hierarchy.prefixes(None if s is True else s, **o),
        ),
        "dates": (set(), Hierarchy.dates),
        "flat": (set(), lambda s: _if_true(s, Hierarchy.flat())),
        "free_ranges": (
            {"low", "high"},
            lambda s, **o: _if_true(s, Hierarchy.free_ranges(**o), ENDS),
        ),
        "free_sets": (set(), lambda s: Hierarchy.free_sets(None if s is True else s)),
    }


def _from_setting(setting: Mapping[str, Any], folder: Path) -> Hierarchy:
    kinds = [kind for kind in setting if kind in _Settings.makers]
    if len(kinds) != 1:
        word = next(iter(setting), "")
        raise BadHierarchy(
            f"no hierarchy {brief(dict(setting))}{did_you_mean(word, _Settings.makers) or ';'} "
            f"name one of {', '.join(_Settings.makers)}, or give a path"
        )
    (kind,) = kinds
    options = {word: value for word, value in setting.items() if word != kind}
    allowed, make = _Settings.makers[kind]
    for word in options:
        if word not in allowed:
            raise BadHierarchy(f"the hierarchy {kind!r} has no option {word!r}")
    try:
        value = folder / setting[kind] if kind == "csv" else setting[kind]
        hierarchy: Hierarchy = make(value, **options)
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise BadHierarchy(
            f"no hierarchy can be made of {brief(dict(setting))}: {error}; see docs/choosing.md "
            "for what each kind takes"
        ) from None
    return hierarchy


def _tidy(rows: Iterable[Sequence[object]]) -> Rows:
    """Rows of labels: blanks stripped, empty fields at the end or between dropped."""
    tidy: Rows = []
    for row in rows:
        labels = [text(field).strip() if field is not None else "" for field in row]
        if not any(labels):
            continue
        tidy.append([labels[0] or None, *(label for label in labels[1:] if label)])
    return tidy


def _read_rows(path: Path, sep: str | None) -> list[list[str]]:
    check_source(path, "the hierarchy ", "; paths are relative to the plan file")
    opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
            content = lines.read()
    except FileNotFoundError:
        raise BadFile(f"no hierarchy file {path}; paths are relative to the plan file") from None
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not UTF-8 text; save the hierarchy as UTF-8") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise BadFile(f"cannot read the hierarchy {path}: {type(error).__name__}") from None
    if sep is None:
        head = content[:10_000]
        sep = max(";\t|,", key=head.count)
    try:
        return list(csv.reader(io.StringIO(content, newline=""), delimiter=sep))
    except csv.Error:
        raise BadFile(
            f"cannot read the hierarchy {path}: a field is longer than 131,072 characters; is a "
            "quote not closed?"
        ) from None


def _walk(nested: Any, above: list[Label], rows: Rows) -> None:
    """Collect the rows of a nested mapping, from each leaf up to the root."""
    items: Iterable[tuple[Any, Any]]
    if isinstance(nested, Mapping):
        items = nested.items()
    elif isinstance(nested, Iterable) and not isinstance(nested, str):
        items = ((leaf, None) for leaf in nested)
    else:
        items = ((nested, None),)
    for label, inside in items:
        path = [text(label), *above]
        if inside is None or (not isinstance(inside, int | float) and not inside):
            rows.append(path)
        else:
            _walk(inside, path, rows)


def _plain_tree(nested: Any) -> Any:
    """A nested mapping as a plan file can hold it: leaves in lists, or with an empty list."""
    if isinstance(nested, Mapping):
        if not any(nested.values()):
            return [text(label) for label in nested]
        return {
            text(label): _plain_tree(inside) if inside else [] for label, inside in nested.items()
        }
    return [text(nested)] if isinstance(nested, str) else [text(leaf) for leaf in nested]
