"""Run: start, watch, cancel, and keep several runs side by side."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.base.errors import ShoalError
from shoal.studio.page import NotFound, back_to, project_of, shown, wants_parts
from shoal.studio.pages._steps import kept
from shoal.studio.project import Project
from shoal.studio.requirements import words
from shoal.studio.runs.run import Run

BESIDE = 6  # runs in one table, the newest


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
    )


def finished(project: Project) -> list[Run]:
    """The runs that have made a release."""
    return [one for one in project.runs.values() if one.facts is not None]


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
    Route("/p/{project}/run/{run}/cancel", cancel, methods=["POST"]),
    Route("/p/{project}/run/{run}/forget", forget, methods=["POST"]),
]
