"""Numbers of formats that store every number as a float of 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

EXACT = 1 << 53  # integers up to here are exact


def whole(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Integers, if all numbers of a column are whole; a column without numbers stays as it is.

    >>> whole(pa.chunked_array([[1.0, None]])).type, whole(pa.chunked_array([[0.5]])).type
    (DataType(int64), DataType(double))
    """
    plain = np.asarray(values.fill_null(0.0).to_numpy())
    if values.null_count == len(values) or not is_whole(plain):
        return values
    return values.cast(pa.int64())


def is_whole(numbers: np.ndarray[Any, Any]) -> bool:
    """Whether all numbers are integers that a float stores exactly; -0.0 is none."""
    with np.errstate(invalid="ignore"):
        return bool(
            (np.abs(numbers) <= EXACT).all()
            and (numbers == np.trunc(numbers)).all()
            and not np.signbit(numbers[numbers == 0]).any()
        )


def as_floats(values: Any) -> pa.ChunkedArray | None:
    """A column of numbers as floats; None if it is not of numbers, or if they would be rounded."""
    kind = values.type
    if pa.types.is_floating(kind):
        if kind.bit_width < 64:  # 0.1 stays 0.1
            values = values.cast(pa.float32()).cast(pa.string())
        floats = values.cast(pa.float64())
        return floats if pc.all(pc.is_finite(floats)).as_py() is not False else None
    if not pa.types.is_integer(kind):
        return None
    if len(values) > values.null_count:
        ends = pc.min_max(values)
        if ends["min"].as_py() < -EXACT or ends["max"].as_py() > EXACT:
            return None
    return values.cast(pa.float64())
