"""What the pages of a project share: is it ready, is the form about the plan that is there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response

from shoal.base.errors import ShoalError
from shoal.plan import Plan
from shoal.studio.page import back_to, form_of, project_of, shown, wants_parts, wording_of
from shoal.studio.project import Project
from shoal.studio.sources.source import is_gone
from shoal.table.roles import Role

Show = Callable[[Request, Project, str], Awaitable[Response]]  # with an error, or ""


async def opened(request: Request, show: Show) -> Response:
    """Show a page of a project; until its table was read, how far that is."""
    project = project_of(request)
    if not project.is_ready:
        if project.opening.status == "waiting":
            project.open()
        return shown(request, "opening.html.jinja", step="", **opening_of(project))
    return await show(request, project, "")


def opening_of(project: Project) -> dict[str, Any]:
    """What is shown of a table that is being read."""
    return {"project": project, "gone": is_gone(project.source), "roles": get_args(Role)}


async def kept(request: Request, show: Show) -> Response:
    """Show a page that needs no table if there are runs: the table may be gone by now."""
    project = project_of(request)
    if not project.runs:
        return await opened(request, show)
    if project.opening.status == "waiting":
        project.open()  # for the next steps
    return await show(request, project, "")


async def edited(
    request: Request,
    change: Callable[[Plan, dict[str, str]], Plan],
    show: Show,
    address: str,
) -> Response:
    """Change the plan as a form says, and show the page again, with the error if there is one."""
    project = project_of(request)
    form = await form_of(request)
    error = ""
    if form.get("version") not in (None, project.history.version):
        error = wording_of(request)("errors.stale")
    else:
        try:
            project.edit(lambda plan: change(plan, form))
        except ShoalError as refused:
            error = str(refused)
    if wants_parts(request) or error:
        answer = await show(request, project, error)
        answer.status_code = 409 if error else 200
        return answer
    return back_to(f"/p/{project.name}/{address}")
