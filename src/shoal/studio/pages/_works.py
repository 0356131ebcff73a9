"""What pages with work that takes long share: start it, stop it, and show how far it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from shoal.base.errors import ShoalError
from shoal.studio.page import back_to, fields_of, project_of, wants_parts
from shoal.studio.pages._steps import Show, opened
from shoal.studio.project import Project

Fields = list[tuple[str, str]]
Begin = Callable[[Project, Fields], Awaitable[None]]


async def started(request: Request, begin: Begin, show: Show, address: str) -> Response:
    """Start work as a form says, and show it; an error says why it was not started."""
    project = project_of(request)
    if not project.is_ready:
        return await opened(request, show)
    fields, error = await fields_of(request), ""
    try:
        await begin(project, fields)
    except ShoalError as refused:
        error = str(refused)
    if wants_parts(request) or error:
        answer = await show(request, project, error)
        answer.status_code = 409 if error else 200
        return answer
    return back_to(f"/p/{project.name}/{address}")


async def stopped(request: Request, task: str, show: Show, address: str) -> Response:
    """Stop work."""
    project = project_of(request)
    project.works[task].stop()
    if wants_parts(request):
        return await show(request, project, "")
    return back_to(f"/p/{project.name}/{address}")
