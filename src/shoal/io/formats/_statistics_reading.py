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
from shoal.io.format import DAMAGED, not_installed
from shoal.io.formats._numbers import whole
from shoal.io.formats._sas_transport import special_missing, stated_rows
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
# A row takes at least one byte, and in files of SPSS and Stata so does each of its values; deflate
# makes of a byte at most this many.
DEFLATED = {".zsav": 1032}
VALUES_TAKE_BYTES = ("SPSS", "Stata")
# By program: its first day in milliseconds since 1970, what dates and moments are counted in, and
# how their formats begin.
ORIGIN = {
    name: int(np.datetime64(day, "ms").astype(np.int64))
    for name, day in (("SPSS", "1582-10-14"), ("Stata", "1960-01-01"), ("SAS", "1960-01-01"))
}
DAY, SECOND = 86_400_000, 1000
UNITS = {
    "SPSS": {"date": SECOND, "moment": SECOND},
    "Stata": {"date": DAY, "moment": 1},
    "SAS": {"date": DAY, "moment": SECOND},
}
FORMATS = {
    "SPSS": {"moment": r"DATETIME|YMDHMS", "date": r"(A|E|S|J)?DATE\d|(MOYR|QYR|WKYR)\d"},
    "Stata": {"moment": r"%-?t[cC]", "date": r"%-?t?d"},
    "SAS": {
        "moment": r"DATETIME|DATEAMPM|[EB]8601DT",
        "date": r"DATE|DDMMYY|MMDDYY|YYMMDD|JULIAN|WEEKDATE|WORDDATE|MONYY|[EB]8601DA",
    },
}
TYPES = {"date": pa.date32(), "moment": pa.timestamp("ms")}
# Special missing values, as text: .a in Stata, .A and ._ in SAS.
TAGS = {"Stata": r"\.[a-z]", "SAS": r"\.[A-Z_]"}
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
    rows, tags = about.number_rows, {}
    if path.suffix.lower() == ".xpt":
        rows = stated_rows(path, len(next(iter(cells.values()), [])))
    if any(len(column) != rows for column in cells.values()):
        raise BadFile(f"cannot read {path}: {DAMAGED}")
    if path.suffix.lower() == ".xpt":
        tags = special_missing(path, about, cells)
    columns = [_column(cells[name], name, about, path, program, tags.get(name)) for name in names]
    table = pa.table(columns, names)
    return labelled(table, {name: _labels(table[name], name, about, program) for name in names})


def first_statistics(path: Path, program: str, encoding: str | None, most: int) -> pa.Table:
    """The first rows of a file, without its labels."""
    cells, about = _read(path, program, encoding, most)
    check_column_names(list(cells), str(path))
    columns = [_column(cells[name], name, about, path, program, None) for name in cells]
    return pa.table(columns, list(cells))


def library(program: str) -> Any:
    """The library that reads the files of statistics programs."""
    try:
        import pyreadstat
    except ImportError:
        raise not_installed(f"reading files of {program}", "pyreadstat", "statistics") from None
    return pyreadstat


def _read(
    path: Path, program: str, encoding: str | None, most: int = 0
) -> tuple[dict[str, Any], Any]:
    """The cells of all rows, or of the first ones."""
    pyreadstat = library(program)
    options: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    options["row_limit"] = most
    if path.suffix.lower() != ".xpt":  # codes that are declared as missing, and .a to .z
        options["user_missing"] = True
    read = getattr(pyreadstat, READERS[path.suffix.lower()])
    refused = pyreadstat.ReadstatError, pyreadstat.PyreadstatError
    try:
        if program == "SPSS":
            encoding = check_dictionary(path, encoding)
        if encoding and not _is_unicode_stata(path):
            options["encoding"] = _iconv_name(encoding)
        with warnings.catch_warnings(action="error"):  # it renames columns of the same name
            _check_rows(path, program, read(str(path), **options, metadataonly=True)[1])
            cells, about = read(str(path), **options)
        if None in cells:
            raise ValueError("a name cannot be decoded")
    except (*refused, ValueError, TypeError, ArithmeticError, LookupError, Warning):
        locked = _is_encrypted(path)
    else:
        return cells, about
    if locked:
        raise BadFile(f"cannot read {path}: it is protected by a password; save it without one")
    raise BadFile(f"cannot read {path}: {DAMAGED}")


def _check_rows(path: Path, program: str, about: Any) -> None:
    """Raise an error if a file states more rows than it can have.

    The library makes room for all of them before it reads the first one.
    """
    values = about.number_columns if program in VALUES_TAKE_BYTES else 1
    room = path.stat().st_size * DEFLATED.get(path.suffix.lower(), 1)
    if (about.number_rows or 0) * values > room:  # files of SAS transport do not state it
        raise ValueError(f"{about.number_rows} rows do not fit into the file")


def _is_unicode_stata(path: Path) -> bool:
    """Whether it is a file of Stata 14 or later, which is always in UTF-8."""
    with path.open("rb") as file:
        return re.match(rb"<stata_dta><header><release>1(1[89]|2\d)<", file.read(64)) is not None


def _iconv_name(encoding: str) -> str:
    """The name of an encoding as the library knows it: latin-1 is iso-8859-1."""
    name = codecs.lookup(encoding).name.removesuffix("-sig")
    return re.sub("^iso8859", "iso-8859", name).replace("_", "-")


def _is_encrypted(path: Path) -> bool:
    """Whether it is a file of SPSS with a password."""
    with path.open("rb") as file:
        return b"ENCRYPTEDSAV" in file.read(64)


def _column(
    cells: list[Any], name: str, about: Any, path: Path, program: str, tags: list[str] | None
) -> pa.ChunkedArray:
    """A column with its type; with special missing values, it is text: 1, 2, .a."""
    storage = about.readstat_variable_types.get(name)
    if name in (about.missing_user_values or {}) and storage != "string" and program in TAGS:
        tags = [f".{cell}" if isinstance(cell, str) else "" for cell in cells]
        cells = [None if isinstance(cell, str) else cell for cell in cells]
    try:
        if storage == "string":  # empty text is missing, as these programs have no other
            texts = pa.chunked_array([pa.array(cells, pa.string())])
            return pc.if_else(pc.equal(texts, ""), None, texts)
        numbers = pa.chunked_array([pa.array(cells)]).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeEncodeError):
        raise BadTable(f"{path}: column {name!r} mixes numbers and text") from None
    if storage == "float":  # of 32 bits: 0.1 stays 0.1, and whole numbers are exact
        short = numbers.cast(pa.float32()).cast(pa.string()).cast(pa.float64())
        numbers = pc.if_else(pc.equal(pc.trunc(numbers), numbers), numbers, short)
    typed = _typed(numbers, name, about.original_variable_types.get(name) or "", path, program)
    if tags is None:
        return typed
    letters = pa.array(tags, pa.string())
    return pc.if_else(pc.equal(letters, ""), as_text(typed, name).cast(pa.string()), letters)


def _typed(
    numbers: pa.ChunkedArray, name: str, shown: str, path: Path, program: str
) -> pa.ChunkedArray:
    """Numbers, dates or moments, by how the program shows them."""
    for kind, pattern in FORMATS[program].items():
        if re.match(pattern, shown):
            plain = np.asarray(numbers.fill_null(0.0).to_numpy())
            with np.errstate(over="ignore"):
                plain = plain * UNITS[program][kind] + ORIGIN[program]
            if not ((plain >= FIRST) & (plain <= LAST)).all():
                raise BadTable(
                    f"{path}: column {name!r} has dates before the year 1 or after 9999; remove "
                    "them"
                )
            missing = np.asarray(numbers.is_null().to_numpy())
            found = pa.array(np.rint(plain).astype(np.int64), pa.int64(), mask=missing)
            moments = pa.chunked_array([found]).cast(pa.timestamp("ms"))
            return moments.cast(TYPES[kind], safe=False)
    return whole(numbers)


def _labels(column: pa.ChunkedArray, name: str, about: Any, program: str) -> Labels:
    """The labels of a column, and which of its values the file declares as missing."""
    said = about.variable_value_labels.get(name) or {}
    values = {_as_text(value, program): str(label) for value, label in said.items()}
    ranges = (about.missing_ranges or {}).get(name) or []
    measure = (about.variable_measure or {}).get(name) or ""
    return Labels(
        (about.column_names_to_labels or {}).get(name) or "",
        {value: label for value, label in values.items() if label},
        _missing(column, ranges) if program not in TAGS else _tags(column, name, about, program),
        measure if measure in MEASURES else "",
    )


def _as_text(value: Any, program: str = "") -> str:
    """A value as a text file would have it; the letter of a special missing value as .a.

    >>> _as_text(1.0), _as_text(2.5), _as_text("x "), _as_text("a", "Stata")
    ('1', '2.5', 'x', '.a')
    """
    if isinstance(value, int | float):
        return str(as_text(pa.array([float(value)]), "")[0].as_py())
    return f".{value}" if program in TAGS else str(value).rstrip(" ")


def _tags(column: pa.ChunkedArray, name: str, about: Any, program: str) -> tuple[str, ...]:
    """The special missing values of a column of numbers, which is text because of them."""
    if about.readstat_variable_types.get(name) == "string" or not pa.types.is_string(column.type):
        return ()
    found = [value for value in pc.unique(column).to_pylist() if value is not None]
    return tuple(sorted(value for value in found if re.fullmatch(TAGS[program], value)))


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
        return isinstance(low, str) and low.rstrip(" ") == value
    if isinstance(value, int | float) and not isinstance(low, str):
        return bool((low is None or low <= value or math.isnan(low)) and value <= high)
    return False  # dates are not compared with codes
