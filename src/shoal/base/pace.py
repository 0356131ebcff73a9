"""How much work a kernel does per call, so that progress and Ctrl-C are handled in between."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from shoal.base.threads import check_stopped

INTERVAL = 0.2  # seconds per call, about
MOST_PIECES = 1 << 40  # more would overflow the counters of a kernel
GROWTH = 2  # small, because the next pieces may take much longer than the last


class Pace:
    """The number of pieces of work for the next call of a kernel.

    It doubles while calls are quick, and shrinks to what would have fit after a slow one.
    """

    def __init__(self, pieces: int = 1) -> None:
        self.pieces = pieces
        self._begin = perf_counter()

    def begin(self) -> int:
        """Begin a call; returns its number of pieces.

        Raises `Stopped` in a thread that is to stop.
        """
        check_stopped()
        self._begin = perf_counter()
        return self.pieces

    def end(self, done: int | None = None) -> None:
        """End a call that has done so many pieces; by default all of them."""
        self.adapt(perf_counter() - self._begin, done)

    def adapt(self, seconds: float, done: int | None = None) -> None:
        """Adapt the number of pieces to the seconds that the last call took.

        A call that had few pieces to do was quick because of that: it shows nothing about more.
        """
        done = self.pieces if done is None else done
        if seconds < INTERVAL / 2:
            self.pieces = min(max(self.pieces, done * GROWTH), MOST_PIECES)
        elif seconds > INTERVAL:
            self.pieces = max(1, int(done * INTERVAL / seconds))


def parts(total: int, pace: Pace | None = None) -> Iterator[tuple[int, int]]:
    """Cut work into short parts: the begin and the end of each.

    Pass a pace to reuse what earlier work of the same kind has shown.

    >>> list(parts(3))
    [(0, 1), (1, 3)]
    """
    pace, begin = pace or Pace(), 0
    while begin < total:
        stop = min(begin + pace.begin(), total)
        yield begin, stop
        pace.end(stop - begin)
        begin = stop
