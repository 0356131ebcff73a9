"""How much work a kernel gets per call, so that progress is shown and Ctrl-C works."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

INTERVAL = 0.2  # approximate seconds between two calls
MOST_PIECES = 1 << 40  # more would overflow the counters of a kernel
GROWTH = 2  # moderate: the time per piece may vary a lot


class Pace:
    """How many pieces of work the next call of a kernel gets.

    The number grows while calls are fast, and shrinks at once after a slow call.
    """

    def __init__(self, pieces: int = 1) -> None:
        self.pieces = pieces
        self._begin = perf_counter()

    def begin(self) -> int:
        """Start a call; returns the number of its pieces."""
        self._begin = perf_counter()
        return self.pieces

    def end(self) -> None:
        """End a call that did all of its pieces."""
        self.adapt(perf_counter() - self._begin)

    def adapt(self, seconds: float) -> None:
        """Choose the next number of pieces, given the duration of a call."""
        if seconds < INTERVAL / 2:
            self.pieces = min(self.pieces * GROWTH, MOST_PIECES)
        elif seconds > INTERVAL:
            self.pieces = max(1, int(self.pieces * INTERVAL / seconds))


def parts(total: int, pace: Pace | None = None) -> Iterator[tuple[int, int]]:
    """Cut work into parts of a short duration; yields where each begins and ends.

    Pass the same pace again for work of the same kind.

    >>> list(parts(3))
    [(0, 1), (1, 3)]
    """
    pace, begin = pace or Pace(), 0
    while begin < total:
        stop = min(begin + pace.begin(), total)
        yield begin, stop
        pace.end()
        begin = stop
