"""Writing data files of Stata, of version 118 (Stata 14 and later; `help dta`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.errors import BadFile, preview
from shoal.io.formats._numbers import is_whole
from shoal.io.formats._statistics_columns import Program, Variable, cut, number_of, variables
from shoal.io.formats._statistics_writing import column_labels, fix_time, frame_of, writer

MOST_LONG = 2_147_483_620  # larger integers of 32 bits are missing values
MOST_COLUMNS = 32_767
LONGEST_NAME = 32  # characters
LONGEST_VALUE_LABEL = 32_000  # bytes
TIME, NEVER = rb"<timestamp>\x11(.{17})</timestamp>", b"01 Jan 1960 00:00"
WORDS = (
    "_all _b byte _coef _cons double float if in int long _n _pi _pred _rc _skip strl using with"
).split()

STATA = Program(
    name="Stata",
    names=r"[^\W\d]\w*",
    allowed="begins with a letter or _, and has letters, digits and _",
    longest_name=LONGEST_NAME,
    reserved=frozenset(WORDS),
    longest_text=2045,
    longest_label=80 * 4,
    keeps_spaces=True,
    formats={"date": "%td", "moment": "%tc"},
    holds=lambda numbers: np.abs(numbers) < 2.0**1023,  # the missing value "."
)


def write_stata(table: pa.Table, path: Path) -> None:
    """Write a table to exactly this path."""
    if table.num_columns > MOST_COLUMNS:
        raise BadFile(
            f"cannot write {path}: Stata stores at most {MOST_COLUMNS:,} columns, and the table "
            f"has {table.num_columns:,}; write another format"
        )
    columns = [_shortened(column) for column in variables(table, STATA)]
    labels = {one.name: said for one in columns if (said := _labels(one))}
    _check_label_names(list(labels))
    writer("Stata").write_dta(
        frame_of(columns, whole=[one.name for one in columns if _is_long(one)]),
        path,
        version=14,
        column_labels=column_labels(columns),
        variable_value_labels=labels,
        missing_user_values={
            one.name: sorted(set(one.tags.tolist()) - {""}) for one in columns if len(one.tags)
        },
        variable_format={one.name: _format(one) for one in columns},
    )
    fix_time(path, TIME, NEVER)


def _shortened(column: Variable) -> Variable:
    """With a label that Stata can store, which counts its characters."""
    return column._replace(labels=column.labels._replace(column=column.labels.column[:80].rstrip()))


def _check_label_names(names: list[str]) -> None:
    """Raise an error if the labels of a column would have too long a name."""
    long = [name for i, name in enumerate(names) if len(f"{name}{i}") > LONGEST_NAME]
    if long:
        raise BadFile(
            f"columns with labels of values have names that are too long for Stata: {preview(long)}"
            "; their labels are stored under the name and a number, of up to "
            f"{LONGEST_NAME} characters. Shorten the names, or write another format"
        )


def _is_long(column: Variable) -> bool:
    """Whether it is stored as integers of 32 bits."""
    small = is_whole(column.there) and bool((np.abs(column.there) <= MOST_LONG).all())
    return column.kind == "date" or (column.kind == "number" and small)


def _format(column: Variable) -> str:
    if column.kind == "text":
        return f"%-{min(column.width, 244)}s"
    return STATA.formats.get(column.kind, "%10.0g")


def _labels(column: Variable) -> dict[Any, str]:
    """The labels of integers and of special missing values, by their letters; it has no other."""
    if column.kind != "number":
        return {}
    found: dict[Any, str] = {}
    letters = set(column.tags.tolist())
    for value, label in sorted(column.labels.values.items()):
        number, text = number_of(value), cut(label, LONGEST_VALUE_LABEL)
        if not text:
            continue
        if number is not None and number.is_integer() and abs(number) <= MOST_LONG:
            found[int(number)] = text
        elif value[1:] in letters:
            found[value[1:]] = text
    return found
