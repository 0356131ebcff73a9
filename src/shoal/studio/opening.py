"""Opening: how the table of a project is read, and read again in another way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.base.errors import ShoalError
from shoal.base.progress import Progress
from shoal.flow.draft.spellings import PUBLISHED
from shoal.io.raw_text.detect_spelling import settings_of
from shoal.plan import Plan
from shoal.studio.columns.changes import with_roles
from shoal.studio.jobs import Job
from shoal.studio.processes import Ended
from shoal.studio.sources.source import has_layout, is_gone, restored

if TYPE_CHECKING:
    from shoal.studio.project import Project
    from shoal.studio.tasks.open import Correction


class Choose(ShoalError):
    """There are several tables, and somebody has to say which one is meant."""

    def __init__(self, what: str) -> None:
        super().__init__(f"choose a {what}")
        self.what = what


GONE = (
    "the copy of this table was removed when the studio ended; drop the file again, and the plan "
    "goes on with it"
)


def is_read_as(plan: Plan, project: Project) -> bool:
    """Whether a plan reads the table as it was read for the overview of the project."""
    overview = project.overview
    views = {one.name: one for one in overview.columns}
    missing = set(plan.missing_values)
    if (
        plan.read.stated() != project.table_reading
        or list(plan.columns) != list(views)
        or missing != set(overview.missing)
    ):
        return False
    for name, column in plan.columns.items():
        view, spelling = views[name], column.spelling
        stated = {} if spelling is None else settings_of(spelling)
        if (column.role in PUBLISHED or stated) and stated != view.spelling:
            return False
        own = set(column.missing_values or ())
        if column.role in ("quasi", "sensitive") and own - missing != (
            set(view.missing_codes) - missing
        ):
            return False
    return True


async def read_table(project: Project) -> None:
    """Read and examine the table of a project; its plan is kept, as far as it fits."""
    job = project.opening
    try:
        await asyncio.to_thread(restored, project.source)
        if is_gone(project.source):
            raise ShoalError(GONE)
        await _choose_table(project)
        overview = await _asked(project, job, early=lambda look: _show_early(project, job, look))
        first = not project.history.texts
        if first or overview.changed:
            project.history.add(overview.plan)
        _use(project, overview)
        _decide(project)
        job.finish("done")
    except ShoalError as error:
        _failed(project, job, error)
    project.bell.ring()


def _show_early(project: Project, job: Job, look: Any) -> None:
    """Show what some records say, until all of them are counted."""
    if job is project.opening and not job.is_over:
        project.first_look = look
        project.bell.ring()


def _decide(project: Project) -> None:
    """Make the steps that somebody has chosen since the first look, on top of the proposal."""
    places = {one.name: place for place, one in enumerate(project.overview.columns)}
    chosen, project.chosen_roles = project.chosen_roles, {}
    for name, role in chosen.items():
        if name not in places or project.plan.columns[name].role == role:
            continue
        try:
            _give_role(project, places[name], role)
        except ShoalError:
            project.refused_roles.append(name)


def _give_role(project: Project, place: int, role: str) -> None:
    project.edit(lambda plan: with_roles(plan, project.overview.columns, [place], role).plan)


async def _choose_table(project: Project) -> None:
    """If a database or a workbook has one table only, it is meant; otherwise somebody chooses."""
    source = project.source
    if source["kind"] == "database":
        if not source.get("table") and not source.get("query"):
            tables = await project.table.ask("tables", source=source)
            if len(tables) != 1:
                raise Choose("table")
            project.source = {**source, "table": tables[0]}
        return
    is_open = "sheet" in has_layout(source) and not _reading(project).get("sheet")
    if is_open and len(await project.table.ask("tables", source=source)) > 1:
        raise Choose("sheet")


def _reading(project: Project) -> dict[str, Any]:
    return project.plan.read.stated() if project.history.texts else project.reading


async def read_again(
    project: Project,
    job: Job,
    correction: Correction,
    source: dict[str, Any] | None = None,
    dictionary: str | None = None,
) -> None:
    """Read a table as a correction says it; until that succeeds, everything stays as it is."""
    target = source or project.source
    try:
        await asyncio.to_thread(restored, target)
        overview = await _asked(
            project, job, source=target, correction=correction, dictionary=dictionary
        )
        project.source = target
        if dictionary is not None:
            project.dictionary = dictionary
        project.history.add(overview.plan)
        _use(project, overview)
        job.finish("done")
    except ShoalError as error:
        _failed(project, job, error)
    project.bell.ring()


async def _asked(project: Project, job: Job, **other: Any) -> Any:
    """The overview of the table, while a job shows how far it is."""

    def report(stage: str, share: float) -> None:
        job.report(stage, share)
        project.bell.ring()

    return await asked_overview(project, report, **other)


async def asked_overview(project: Project, report: Progress, **other: Any) -> Any:
    """The overview of the table, as the process that holds it finds it."""
    asked = {
        "source": project.source,
        "reading": project.reading,
        "plan": str(project.plan_file) if project.history.texts else None,
        "drafted": project.drafted,
        "dictionary": project.dictionary,
        "folder": str(project.folder.path),
    }
    given = {key: one for key, one in other.items() if one is not None}
    return await project.table.ask("open", report, **{**asked, **given})


def _use(project: Project, overview: Any) -> None:
    """From now on, this is the table of the project."""
    project.overview = overview
    project.first_look, project.refused_roles = None, []
    project.times_read += 1
    project.reading, project.drafted = overview.reading, overview.drafted
    project.forget_measured()
    project.save()
    project.table_reading = project.plan.read.stated()


def _failed(project: Project, job: Job, error: ShoalError) -> None:
    if job.status == "cancelled":
        return
    project.first_look = None
    project.choice = error.what if isinstance(error, Choose) else ""
    job.finish("failed", str(error) if isinstance(error, Ended) else named(project, str(error)))


def named(project: Project, said: str) -> str:
    """An error with the name of the user's file: its copy has a name that says nothing."""
    if project.source.get("uploaded"):
        path = project.source.get("path") or project.source.get("address", "")
        return said.replace(str(path), project.title).replace(Path(path).name, project.title)
    return said
