"""Columns whose numbers or dates are written in a stated way, in canonical form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import pyarrow as pa

from shoal.hierarchies.base import Hierarchy
from shoal.io.frames import Frame
from shoal.io.raw_text.canonical import Canonical, SpelledColumn
from shoal.table.roles import Column, missing_words


def spelled_columns(
    columns: Mapping[str, Column], missing_values: Sequence[str]
) -> dict[str, SpelledColumn]:
    """The columns for which a plan states how they write numbers or dates."""
    return {
        name: SpelledColumn(
            column.spelling,
            frozenset(missing_words(columns, name, missing_values)),
            partial(_labels, column.hierarchy),
        )
        for name, column in columns.items()
        if column.spelling is not None
    }


def canonical(frame: Frame, columns: Mapping[str, SpelledColumn]) -> Frame:
    """The same table with numbers as 1234.5 and dates as 2024-05-17."""
    known = Canonical(columns)
    new = {name: known.column(name, frame.column(name)) for name in columns if name in frame.names}
    return frame.replaced(new) if new else frame


def guarded(frame: Frame, columns: Mapping[str, Column]) -> Frame:
    """A release in which no number could be read as another one by the same plan."""
    new = {}
    for name, column in columns.items():
        if name in frame.names and column.spelling is not None and column.spelling.thousands == ".":
            cells = frame.column(name)
            if not pa.types.is_string(cells.type) and not pa.types.is_large_string(cells.type):
                continue
            texts = {text for text in cells.unique().to_pylist() if text is not None}
            if any(column.spelling.guarded(text) != text for text in texts):
                guard = column.spelling.guarded
                new[name] = pa.array(
                    [None if text is None else guard(text) for text in cells.to_pylist()],
                    cells.type,
                )
    return frame.replaced(new) if new else frame


def _labels(hierarchy: Hierarchy | None) -> Collection[str]:
    """The values of a hierarchy that lists them; those of others have forms of their own."""
    if hierarchy is None or not hierarchy.listed_values():
        return frozenset() if hierarchy is None else hierarchy.open_labels()
    return {str(label) for label in hierarchy.tree().labels}
