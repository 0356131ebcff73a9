"""Clock: seconds spent in each step of a run."""

from __future__ import annotations

from time import perf_counter

from shoal.base.progress import Progress


class Clock:
    """Measures the steps of a run, and reports progress when each begins and ends."""

    def __init__(self, progress: Progress) -> None:
        self.seconds: dict[str, float] = {}
        self.progress = progress
        self._step = ""
        self._since = 0.0

    def start(self, step: str) -> None:
        """Begin a step and end the previous one; does nothing if the step is running already."""
        if step == self._step:
            return
        self.stop()
        self._step, self._since = step, perf_counter()
        self.progress(step, 0.0)

    def stop(self) -> None:
        """End the current step."""
        if self._step:
            spent = self.seconds.get(self._step, 0.0) + perf_counter() - self._since
            self.seconds[self._step] = round(spent, 6)
            self.progress(self._step, 1.0)
        self._step = ""
