"""The plan itself: undo, redo, and its text."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from shoal.studio.page import back_to, form_of, project_of


async def undo(request: Request) -> Response:
    """Go back one step."""
    project_of(request).undo()
    return await _back(request)


async def redo(request: Request) -> Response:
    """Go forward one step."""
    project_of(request).redo()
    return await _back(request)


async def _back(request: Request) -> Response:
    step = (await form_of(request)).get("step", "columns")
    known = re.fullmatch(r"[a-z]{1,20}(/[0-9]{1,5}/hierarchy)?", step)
    return back_to(f"/p/{project_of(request).name}/{step if known else 'columns'}")


async def text(request: Request) -> Response:
    """The plan as a file, to keep or to run on the command line; it needs no other file."""
    name = "attachment; filename=plan.toml"
    return PlainTextResponse(
        project_of(request).plan.inlined().to_toml(), headers={"content-disposition": name}
    )


ROUTES = [
    Route("/p/{project}/undo", undo, methods=["POST"]),
    Route("/p/{project}/redo", redo, methods=["POST"]),
    Route("/p/{project}/plan.toml", text),
]
