"""Single values: as Python objects, and as text."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa


def cell_values(array: pa.Array) -> list[Any]:
    """Cells as Python objects.

    >>> cell_values(pa.array([0.1], pa.float32()))  # as a file has it, not 0.10000000149011612
    [0.1]
    """
    values: list[Any] = array.to_pylist()
    if array.type == pa.float32():
        return [value if value is None else float(str(np.float32(value))) for value in values]
    return values


def text(value: object) -> str:
    """A value in the form that hierarchies use: numbers are equal whether given as text or not.

    >>> text(17), text(17.0), text("17"), text(2.5), text(True)
    ('17', '17', '17', '2.5', 'True')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    if isinstance(value, Decimal):
        return text(int(value)) if value == value.to_integral() else _decimal_text(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value)


def _decimal_text(value: Decimal) -> str:
    """A decimal without trailing zeros; `normalize` would round it to 28 digits."""
    if not value.is_finite():
        return str(value)
    sign, digits, power = value.as_tuple()
    assert isinstance(power, int)
    kept = len(digits)
    while kept > 1 and digits[kept - 1] == 0:
        kept -= 1
    return str(Decimal((sign, digits[:kept], power + len(digits) - kept)))
