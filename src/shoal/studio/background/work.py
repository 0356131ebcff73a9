"""Work: a task in a process of its own, which can be watched, stopped and read again later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shoal.base.errors import BadPlan, ShoalError
from shoal.studio.jobs import Bell, Job
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.processes import Ended, Process


class Work:
    """One task of a project, one at a time: how far it is, and what it found the last time."""

    def __init__(
        self, task: str, folder: PrivateFolder, bell: Bell, start: Callable[[Any], None]
    ) -> None:
        """`start` does something in the background."""
        self.task, self._folder, self._bell, self._start = task, folder, bell, start
        self.job, self.process = Job(), Process()
        kept = folder.read_json(self._file, None)
        self.found: dict[str, Any] | None = kept if isinstance(kept, dict) else None

    @property
    def _file(self) -> str:
        return f"{self.task}.json"

    @property
    def plan_file(self) -> str:
        """The name of the file of the plan that it works with."""
        return f"{self.task}.toml"

    @property
    def is_running(self) -> bool:
        """Whether it is under way."""
        return self.job.status == "running"

    @property
    def result(self) -> Any:
        """What it found the last time; None: nothing."""
        return None if self.found is None else self.found["result"]

    def is_about(self, plan: str) -> bool:
        """Whether the result is about this plan."""
        return self.found is not None and self.found["plan"] == plan

    def begin(self, plan: str, **given: Any) -> None:
        """Start the task with a plan, as TOML; raises an error if it is under way already."""
        if self.is_running:
            raise BadPlan("this is being computed already; stop it first")
        path = self._folder.write(self.plan_file, plan.encode())
        self.job = Job()
        self.job.begin()
        self._start(self._do(self.job, plan, {"plan": str(path), **given}))
        self._bell.ring()

    async def _do(self, job: Job, plan: str, given: dict[str, Any]) -> None:
        def report(stage: str, share: float) -> None:
            job.report(stage, share)
            self._bell.ring()

        try:
            result = await self.process.ask(self.task, report, **given)
            if job is self.job:
                self.found = {"plan": plan, "result": result}
                self._folder.write_json(self._file, self.found)
                job.finish("cancelled" if job.status == "cancelled" else "done")
        except Ended as error:
            if not job.is_over:
                job.finish("failed", str(error))
        except ShoalError as error:
            if not job.is_over:
                job.finish("failed", str(error))
        if job is self.job:  # otherwise another one has begun
            self.process.end()  # its memory is needed elsewhere
        self._bell.ring()

    def stop(self) -> None:
        """Stop soon, with what was found so far; a process that does not stop is ended."""
        if self.is_running:
            self.process.withdraw()
            self.job.finish("cancelled")
            self._bell.ring()

    def forget(self) -> None:
        """Forget what it found: the table is another one."""
        self.stop()
        self.found = None
        self._folder.inside(self._file).unlink(missing_ok=True)

    def close(self) -> None:
        """End its process for good."""
        self.process.close()
        self.process.wait()
