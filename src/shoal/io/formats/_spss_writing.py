"""Writing data files of SPSS."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.io.formats._statistics_columns import Program, Variable, cut, number_of, variables
from shoal.io.formats._statistics_writing import column_labels, fix_time, frame_of, writer

# The largest floats are the missing value, and the ends of open ranges.
HIGHEST = np.finfo(np.float64).max
LOWEST = np.nextafter(-HIGHEST, 0)
MOST_CODES = 3  # values that a column can declare as missing one by one
SHORT = 8  # bytes of text whose values can be declared as missing
LONGEST_VALUE_LABEL = 120  # bytes
TIME, NEVER = rb"\A\$FL[23].{88}(.{17})", b"01 Jan 7000:00:00"
WORDS = "all and by eq ge gt le lt ne not or to with".split()

SPSS = Program(
    name="SPSS",
    names=r"[^\W\d_][\w.$#@]*(?<!\.)",
    allowed="begins with a letter, and has letters, digits and . _ $ # @",
    longest_name=64,
    reserved=frozenset(WORDS),
    longest_text=32_767,
    longest_label=255,
    keeps_spaces=False,
    formats={"date": "DATE11", "moment": "DATETIME23.3"},
    holds=lambda numbers: (numbers > LOWEST) & (numbers < HIGHEST),
)


def write_spss(table: pa.Table, path: Path, zipped: bool) -> None:
    """Write a table to exactly this path."""
    columns = variables(table, SPSS)
    writer("SPSS").write_sav(
        frame_of(columns),
        path,
        column_labels=column_labels(columns),
        compress=zipped,
        variable_value_labels={one.name: labels for one in columns if (labels := _labels(one))},
        missing_ranges={one.name: missing for one in columns if (missing := _missing(one))},
        variable_measure={one.name: one.labels.measure or "unknown" for one in columns},
        variable_format={one.name: _format(one) for one in columns},
    )
    fix_time(path, TIME, NEVER)


def _format(column: Variable) -> str:
    if column.kind == "text":
        return f"A{column.width}"
    whole = bool((column.there == np.trunc(column.there)).all())
    return SPSS.formats.get(column.kind, "F8.0" if whole else "F8.2")


def _labels(column: Variable) -> dict[Any, str]:
    """The labels of the values of numbers and text."""
    labels = {value: cut(text, LONGEST_VALUE_LABEL) for value, text in column.labels.values.items()}
    if column.kind == "text":
        return {value: text for value, text in sorted(labels.items()) if text}
    if column.kind != "number":
        return {}
    coded = {number_of(value): text for value, text in labels.items() if text}
    return {code: coded[code] for code in sorted(code for code in coded if code is not None)}


def _missing(column: Variable) -> list[Any]:
    """The values that are declared as missing: up to three, or a range of them and another one."""
    said = column.labels.missing
    if column.kind == "text":
        return sorted(said) if column.width <= SHORT and len(said) <= MOST_CODES else []
    codes = sorted(code for value in said if (code := number_of(value)) is not None)
    if column.kind != "number" or len(codes) <= MOST_CODES:
        return codes if column.kind == "number" else []
    for inside, alone in ((codes, []), (codes[:-1], codes[-1:]), (codes[1:], codes[:1])):
        there = column.there[(column.there >= inside[0]) & (column.there <= inside[-1])]
        if np.isin(there, inside).all():  # no other value is in the range
            return [{"lo": inside[0], "hi": inside[-1]}, *alone]
    return []
