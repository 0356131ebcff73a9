"""Reading files of SPSS, Stata and SAS, by pyreadstat."""

from __future__ import annotations

import codecs
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile, BadTable
from shoal.io.arrow_tables import check_column_names
from shoal.io.format import not_installed
from shoal.io.formats._numbers import whole
from shoal.io.formats._spss_dictionary import check_dictionary
from shoal.io.labels import Labels, labelled
from shoal.io.text_writing import as_text

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".xpt": "read_xport",
    ".sas7bdat": "read_sas7bdat",
}
DAMAGED = "it is damaged, incomplete, or not of the format that its name says"
MILLISECONDS = {"days": 86_400_000, "seconds": 1000, "milliseconds": 1}
# By program, what its dates and moments are counted in, since when, and how their formats begin.
ORIGIN = {"SPSS": "1582-10-14", "Stata": "1960-01-01", "SAS": "1960-01-01"}
DATES = {
    "SPSS": ("seconds", r"(A|E|S|J)?DATE\d|(MOYR|QYR|WKYR)\d"),
    "Stata": ("days", r"%-?t?d"),
    "SAS": ("days", r"(DATE|DDMMYY|MMDDYY|YYMMDD|JULIAN|WEEKDATE|WORDDATE|MONYY|[EB]8601DA)"),
}
MOMENTS = {
    "SPSS": ("seconds", r"DATETIME|YMDHMS"),
    "Stata": ("milliseconds", r"%-?t[cC]"),
    "SAS": ("seconds", r"(DATETIME|DATEAMPM|[EB]8601DT)"),
}
LINE = 80  # bytes of a record of a transport file
MEASURES = ("nominal", "ordinal", "scale")
FIRST, LAST = (
    int(np.datetime64(moment, "ms").astype(np.int64))
    for moment in ("0001-01-01", "9999-12-31T23:59:59.999")
)


def read_statistics(path: Path, program: str, encoding: str | None) -> pa.Table:
    """Read a file; columns and values have their labels."""
    cells, about = _read(path, program, encoding)
    names = list(cells)
    check_column_names(names, str(path))
    rows = about.number_rows if path.suffix.lower() != ".xpt" else _transport_rows(path, cells)
    if any(len(column) != rows for column in cells.values()):
        raise BadFile(f"cannot read {path}: {DAMAGED}")
    columns = [
        _column(cells[name], about.original_variable_types.get(name) or "", name, path, program)
        for name in names
    ]
    table = pa.table(columns, names)
    return labelled(table, {name: _labels(table[name], name, about) for name in names})


def library(program: str) -> Any:
    """The library that reads the files of statistics programs."""
    try:
        import pyreadstat
    except ImportError:
        raise not_installed(f"reading files of {program}", "pyreadstat", "statistics") from None
    return pyreadstat


def _read(path: Path, program: str, encoding: str | None) -> tuple[dict[str, Any], Any]:
    pyreadstat = library(program)
    options: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    if program == "SPSS":
        options["user_missing"] = True
    read = getattr(pyreadstat, READERS[path.suffix.lower()])
    refused = pyreadstat.ReadstatError, pyreadstat.PyreadstatError
    try:
        if program == "SPSS":
            encoding = check_dictionary(path, encoding)
        if encoding and not _is_unicode_stata(path):
            options["encoding"] = _iconv_name(encoding)
        with warnings.catch_warnings(action="error"):  # it renames columns of the same name
            cells, about = read(str(path), **options)
    except (*refused, ValueError, ArithmeticError, LookupError, Warning):
        locked = _is_encrypted(path)
    else:
        return cells, about
    if locked:
        raise BadFile(f"cannot read {path}: it is protected by a password; save it without one")
    raise BadFile(f"cannot read {path}: {DAMAGED}")


def _is_unicode_stata(path: Path) -> bool:
    """Whether it is a file of Stata 14 or later, which is always in UTF-8."""
    with path.open("rb") as file:
        return re.match(rb"<stata_dta><header><release>1(1[89]|2\d)<", file.read(64)) is not None


def _iconv_name(encoding: str) -> str:
    """The name of an encoding as the library knows it: latin-1 is iso-8859-1."""
    name = codecs.lookup(encoding).name.removesuffix("-sig")
    return re.sub("^iso8859", "iso-8859", name).replace("_", "-")


def _transport_rows(path: Path, cells: dict[str, Any]) -> int:
    """The number of rows that a transport file should have; -1 if its end is missing.

    Version 8 states it. Version 5 does not: a file without its last records cannot be recognized,
    unless one of them is incomplete.
    """
    content = path.read_bytes()
    if len(content) % LINE:
        return -1
    stated = re.search(rb"OBSV8   HEADER RECORD!{7} *([0-9]+)", content)
    return int(stated[1]) if stated else len(next(iter(cells.values()), []))


def _is_encrypted(path: Path) -> bool:
    """Whether it is a file of SPSS with a password."""
    with path.open("rb") as file:
        return b"ENCRYPTEDSAV" in file.read(64)


def _column(values: Any, form: str, name: str, path: Path, program: str) -> pa.ChunkedArray:
    """A column with its type; empty text is missing, as these programs have no other."""
    try:
        column = pa.chunked_array([pa.array(values)])
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        raise BadTable(f"{path}: column {name!r} mixes numbers and text") from None
    if pa.types.is_null(column.type):  # text would be empty, not missing
        column = column.cast(pa.float64())
    if not pa.types.is_floating(column.type) and not pa.types.is_integer(column.type):
        return pc.if_else(pc.equal(column, ""), None, column)
    numbers = column.cast(pa.float64())
    for kinds, kind in ((MOMENTS, pa.timestamp("ms")), (DATES, pa.date32())):
        unit, pattern = kinds[program]
        if re.match(pattern, form):
            return _moments(numbers, unit, ORIGIN[program], f"{path}: column {name!r}", kind)
    return whole(numbers)


def _moments(
    numbers: pa.ChunkedArray, unit: str, origin: str, where: str, kind: pa.DataType
) -> pa.ChunkedArray:
    """Dates or moments from numbers."""
    since = int(np.datetime64(origin, "ms").astype(np.int64))
    with np.errstate(over="ignore"):
        plain = np.asarray(numbers.fill_null(0.0).to_numpy()) * MILLISECONDS[unit] + since
    if not ((plain >= FIRST) & (plain <= LAST)).all():
        raise BadTable(f"{where} has dates before the year 1 or after 9999; remove them")
    rounded = np.rint(plain).astype(np.int64)
    missing = numbers.is_null().to_numpy()
    found = pa.chunked_array([pa.array(rounded, pa.int64(), mask=np.asarray(missing))])
    moments = found.cast(pa.timestamp("ms"))
    return moments.cast(kind, safe=False) if pa.types.is_date(kind) else moments


def _labels(column: pa.ChunkedArray, name: str, about: Any) -> Labels:
    """The labels of a column, and which of its values the file declares as missing."""
    said = about.variable_value_labels.get(name) or {}
    values = {_as_text(value): str(label) for value, label in said.items()}
    ranges = (about.missing_ranges or {}).get(name) or []
    measure = (about.variable_measure or {}).get(name) or ""
    return Labels(
        (about.column_names_to_labels or {}).get(name) or "",
        {value: label for value, label in values.items() if label},
        _missing(column, ranges),
        measure if measure in MEASURES else "",
    )


def _as_text(value: Any) -> str:
    """A value as a text file would have it.

    >>> _as_text(1.0), _as_text(2.5), _as_text("x ")
    ('1', '2.5', 'x')
    """
    if isinstance(value, int | float):
        return str(as_text(pa.array([float(value)]), "")[0].as_py())
    return str(value).rstrip()


def _missing(column: pa.ChunkedArray, ranges: list[dict[str, Any]]) -> tuple[str, ...]:
    """The values of a column that are in these ranges, as text."""
    if not ranges:
        return ()
    found = [value for value in pc.unique(column).to_pylist() if value is not None]
    inside = [value for value in found if any(_within(value, one) for one in ranges)]
    return tuple(_as_text(value) for value in sorted(inside))


def _within(value: Any, one: dict[str, Any]) -> bool:
    low, high = one["lo"], one["hi"]
    if isinstance(value, str):
        return isinstance(low, str) and low.rstrip() == value
    if isinstance(value, int | float) and not isinstance(low, str):
        return bool((low is None or low <= value or math.isnan(low)) and value <= high)
    return False  # dates are not compared with codes
