"""Run: start, watch, cancel, and keep several runs side by side."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.base.errors import ShoalError, WayOut
from shoal.studio.page import NotFound, back_to, project_of, shown, wants_parts
from shoal.studio.pages._steps import kept
from shoal.studio.project import Project
from shoal.studio.requirements import words
from shoal.studio.requirements.mistakes import Button, buttons_of
from shoal.studio.runs.run import Run

BESIDE = 6  # runs in one table, the newest
STEPS = ("look", "export")  # pages about a finished run


async def show(request: Request) -> Response:
    """The page."""
    return await kept(request, page)


async def page(request: Request, project: Project, error: str) -> Response:
    """All runs, the newest first, and what differs between those that are finished."""
    beside = sorted(finished(project), key=lambda one: one.number)[-BESIDE:]
    return shown(
        request,
        "run_parts.html.jinja" if wants_parts(request) else "run.html.jinja",
        project=project,
        runs=sorted(project.runs.values(), key=lambda one: -one.number),
        beside=beside,
        differences=project.runs.differences(beside) if len(beside) > 1 else [],
        step="run",
        words=words,
        error=error,
        version=project.history.version if project.history.texts else "",
        ways_of=lambda run: _ways(project, run),
    )


def _ways(project: Project, run: Run) -> tuple[Button, ...]:
    """The ways out of an error of a run that change the plan as it is now."""
    if not project.is_ready or run.plan != project.plan.inlined().to_toml():
        return ()  # it may be resolved already
    try:
        return buttons_of(ShoalError().offering(*(WayOut(*way) for way in run.ways)), project.plan)
    except TypeError:  # kept by another version
        return ()


def finished(project: Project) -> list[Run]:
    """The runs that have made a release."""
    return [one for one in project.runs.values() if one.facts is not None]


def awaited(project: Project) -> Run | None:
    """The run that will be finished next; None: none is under way."""
    return next((one for one in project.runs.values() if not one.job.is_over), None)


async def await_run(request: Request) -> Response:
    """How far the run is that a page waits for; when it is finished, the page is loaded again."""
    project, step = project_of(request), request.query_params.get("step", "")
    if step not in STEPS or not wants_parts(request):
        return back_to(f"/p/{project.name}/run")
    return shown(
        request, "awaited.html.jinja", project=project, step=step, awaited=awaited(project),
        go=bool(finished(project)),
    )  # fmt: skip


def run_of(request: Request, project: Project) -> Run:
    """The run that an address names."""
    found = project.runs.get(request.path_params["run"])
    if found is None:
        raise NotFound("this run is not there any more")
    return found


async def start(request: Request) -> Response:
    """Start a run of the current plan."""
    project = project_of(request)
    try:
        project.run()
    except ShoalError as error:
        answer = await page(request, project, str(error))
        answer.status_code = 409
        return answer
    return await _after(request, project)


async def skip(request: Request) -> Response:
    """Do without the step that a run is at, if a release does not need it."""
    project = project_of(request)
    project.runs.skip(run_of(request, project))
    return await _after(request, project)


async def cancel(request: Request) -> Response:
    """End a run at once."""
    project = project_of(request)
    await project.runs.cancel(run_of(request, project))
    return await _after(request, project)


async def forget(request: Request) -> Response:
    """Remove a run and its files."""
    project = project_of(request)
    await project.runs.forget(run_of(request, project))
    return await _after(request, project)


async def _after(request: Request, project: Project) -> Response:
    if wants_parts(request):
        return await page(request, project, "")
    return back_to(f"/p/{project.name}/run")


ROUTES = [
    Route("/p/{project}/run", show),
    Route("/p/{project}/run/start", start, methods=["POST"]),
    Route("/p/{project}/run/awaited", await_run),
    Route("/p/{project}/run/{run}/skip", skip, methods=["POST"]),
    Route("/p/{project}/run/{run}/cancel", cancel, methods=["POST"]),
    Route("/p/{project}/run/{run}/forget", forget, methods=["POST"]),
]
