"""The page: one run with everything that can be taken away of it."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.base.errors import ShoalError
from shoal.plan import Plan
from shoal.studio.exports.command_line import command_of
from shoal.studio.exports.settings import FIELDS, Settings, choices, matters, writable
from shoal.studio.page import (
    NotFound,
    back_to,
    form_of,
    project_of,
    shown,
    studio_of,
    wants_parts,
)
from shoal.studio.pages._steps import kept
from shoal.studio.pages.run import awaited, finished, run_of
from shoal.studio.project import Project
from shoal.studio.requirements import words
from shoal.studio.runs.run import Run

ADDRESS = "/p/{project}/export"
NO_TABLE = {"address": "", "table": "", "replace": False}


async def show(request: Request) -> Response:
    """The page, with the newest run or the one that the address names."""
    return await kept(request, page)


async def page(
    request: Request, project: Project, error: str, asked: dict[str, Any] | None = None
) -> Response:
    """One run with what can be taken away of it, and links to the others.

    `asked` is the table of a database that a form names.
    """
    runs = sorted(finished(project), key=lambda one: -one.number)
    if not runs:
        if "run" in request.path_params:
            raise NotFound("this run is not there any more")
        return shown(
            request, "export/none.html.jinja", project=project, step="export", error=error,
            awaited=awaited(project), go=False,
        )  # fmt: skip
    run = done_run(request, project) if "run" in request.path_params else runs[0]
    studio = studio_of(request)
    if studio.abilities is None:
        studio.abilities = await studio.scout.ask("exports.abilities")
    plan = run.asked
    settings = settings_of(run, plan)
    formats = writable(run.is_large)
    return shown(
        request,
        "export/parts.html.jinja" if wants_parts(request) else "export/page.html.jinja",
        project=project,
        step="export",
        words=words,
        error=error,
        run=run,
        runs=runs,
        settings=settings,
        formats={name: ends for name, ends in formats.items() if not studio.abilities.get(name)},
        lacking=studio.abilities,
        formats_lacking=[name for name in formats if studio.abilities.get(name)],
        choices={field: choices(field) for field in FIELDS},
        matters=matters(plan, settings.ending),
        seeded=plan.seed is not None,
        command=command(project, run, settings),
        table_command=table_command(project, run),
        asked={**NO_TABLE, **(run.exports.target if asked is None else asked)},
        name=run.named(f"release{settings.ending}"),
        checksum=run.files.get(key_of(settings, run, plan)),
        has_report=run.folder.inside("report.html").exists(),
        has_recoding=run.folder.inside("recoding.json").exists(),
    )


def done_run(request: Request, project: Project) -> Run:
    """The finished run that an address names."""
    run = run_of(request, project)
    if run.facts is None:
        raise NotFound("this run has made no release")
    return run


def settings_of(run: Run, plan: Plan) -> Settings:
    """How the release of a run is taken away: as it was chosen, or in the usual way."""
    try:
        return Settings.read(run.chosen, run.ending, plan, run.is_large)
    except ShoalError:  # chosen with another version, which knew other formats
        return Settings(run.ending, plan.write)


def key_of(settings: Settings, run: Run, plan: Plan) -> str:
    """Under which the checksum of a file is kept."""
    usual = settings.writing == plan.write
    name = run.named(f"release{settings.ending}")
    return name if usual else f"{name}{settings.query}"


def command(project: Project, run: Run, settings: Settings) -> str:
    """The command that gives the same files."""
    named = run.named
    also = [("report", named("report.html")), ("recoding", named("recoding.json"))]
    if not run.is_large:  # otherwise the engine has no codebook
        also.insert(1, ("codebook", named("codebook.html")))
    out = [named(f"release{settings.ending}")]
    return command_of(project.source, project.title, named("plan.toml"), out, also)


def table_command(project: Project, run: Run) -> str:
    """The command that writes the same table of a database; "" if none was written."""
    target = run.exports.target
    if not target:
        return ""
    out = [target["address"], "--out-table", target["table"], *["--replace"] * target["replace"]]
    return command_of(project.source, project.title, run.named("plan.toml"), out)


async def choose(request: Request) -> Response:
    """Choose a format, and how cells are written."""
    project = project_of(request)
    run, form, error = done_run(request, project), await form_of(request), ""
    try:
        run.chosen = Settings.read(form, run.ending, run.asked, run.is_large).stored()
        run.save()
    except ShoalError as refused:
        error = str(refused)
    if wants_parts(request) or error:
        answer = await page(request, project, error)
        answer.status_code = 409 if error else 200
        return answer
    return back_to(f"/p/{project.name}/export/{run.name}#release")


ROUTES = [
    Route(ADDRESS, show),
    Route(f"{ADDRESS}/{{run}}", show),
    Route(f"{ADDRESS}/{{run}}/settings", choose, methods=["POST"]),
]
