"""Memory that DuckDB needs to group and join, for the message when there is too little."""

from __future__ import annotations

from collections.abc import Iterable

PER_THREAD = 125 * 10**6  # bytes that DuckDB itself needs per thread, by its documentation
PER_ROW = 48  # bytes of a row next to its cells: hash, pointer, count and number
COPIES = 2  # of all rows, at the most: those that are grouped or sorted, and the result


def memory_needed(rows: int, widths: Iterable[float], threads: int) -> int:
    """Bytes with which so many rows are grouped without temporary files.

    The widths are those of the cells of a row. With less, DuckDB uses temporary files, and may
    succeed or not.

    >>> memory_needed(10**6, [16, 36], threads=1)
    325000000
    """
    return threads * PER_THREAD + int(COPIES * rows * (PER_ROW + sum(widths)))
