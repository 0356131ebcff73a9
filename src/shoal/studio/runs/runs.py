"""Runs: one after the other, kept side by side."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from shoal.base.errors import ShoalError
from shoal.io.format import check_writes
from shoal.plan import Plan
from shoal.plan.differences import Difference, differences
from shoal.studio.jobs import Bell, Job
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.processes import Ended
from shoal.studio.runs.run import PLAN, Run, loaded
from shoal.studio.sources.uploads import ending_of

Begin = Callable[[Coroutine[Any, Any, None]], None]  # does something in the background


class Runs(dict[str, Run]):
    """The runs of one table, by their names."""

    def __init__(
        self, folder: PrivateFolder, source: dict[str, Any], bell: Bell, begin: Begin
    ) -> None:
        """`source` is the table; `begin` does work in the background."""
        super().__init__(loaded(folder))
        self._folder, self.source, self._bell, self._begin = folder, source, bell, begin
        self._one = asyncio.Lock()
        self._known: dict[tuple[str, ...], list[Difference]] = {}

    def start(self, plan: Plan, stem: str = "") -> Run:
        """Start a run of a plan; it waits for those that were started before.

        `stem` is what the names of its files begin with.
        """
        name = self._folder.new_name()
        number = max((one.number for one in self.values()), default=0) + 1
        text = plan.inlined().to_toml()
        run = Run(name, number, self._folder.folder(name), text, self._ending(), stem=stem)
        run.made = datetime.now().astimezone().isoformat(timespec="seconds")
        run.folder.write(PLAN, text.encode())
        run.save()
        self[name] = run
        self._begin(self._run(run))
        return run

    def differences(self, runs: Sequence[Run]) -> list[Difference]:
        """What differs between the plans of runs."""
        key = tuple(run.name for run in runs)
        if key not in self._known:
            self._known = {key: differences([run.asked for run in runs])}
        return self._known[key]

    def _ending(self) -> str:
        """The release is of the kind of the original, if we can write that."""
        path = Path(self.source.get("path", "table.csv"))
        try:
            check_writes(path)
        except ShoalError:
            return ".csv"
        return ending_of(path.name)  # with the packing: .csv.gz

    async def _run(self, run: Run) -> None:
        async with self._one:
            if run.job.is_over:
                return
            try:
                await self._work(run)
                await self._describe(run)
            except Ended as error:
                if not run.job.is_over:  # otherwise it was cancelled
                    self._fail(run, error)
            except ShoalError as error:
                self._fail(run, error)
            run.process.end()  # whatever the pages show is in files now
        if run.name in self:
            if run.job.status != "done":
                await run.process.gone()
                run.discard()
            run.save()
            self._bell.ring()

    async def _work(self, run: Run) -> None:
        """Let the process of a run make the release."""
        job = run.job
        job.begin()
        found = await run.process.ask(
            "run",
            self.reporting(job),
            source=self.source,
            plan=str(run.folder.inside(PLAN)),
            folder=str(run.folder.path),
            name=run.release,
        )
        run.facts, run.files = found["facts"], {run.release: found["sha256"]}
        job.finish("done")
        run.seconds = job.seconds

    async def _describe(self, run: Run) -> None:
        """Let the process of a run write the report; the run itself is done, whatever happens."""
        job = run.details
        job.begin()
        run.save()
        self._bell.ring()
        try:
            await run.process.ask(
                "exports.details", self.reporting(job), folder=str(run.folder.path)
            )
            job.finish("done")
        except ShoalError as error:
            job.finish("failed", str(error))

    def reporting(self, job: Job) -> Callable[[str, float], None]:
        """Notes how far a job is."""

        def report(stage: str, share: float) -> None:
            job.report(stage, share)
            self._bell.ring()

        return report

    def _fail(self, run: Run, error: ShoalError) -> None:
        run.ways = [list(way) for way in error.ways]
        run.job.finish("failed", str(error))

    def skip(self, run: Run) -> None:
        """Let a run do without a step that a release does not need."""
        if run.job.can_skip:
            run.process.skip()

    async def cancel(self, run: Run) -> None:
        """End a run at once; nothing of it stays but its plan."""
        if run.job.is_over:
            return
        run.job.finish("cancelled")
        run.process.end()
        await run.process.gone()
        run.discard()
        run.save()
        self._bell.ring()

    async def forget(self, run: Run) -> None:
        """Remove a run and its files."""
        self.pop(run.name, None)
        if not run.job.is_over:
            run.job.finish("cancelled")
        run.process.close()
        run.exports.close()
        await run.process.gone()
        await asyncio.to_thread(run.exports.wait)
        run.folder.wipe()
        self._bell.ring()

    def remove_copies(self) -> None:
        """Remove the copies of original records, and what could lead back to them."""
        for run in self.values():
            shutil.rmtree(run.look, ignore_errors=True)

    def close(self) -> None:
        """End all processes; what is not finished is not kept."""
        for run in self.values():
            run.process.close()
            run.exports.close()
        for run in self.values():
            run.process.wait()
            run.exports.wait()
            if not run.job.is_over:
                run.job.finish("interrupted")
                run.discard()
                run.save()
