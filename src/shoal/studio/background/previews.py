"""Previews: what plans would publish of a sample. Only the newest request is computed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from shoal.base.errors import ShoalError
from shoal.base.progress import Progress
from shoal.studio.jobs import Bell, Job
from shoal.studio.processes import Process

MOST = 60  # results that are kept: those of the last steps, which undo goes back to


class Superseded(ShoalError):
    """A newer plan was asked for: nobody looks at the result of this one any more."""


@dataclass(frozen=True)
class Result:
    """What came of a plan: numbers, or an error."""

    facts: Any = None
    error: ShoalError | None = None


Compute = Callable[[Progress], Awaitable[Any]]


class Previews:
    """The results by plan, and the process that computes one after the other."""

    def __init__(self, process: Process, bell: Bell) -> None:
        self._process, self._bell = process, bell
        self.job = Job()
        self._known: dict[str, Result] = {}
        self._turn = asyncio.Lock()
        self._newest = self._running = ""

    def known(self, key: str) -> Result | None:
        """A result that was computed already."""
        return self._known.get(key)

    def forget(self) -> None:
        """Forget everything: the table is another one."""
        self._known.clear()

    async def of(self, key: str, compute: Compute) -> Result:
        """The result of a plan; a request for another one stops what is being computed."""
        self._newest = key
        if self._running and self._running != key:
            self._process.withdraw()
        async with self._turn:
            if key in self._known:
                return self._known[key]
            if self._newest != key:
                raise Superseded("a newer plan was asked for")
            result = await self._computed(key, compute)
        self._known = dict([*self._known.items(), (key, result)][-MOST:])
        return result

    async def _computed(self, key: str, compute: Compute) -> Result:
        self._running, self.job = key, Job("running")
        job = self.job

        def report(stage: str, share: float) -> None:
            job.report(stage, share)
            self._bell.ring()

        try:
            return Result(await compute(report))
        except ShoalError as error:
            if self._newest != key:  # it was withdrawn
                raise Superseded("a newer plan was asked for") from None
            return Result(error=error)
        finally:
            self._running = ""
            job.finish("done")
            self._bell.ring()
