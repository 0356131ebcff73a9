"""Sampling weights: how many people of the population each record stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.base.arrays import Bools, Floats
from shoal.base.errors import SHOWN, BadTable, brief
from shoal.hierarchies.values import number_of, text
from shoal.io.frames import Frame
from shoal.table.coded_columns import coded
from shoal.table.roles import Column, columns_with_role, missing_words

LEAST, MOST = 1e-9, 1e15  # people for whom a record can stand: sums stay exact enough


def sampling_weights(
    frame: Frame, columns: Mapping[str, Column], missing_values: Sequence[str] = ()
) -> Floats | None:
    """The weight of each record, float64[n]; None: the table has no weight column.

    >>> import pyarrow as pa
    >>> frame = Frame(pa.table({"w": ["1.5", "20"]}))
    >>> sampling_weights(frame, {"w": Column(role="weight")})
    array([ 1.5, 20. ])
    """
    for name in columns_with_role(columns, "weight"):
        if name in frame.names:
            key = "weights", name
            if key not in frame.memo:
                words = missing_words(columns, name, missing_values)
                frame.memo[key] = _weights(frame, name, words)
            found: Floats = frame.memo[key]
            return found
    return None


def _weights(frame: Frame, name: str, words: Sequence[str]) -> Floats:
    codes, values = coded(frame, name, words)
    if (codes < 0).any():
        empty = int((codes < 0).sum())
        records = "1 record has" if empty == 1 else f"{empty:,} records have"
        raise BadTable(
            f"column {name!r}: {records} no weight{_rows(frame, codes < 0)}; give each record the "
            "number of people that it stands for, or remove these records"
        )
    if np.issubdtype(kind := _kind(values.array), np.number):
        number = values.array.to_numpy(zero_copy_only=False).astype(np.float64)
    else:
        assert kind is not None
        exact = [number_of(value) for value in values]
        number = np.array([np.nan if one is None else float(one) for one in exact])
    _check(frame, name, codes, values, ~np.isfinite(number), "no numbers")
    _check(frame, name, codes, values, number <= 0, "zero or negative")
    far = (number < LEAST) | (number > MOST)
    _check(frame, name, codes, values, far, f"below {LEAST:g} or above {MOST:g}")
    weights: Floats = number[codes]
    return weights


def _kind(array: object) -> np.dtype[np.generic]:
    try:
        return np.dtype(array.type.to_pandas_dtype())  # type: ignore[attr-defined]
    except (NotImplementedError, TypeError):  # a type that numpy lacks
        return np.dtype(object)


def _check(
    frame: Frame, name: str, codes: np.ndarray, values: Sequence[object], wrong: Bools, what: str
) -> None:
    """Raise an error that shows the wrong weights."""
    strange = np.flatnonzero(wrong)
    if not len(strange):
        return
    shown = ", ".join(brief(text(values[i])) for i in strange[:SHOWN].tolist())
    more = f" and {len(strange) - SHOWN} more" if len(strange) > SHOWN else ""
    raise BadTable(
        f"column {name!r} has weights that are {what}: {shown}{more}"
        f"{_rows(frame, wrong[codes])}; a weight is the number of people in the population that a "
        "record stands for, above 0. Correct them, or give the column another role"
    )


def _rows(frame: Frame, wrong: Bools) -> str:
    """The first of these rows, for a message."""
    if not frame.numbered:
        return ""
    rows = np.flatnonzero(wrong)
    numbers = ", ".join(str(frame.row_number(row)) for row in rows[:SHOWN])
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    return f" ({'row' if len(rows) == 1 else 'rows'} {numbers}{more})"
