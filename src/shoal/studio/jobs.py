"""Jobs: work that takes a while, as the pages show it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from shoal.base.progress import STAGES, Timing, found_by

SKIPPABLE = ("bounding",)  # steps that a release does not need
# "interrupted": the studio ended before the work was done.
Status = Literal["waiting", "running", "done", "failed", "cancelled", "interrupted"]


@dataclass
class Job:
    """One piece of work: how far it is, and how it ended."""

    status: Status = "waiting"
    error: str = ""
    began: float = field(default_factory=monotonic)
    steps: dict[str, float] = field(default_factory=dict)  # seconds of each stage that was left
    _timing: Timing = field(default_factory=Timing)
    _since: float = field(default_factory=monotonic)  # when the current stage began
    _took: float | None = None  # seconds; None: it is not over

    def begin(self) -> None:
        """Start now, after it has waited."""
        self.status, self.began, self._since = "running", monotonic(), monotonic()
        self.steps, self._timing, self._took = {}, Timing(), None

    def report(self, stage: str, share: float) -> None:
        """Note how far it is."""
        if self.is_over:
            return  # this was under way when it was cancelled
        self.status = "running"
        before = self.stage
        if self._timing.report(stage, share) and self.stage != before:
            self._leave(before)

    def finish(self, status: Status, error: str = "") -> None:
        """Note how it ended."""
        self._leave(self.stage)
        self.status, self.error, self._took = status, error, self.seconds

    def _leave(self, stage: str) -> None:
        now = monotonic()
        if stage:
            self.steps[stage] = self.steps.get(stage, 0.0) + now - self._since
        self._since = now

    @property
    def stage(self) -> str:
        """What it is doing, in plain words."""
        return STAGES.get(self._timing.stage, self._timing.stage)

    @property
    def found(self) -> dict[str, float]:
        """What the stage has found so far: percentages by name."""
        return found_by(self._timing.stage)

    @property
    def share(self) -> float | None:
        """The share of the stage that is done; None: not known."""
        return self._timing.share or None if self._timing.stage not in ("", "recode") else None

    @property
    def left(self) -> str:
        """The time that the stage still needs, in words; "" if it is not known."""
        return self._timing.left.removeprefix(", ")

    @property
    def seconds_left(self) -> float | None:
        """The time that the stage still needs; None if it is not known."""
        return self._timing.seconds_left

    @property
    def seconds(self) -> float:
        """How long it has taken so far, or in total."""
        return monotonic() - self.began if self._took is None else self._took

    @property
    def can_skip(self) -> bool:
        """Whether it is at a step that it can do without."""
        return self.status == "running" and self._timing.stage in SKIPPABLE

    @property
    def is_over(self) -> bool:
        """Whether nothing will change any more."""
        return self.status not in ("waiting", "running")

    def as_dict(self) -> dict[str, Any]:
        """What a page needs to draw it."""
        return {
            "status": self.status,
            "stage": self.stage,
            "share": self.share,
            "left": self.left,
            "seconds": round(self.seconds, 1),
            "error": self.error,
        }


class Bell:
    """Wakes those who wait for something to change."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def ring(self) -> None:
        """Something has changed."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def heard(self, timeout: float) -> None:
        """Wait until something changes, or for some seconds."""
        waiting = self._changed
        try:
            await asyncio.wait_for(waiting.wait(), timeout)
        except TimeoutError:
            return

    async def each(self, timeout: float) -> AsyncIterator[None]:
        """Go on whenever something has changed, and after some seconds without a change."""
        while True:
            yield
            await self.heard(timeout)
