"""Tables whose first record was read as the header."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadTable, preview
from shoal.io.frames import Frame

FEWEST = 3  # columns; fewer names may be values by chance
NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")
DATE = re.compile(r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}")
YEAR = re.compile("(1[5-9]|20|21)[0-9]{2}|[0-9]")  # names of columns in many tables, as are 1, 2 …


def check_header(frame: Frame) -> None:
    """Raise an error if most column names are values of their own columns, or look like them.

    Such a file has no header line: its first record would be published as column names, unchanged.
    """
    occurring = [name for name in frame.names if _occurs(frame.column(name), name)]
    alike = [name for name in frame.names if name in occurring or _is_alike(frame, name)]
    for found, what in ((occurring, "also occur as"), (alike, "are or look like")):
        if len(found) >= FEWEST and 2 * len(found) > len(frame.names):
            raise BadTable(
                f"the table seems to have no header line: the column names {preview(found)} {what} "
                "values of these columns, so the first record was read as names and would be "
                "published unchanged; add a line with the names of the columns, or state header = "
                "false under [read] in the plan (--no-header for draft and setup)"
            )


def _is_alike(frame: Frame, name: str) -> bool:
    """Whether a name is a number or a date, as all values of its column are; years are names."""
    form = next((form for form in (NUMBER, DATE) if form.fullmatch(name.strip())), None)
    if form is None or YEAR.fullmatch(name.strip()) or not frame.height:
        return False
    column = frame.column(name)
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return False  # a file with types has names
    fits = pc.match_substring_regex(pc.utf8_trim_whitespace(column), f"^({form.pattern})?$")
    return bool(pc.all(fits).as_py())


def _occurs(array: Any, name: str) -> bool:
    """Whether a column has its own name as a value."""
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    try:
        value = pa.scalar(name.strip()).cast(kind) if _number(kind) else pa.scalar(name).cast(kind)
        return bool(pc.any(pc.equal(array.cast(kind), value)).as_py())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False


def _number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
