"""Codes shortened from the right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadHierarchy, brief, preview
from shoal.base.wording import many
from shoal.hierarchies.base import Hierarchy, Placed, Rows, Width
from shoal.hierarchies.sorting import sorted_order
from shoal.hierarchies.step_words import alternatives
from shoal.hierarchies.tree import Label, Tree
from shoal.hierarchies.values import ROOT, text

LONGEST = 1000  # characters of a code that is shortened one by one: each makes a level


class Prefixes(Hierarchy):
    """Shortens codes from the right: 47677, 4767*, 476**, …"""

    name = "prefixes"
    takes = (
        "how many characters to keep at each level, as in [3, 1], or true for one less per level"
    )
    options: ClassVar[dict[str, str]] = {
        "length": "characters of a code, 0 if codes differ in length; default: as in the column"
    }
    exact = "the whole code"

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
                "prefixes need decreasing numbers of characters to keep, as in [3, 1], from 1 to "
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
                f"prefixes of one character less per level are for codes of at most {LONGEST:,} "
                f"characters, and the column has longer ones, which start with {preview(long)}; "
                "say how many characters to keep, as in prefixes = [3, 1], or choose another "
                "hierarchy"
            )
        uneven = self._length == 0 or (
            self._length is None and any(len(code) != length for code in codes)
        )
        # If codes of another table may be longer, 123 is below 123* too.
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
        return Placed.in_order(levels, order)

    def setting(self) -> Any:
        """How a plan file writes it."""
        setting: dict[str, Any] = {"prefixes": True if self._keep is None else list(self._keep)}
        if self._length is not None:
            setting["length"] = self._length
        return setting

    def settled(self, tree: Tree | None = None) -> Hierarchy:
        """The same with the length of the codes in the column, 0 if they differ."""
        if self._length is not None or tree is None:
            return self
        lengths = {len(label) for label in tree.values}
        return Prefixes(self._keep, lengths.pop() if len(lengths) == 1 else 0) if lengths else self

    @classmethod
    def from_setting(cls, value: Any, folder: Path, **options: Any) -> Hierarchy:  # noqa: ARG003
        """The numbers of characters to keep, or true for one character at a time."""
        return cls(None if value is True else value, **options)

    def describe(self) -> str:
        """How values are published."""
        if self._keep is None:
            return "shortened from the right, character by character"
        return f"shortened to the first {alternatives(self._keep)} characters"

    def steps(self) -> list[Width]:
        """One per number of characters to keep, where they are given."""
        return [_width(kept) for kept in self._keep or ()]

    def step_of(self, label: str) -> Width | None:
        """How many characters are left of a code."""
        kept = label.rstrip(ROOT)
        return None if kept == label else _width(len(kept))


def _width(kept: int) -> Width:
    return Width(-kept, f"the first {many(kept, 'character')}")
