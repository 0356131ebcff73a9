"""How much a kernel may do at a time, so that there is time for progress and Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

INTERVAL = 0.2  # seconds between two looks at progress and Ctrl-C, about
MOST_PIECES = 1 << 40  # pieces: more would not fit into the counts of a kernel
GROWTH = 2  # pieces may take very different times: what was cheap so far may not stay so


class Pace:
    """How many pieces of work the next call of a kernel gets.

    It grows while calls are quick, and shrinks at once to what a call should have had.
    """

    def __init__(self, pieces: int = 1) -> None:
        self.pieces = pieces
        self._begin = perf_counter()

    def begin(self) -> int:
        """A call begins; the pieces that it gets."""
        self._begin = perf_counter()
        return self.pieces

    def end(self) -> None:
        """The call has ended after all of its pieces."""
        self.adapt(perf_counter() - self._begin)

    def adapt(self, seconds: float) -> None:
        """Choose the next number of pieces after a call that took so long."""
        if seconds < INTERVAL / 2:
            self.pieces = min(self.pieces * GROWTH, MOST_PIECES)
        elif seconds > INTERVAL:
            self.pieces = max(1, int(self.pieces * INTERVAL / seconds))


def parts(total: int, pace: Pace | None = None) -> Iterator[tuple[int, int]]:
    """Cut work of so many pieces into parts, each of which lasts a moment; where each begins, ends.

    A pace that is kept for work of the same kind need not be found anew.

    >>> list(parts(3))
    [(0, 1), (1, 3)]
    """
    pace, begin = pace or Pace(), 0
    while begin < total:
        stop = min(begin + pace.begin(), total)
        yield begin, stop
        pace.end()
        begin = stop
