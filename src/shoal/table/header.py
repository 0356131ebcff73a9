"""Tables whose first record was read as the header."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadTable, preview
from shoal.io.frames import Frame

FEWEST = 3  # columns; fewer names may be values by chance


def check_header(frame: Frame) -> None:
    """Raise an error if most column names are values of their own columns.

    Such a file has no header line: its first record would be published as column names, unchanged.
    """
    found = [name for name in frame.names if _occurs(frame.column(name), name)]
    if len(found) >= FEWEST and 2 * len(found) > len(frame.names):
        raise BadTable(
            f"the table seems to have no header line: the column names {preview(found)} also occur "
            "as values of these columns, so the first record was read as names and would be "
            "published unchanged; add a line with the names of the columns"
        )


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
