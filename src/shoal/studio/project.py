"""Project: a table, the plan for it with its history, and the runs that were made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Any

from shoal.base.errors import ShoalError
from shoal.base.progress import Progress, silent
from shoal.plan import Plan
from shoal.studio.background.previews import Previews, Result
from shoal.studio.background.work import Work
from shoal.studio.exports.file_names import stem_of
from shoal.studio.history import History
from shoal.studio.jobs import Bell, Job
from shoal.studio.opening import asked_overview, is_read_as, read_again, read_table
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.processes import Process
from shoal.studio.runs.run import Run
from shoal.studio.runs.runs import Runs
from shoal.studio.sources.source import Source, is_gone, known_source, where
from shoal.table.roles import LINKS

PLAN, PREVIEWED, SAMPLE = "plan.toml", "previewed.toml", "sample.arrow"


class Project:
    """One table that is worked on."""

    def __init__(self, folder: PrivateFolder, stored: dict[str, Any]) -> None:
        self.folder, self.name = folder, folder.path.name
        self._source: Source = known_source(stored["source"])
        self.reading: dict[str, Any] = stored.get("reading", {})
        self.title: str = stored["title"]
        self.drafted: str | None = stored.get("drafted")  # the first proposal, as TOML
        self.dictionary: str | None = stored.get("dictionary")  # a table that describes columns
        self.used: float = stored.get("used", 0.0)  # when it was last worked on
        self.history = History(stored.get("plans", []), stored.get("place", -1))
        self.overview: Any = None
        self.first_look: Any = None  # at a large table, while all of it is counted
        self.chosen_roles: dict[str, str] = {}  # since then, by column: steps to be made afterwards
        self.refused_roles: list[str] = []  # columns for which such a step could not be made
        self.table_reading: dict[str, Any] = {}  # how the file was read, as its plan states it
        self.opening = Job()
        self.rereading: Job | None = None  # in another way, while the table is there
        self.choice = ""  # what has to be chosen before it can be opened: a sheet, a table
        self.attempt: Any = None  # what was asked for then
        self.uploads_begun = 0  # of files for it; only the newest one counts
        self.times_read = 0  # a page that has seen fewer is out of date
        self.bell = Bell()
        self.table, self.previewer = Process(), Process()
        self.jobs: dict[str, Job] = {}  # other work, by name
        self.rankings: dict[str, Any] = {}  # how much columns single people out, by their roles
        self.previews = Previews(self.previewer, self.bell)
        self.works = {
            task: Work(task, folder, self.bell, self.start)
            for task in ("whole", "frontier", "compare")
        }
        self._sampled: str | None = None
        self._warmed = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False
        folder.sweep()
        self._write_plan()  # a studio that was killed may have kept another one
        self.runs = Runs(folder.folder("runs"), self.source, self.bell, self.start)

    @property
    def source(self) -> Source:
        """Where its table comes from."""
        return self._source

    @source.setter
    def source(self, source: Source) -> None:
        self._source = self.runs.source = source

    @property
    def where(self) -> str:
        """Where its table is, in words."""
        return where(self.source)

    @property
    def is_copy_gone(self) -> bool:
        """Whether its table has to be dropped again."""
        return is_gone(self.source) and not self.source.get("invented")

    # What is kept

    def save(self) -> None:
        """Keep everything for the next start."""
        if self._closed:
            return  # it may have been removed
        self.used = time()
        self.folder.write_json(
            "project.json",
            {
                "title": self.title,
                "source": self.source,
                "reading": self.reading,
                "drafted": self.drafted,
                "dictionary": self.dictionary,
                "used": self.used,
                "plans": self.history.texts,
                "place": self.history.place,
            },
        )
        self._write_plan()

    def _write_plan(self) -> None:
        """Let the file of the plan be the current one."""
        if self.history.texts:
            self.folder.write(PLAN, self.history.text.encode())

    @property
    def plan_file(self) -> Path:
        """The file of the current plan."""
        return self.folder.inside(PLAN)

    @property
    def plan(self) -> Plan:
        """The current plan."""
        return Plan.load(self.plan_file)

    def edit(self, change: Callable[[Plan], Plan]) -> None:
        """Make a step in the plan; an error leaves it as it was."""
        text = change(self.plan).to_toml(self.folder.path)
        self._move(lambda: self.history.add(text))

    def undo(self) -> None:
        """Go back one step."""
        self._move(self.history.undo)

    def redo(self) -> None:
        """Go forward one step."""
        self._move(self.history.redo)

    def _move(self, step: Callable[[], None]) -> None:
        """Make a step in the history and keep it; one that cannot be kept is not made."""
        before = self.history.texts, self.history.place
        step()
        try:
            self.save()
        except ShoalError:  # the disk is full
            self.history.texts, self.history.place = before
            raise
        if self.overview is not None and not is_read_as(self.plan, self):
            self.overview = None  # a step back to a plan that reads the table in another way
            self.open()
        self.bell.ring()

    # Opening

    def start(self, work: Any) -> None:
        """Do something in the background."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def open(self) -> None:
        """Read and examine the table in the background."""
        self.opening = Job("running")
        self.first_look, self.chosen_roles = None, {}
        self.start(read_table(self))

    def correct(self, correction: Any, **other: Any) -> None:
        """Read the table in another way, in the background; the plan keeps what fits."""
        self.rereading = Job("running")
        if self.overview is None:
            self.opening = self.rereading
        self.start(read_again(self, self.rereading, correction, **other))

    def stop_reading(self) -> None:
        """Give up reading the table."""
        self.opening.finish("cancelled")
        self.first_look = None
        self.table.end()
        self.bell.ring()

    async def ask_table(self, task: str, progress: Progress = silent, **given: Any) -> Any:
        """Ask the process that holds the table; if it was ended, it reads the table first."""
        if not self.table.is_alive and self.overview is not None:
            await asked_overview(self, progress)
        return await self.table.ask(task, progress, **given)

    def forget_measured(self) -> None:
        """Forget what was computed from another table."""
        self.previews.forget()
        self.rankings.clear()
        self._sampled = None
        if self.times_read > 1:  # the first time, what was found before a restart is still true
            for work in self.works.values():
                work.forget()

    @property
    def is_ready(self) -> bool:
        """Whether its table was examined."""
        return self.overview is not None

    # Ranking

    def known_ranking(self) -> Any:
        """How much the columns single people out, if that was computed for the current roles."""
        return self.rankings.get(self._roles())

    async def ranking(self) -> Any:
        """How much the columns single people out; computed once for the same roles."""
        key, plan = self._roles(), self.plan
        if key not in self.rankings:
            # Members who are generalized each by itself are people, and not linked.
            roles = {
                n: one.role if one.together else "identifier" for n, one in plan.columns.items()
            }
            missing = {n: list(plan.missing_of(n)) for n, role in roles.items() if role in LINKS}
            self.rankings[key] = await self.ask_table("rank", roles=roles, missing=missing)
        return self.rankings[key]

    def _roles(self) -> str:
        columns = self.plan.columns
        return repr([(name, one.role, one.together) for name, one in columns.items()])

    # Preview

    async def preview(self, full: bool = False) -> Result:
        """What the current plan would publish, on a sample; computed once per plan.

        Where the whole sample takes long, a part of it comes first, unless it must be `full`.
        """
        text = self.history.text  # the plan may change while this waits

        async def compute(progress: Progress) -> Any:
            plan = self.folder.write(PREVIEWED, text.encode())
            sample = await self.sample(plan)
            return await self.previewer.ask(
                "preview", progress, sample=str(sample), plan=str(plan), rows=self.overview.rows,
                full=full,
            )  # fmt: skip

        return await self.previews.of(f"{full}{text}", compute)

    def warm(self) -> None:
        """Start what the first preview needs before anybody asks for it."""
        if not self._warmed and self.is_ready:
            self._warmed = True
            self.start(self._warm())

    async def _warm(self) -> None:
        with suppress(ShoalError):  # another plan was asked for, or the studio ends
            await self.preview()
            await self.preview(full=True)

    async def sample(self, plan: Path) -> Path:
        """The file of the sample for a plan; it is drawn again if people or cells are others."""
        target = self.folder.inside(SAMPLE)
        if self._sampled != (by := _sampled_by(Plan.load(plan))):
            await self.ask_table("sample", plan=str(plan), target=str(target))
            self._sampled = by
            self.previewer.end()  # it has the old one
        return target

    # Runs

    def run(self) -> Run:
        """Start a run of the current plan."""
        return self.runs.start(self.plan, stem_of(self.title))

    def remove_copies(self) -> None:
        """Remove the copies of original records that it made."""
        self.folder.inside(SAMPLE).unlink(missing_ok=True)
        self.runs.remove_copies()

    def close(self) -> None:
        """End all of its processes, and wait until they are gone."""
        self._closed = True
        self.table.close()
        self.previewer.close()
        self.runs.close()
        for work in self.works.values():
            work.close()
        self.table.wait()
        self.previewer.wait()


def _sampled_by(plan: Plan) -> str:
    """What the sample depends on: people stay whole, and cells are read by the plan."""
    return repr(
        [(n, one.role in LINKS and one.role, one.spelling) for n, one in plan.columns.items()]
    )
