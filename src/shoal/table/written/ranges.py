"""Ranges in files: a label, two columns with its bounds, or its midpoint.

Bounds can be read back as labels: a release with bounds is verified and audited as the release with
labels. Midpoints cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadTable
from shoal.hierarchies.base import Ends, Hierarchy, OpenEnd
from shoal.hierarchies.values import ROOT, number_of, text
from shoal.io.frames import Frame
from shoal.io.labels import NO_LABELS, Labels, labels_of, with_labels
from shoal.io.native.packed_texts import plain_schema
from shoal.table.coded_columns import coded
from shoal.table.coding import Values
from shoal.table.roles import Column, columns_with_role, empty_words, missing_words

LOW, HIGH, NOTE = "_low", "_high", "_note"  # endings of the names of the columns with bounds
LARGEST = 2**63


def range_columns(columns: Mapping[str, Column]) -> list[str]:
    """The quasi-identifiers that are published as numbers or dates, or as ranges of them."""
    names = columns_with_role(columns, "quasi")
    return [
        name
        for name in names
        if (h := columns[name].hierarchy) is not None
        and h.has_ends
        and columns[name].microaggregate is None  # its numbers are no ranges
    ]


def bound_names(name: str) -> list[str]:
    """The columns that a column with bounds may become."""
    return [name + ending for ending in (LOW, HIGH, NOTE)]


def with_bounds(frame: Frame, columns: Mapping[str, Column], words: Sequence[str]) -> Frame:
    """The frame with a column for each end of ranges; an unchanged value is both.

    A cell that is neither a value nor a range, as it is suppressed or missing, has no ends. If some
    of them are missing, a third column states which: `*`, a word for missing, or nothing. A range
    that is open at one end has the other one only.
    """
    replaced = {}
    for name in range_columns(columns):
        if name not in frame.names:
            continue
        codes, labels, ends = _ends(frame, name, columns, words)
        low, high = (_array([end and end[i] for end in ends], name).take(codes) for i in (0, 1))
        new = {name + LOW: low, name + HIGH: high}
        notes = [None if end else label for label, end in zip(labels, ends, strict=True)]
        used = np.unique(codes.to_numpy(zero_copy_only=False))
        if any(ends[i] is None and labels[i] != ROOT for i in used.tolist()):
            new[name + NOTE] = pa.array(notes, pa.string()).take(codes)
        replaced[name] = new
    return _replaced(frame, replaced)


def with_midpoints(frame: Frame, columns: Mapping[str, Column], words: Sequence[str]) -> Frame:
    """The frame with the number or date in the middle of each range; others are empty."""
    replaced = {}
    for name in range_columns(columns):
        if name in frame.names:
            codes, _, ends = _ends(frame, name, columns, words)
            middle = [end and _middle(*end) for end in ends]
            replaced[name] = {name: _array(middle, name, exact=False).take(codes)}
    return _replaced(frame, replaced)


def from_bounds(frame: Frame, columns: Mapping[str, Column]) -> Frame:
    """The frame with labels for columns with bounds; others stay as they are."""
    for name in columns_with_role(columns, "quasi"):
        low, high, note = bound_names(name)
        both = [low in frame.names, high in frame.names]
        if name in frame.names or low in columns or high in columns or not all(both):
            continue
        # Without a hierarchy in the plan it was `auto` that chose free ranges.
        hierarchy = columns[name].hierarchy or Hierarchy.free_ranges()
        labels = _labels(frame, name, hierarchy)
        new = {name: pa.array(labels, pa.string())}
        frame = _replaced(frame, {low: new, high: {}} | ({note: {}} if note in frame.names else {}))
    return frame


def _ends(
    frame: Frame, name: str, columns: Mapping[str, Column], words: Sequence[str]
) -> tuple[pa.Array, list[str | None], list[Ends | None]]:
    """The place of each cell among the labels, the labels, and their ends; None: no ends."""
    hierarchy = columns[name].hierarchy
    assert hierarchy is not None
    missing = missing_words(columns, name, words)
    indices, values = coded(frame, name, empty_words(missing))
    labels = [text(value) for value in values]
    ends: list[Ends | None] = []
    for label in labels:
        found = None
        if label != ROOT and label not in missing:
            found = hierarchy.ends(label)
            again = None if found is None else hierarchy.labelled(*found)
            if again is None or again != hierarchy.normal(label):
                raise BadTable(
                    f"column {name!r} publishes {label!r}, whose ends cannot be written as numbers "
                    "or dates; set ranges = 'label' under [write]"
                )
            if again in missing:
                raise BadTable(
                    f"column {name!r} publishes {label!r}, which as a number or date would be "
                    f"{again!r}, a word for missing values of the plan; write both in the same "
                    "way, or set ranges = 'label' under [write]"
                )
        ends.append(found)
    places = np.where(indices < 0, len(labels), indices)
    return pa.array(places), [*labels, None], [*ends, None]


def _array(ends: Sequence[OpenEnd], name: str, exact: bool = True) -> pa.Array:
    """Ends as integers, floating-point numbers or dates."""
    there = [end for end in ends if end is not None]
    if there and isinstance(there[0], date):
        return pa.array(ends, pa.date32())
    exacts = [end if isinstance(end, Fraction) else None for end in ends]
    if all(e is None or (e.denominator == 1 and abs(e) < LARGEST) for e in exacts):
        return pa.array([None if e is None else int(e) for e in exacts], pa.int64())
    numbers = [None if e is None else float(e) for e in exacts]
    for end, number in zip(exacts, numbers, strict=True):
        if exact and number is not None and number_of(number) != end:
            raise BadTable(
                f"column {name!r} has ranges with an end that a floating-point number cannot "
                "represent; set ranges = 'label' under [write]"
            )
    return pa.array(numbers, pa.float64())


def _middle(low: OpenEnd, high: OpenEnd) -> OpenEnd:
    if low is None or high is None:
        return None  # of an open range
    if isinstance(low, date):
        assert isinstance(high, date)
        return low + timedelta(days=(high - low).days // 2)
    assert isinstance(high, Fraction)
    return (low + high) / 2


def _labels(frame: Frame, name: str, hierarchy: Hierarchy) -> list[str | None]:
    """The label of each cell of a column that is written as bounds."""
    low, high, note = bound_names(name)
    (first, lows), (last, highs) = coded(frame, low, [""]), coded(frame, high, [""])
    if not hierarchy.open_labels() and ((first < 0) != (last < 0)).any():
        row = int(np.argmax((first < 0) != (last < 0))) + 1
        raise BadTable(f"row {row} has only one of {low!r} and {high!r}")
    marks, notes = np.zeros(len(first), np.int32), Values(pa.array([ROOT]))
    if note in frame.names:
        marks, notes = coded(frame, note, [""])
    found: dict[tuple[int, int], str] = {}
    labels: list[str | None] = []
    for i, j, k in zip(first.tolist(), last.tolist(), marks.tolist(), strict=True):
        if i < 0 and j < 0:
            labels.append(None if k < 0 else text(notes[k]))
            continue
        if (i, j) not in found:
            one, two = None if i < 0 else lows[i], None if j < 0 else highs[j]
            found[i, j] = _label(name, hierarchy, one, two)
        labels.append(found[i, j])
    return labels


def _label(name: str, hierarchy: Hierarchy, low: Any, high: Any) -> str:
    found = [None if end is None else hierarchy.ends(text(end)) for end in (low, high)]
    ends = [None if one is None else one[0] for one in found]
    if any(end is not None and one is None for end, one in zip((low, high), ends, strict=True)):
        raise BadTable(
            f"the columns {name + LOW!r} and {name + HIGH!r} have cells that are no bounds of "
            f"{name!r}; use the plan that the release was made with"
        )
    return hierarchy.labelled(ends[0], ends[1])


def _replaced(frame: Frame, replaced: Mapping[str, Mapping[str, pa.Array]]) -> Frame:
    """The frame as arrow, with some columns replaced by others, or by none."""
    if not replaced:
        return frame
    fields: list[pa.Field] = []
    columns: list[Any] = []
    schema = plain_schema(frame.native.schema) if frame.kind == "arrow" else None
    for name in frame.names:
        if name in replaced:
            for new, values in replaced[name].items():
                about = NO_LABELS if schema is None else labels_of(schema.field(name))
                field = pa.field(new, values.type)
                fields.append(with_labels(field, Labels(about.column)))
                columns.append(values)
        else:
            column = frame.exact(name)
            field = pa.field(name, column.type)
            if schema is not None:
                field = field.with_metadata(schema.field(name).metadata)
            fields.append(field)
            columns.append(column)
    notes = None if schema is None else schema.metadata
    return Frame(pa.table(columns, pa.schema(fields, notes)))
