"""The same on the whole table: computed in the background, on request."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from shoal.studio.page import project_of, shown
from shoal.studio.pages._works import Fields, started, stopped
from shoal.studio.project import Project
from shoal.studio.requirements.works import whole_facts


async def show(request: Request) -> Response:
    """How far it is, and what was found."""
    project = project_of(request)
    return await part(request, project, "") if project.is_ready else HTMLResponse("", 409)


async def part(request: Request, project: Project, error: str) -> Response:
    """The part of the page."""
    return shown(
        request,
        "requirements/whole.html.jinja",
        project=project,
        step="requirements",
        **whole_facts(project, error),
    )


async def start(request: Request) -> Response:
    """Start it."""
    return await started(request, begin, part, "requirements")


async def begin(project: Project, fields: Fields) -> None:  # noqa: ARG001
    """Anonymize the whole table by the current plan."""
    project.plan.check_served()
    project.works["whole"].begin(project.history.text, source=project.source)


async def stop(request: Request) -> Response:
    """Stop it."""
    return await stopped(request, "whole", part, "requirements")


ROUTES = [
    Route("/p/{project}/whole", show),
    Route("/p/{project}/whole/start", start, methods=["POST"]),
    Route("/p/{project}/whole/stop", stop, methods=["POST"]),
]
