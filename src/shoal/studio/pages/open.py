"""Open: the first page. A file that is dropped or chosen, a database, or an invented table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from shoal.base.errors import BadInput, BadTable, ShoalError
from shoal.databases.kind import is_address, kind_of
from shoal.studio.invented import invented_table
from shoal.studio.page import back_to, form_of, project_of, shown, studio_of, wants_parts
from shoal.studio.sources.folder_list import Folder, listed
from shoal.studio.sources.named_file import is_file, named_file
from shoal.studio.sources.source import of_database, of_file, of_invented, title_of
from shoal.studio.studio import Studio

PAUSE = 15.0  # seconds without an event after which a sign of life is sent


async def show(request: Request) -> Response:
    """The first page."""
    studio = studio_of(request)
    if (first := studio.take_first()) is not None:
        return back_to(f"/p/{first.name}/columns")
    try:
        folder = _folder(studio, request.query_params.get("folder", ""))
    except BadInput as error:
        return _first_page(request, error=str(error), status=404)
    return _first_page(request, folder=folder)


def _first_page(
    request: Request, status: int = 200, folder: Folder | None = None, **given: Any
) -> Response:
    studio = studio_of(request)
    return shown(
        request,
        "open.html.jinja",
        status,
        **{
            "projects": sorted(studio.projects.values(), key=lambda one: -one.used),
            "folder": folder or _folder(studio, ""),
            "asked": {"data": "", "table": "", "query": ""},
            "tables": None,
            "base_error": "",
            **given,
        },
    )


def _folder(studio: Studio, path: str) -> Folder:
    return listed(studio.start, path)


async def browse(request: Request) -> Response:
    """The list of another folder."""
    folder = await asyncio.to_thread(
        _folder, studio_of(request), request.query_params.get("folder", "")
    )
    return shown(request, "folder.html.jinja", folder=folder)


async def open_table(request: Request) -> Response:
    """Open what a form names: the invented table, or a file of this machine."""
    studio, form = studio_of(request), await form_of(request)
    try:
        if "demo" in form:
            path = await asyncio.to_thread(invented_table, studio.uploads)
            project = studio.add("hospital.csv", of_invented(path))
        else:
            data = form.get("data", "").strip()
            if is_address(data) and not is_file(studio.start, data):
                return await _open_database(request, form)
            path = named_file(studio.start, data)
            project = studio.opened(path.name, of_file(path))
    except BadInput as error:
        return _first_page(request, 422, error=str(error))
    return back_to(f"/p/{project.name}/columns")


async def database(request: Request) -> Response:
    """Open a table of a database, or list the tables that there are."""
    return await _open_database(request, await form_of(request))


async def _open_database(request: Request, form: dict[str, str]) -> Response:
    studio = studio_of(request)
    asked = {key: form.get(key, "").strip() for key in ("data", "table", "query")}
    tables: list[str] | None = None
    try:
        try:
            kind_of(asked["data"])
        except BadInput:
            asked["data"] = ""  # it may contain a password, and is not repeated
            raise
        source = of_database(asked["data"], asked["table"], asked["query"])
        if asked["table"] and asked["query"]:
            raise BadTable("give either a table or a query, not both")
        if "list" in form or not (asked["table"] or asked["query"]):
            tables = await studio.scout.ask("tables", source=source)
            asked["table"] = tables[0] if len(tables) == 1 and not asked["query"] else ""
        else:
            title = title_of(asked["data"], asked["table"])
            project = studio.opened(title, source)
            return _go(request, f"/p/{project.name}/columns")
    except ShoalError as error:
        return _database_page(request, asked, tables, str(error))
    return _database_page(request, asked, tables)


def _database_page(
    request: Request, asked: dict[str, str], tables: list[str] | None, error: str = ""
) -> Response:
    given: dict[str, Any] = {"asked": asked, "tables": tables, "base_error": error}
    status = 422 if error else 200
    if wants_parts(request):
        return shown(request, "database.html.jinja", status, **given)
    return _first_page(request, status, **given)


def _go(request: Request, address: str) -> Response:
    """Go to another page; a script does it by itself."""
    if wants_parts(request):
        return shown(request, "go.html.jinja", place="database", address=address)
    return back_to(address)


async def remove(request: Request) -> Response:
    """Forget a project."""
    studio_of(request).remove(project_of(request))
    return back_to("/")


async def wipe(request: Request) -> Response:
    """Forget everything."""
    studio_of(request).wipe()
    return back_to("/")


async def language(request: Request) -> Response:
    """Choose a language."""
    form = await form_of(request)
    studio_of(request).speak(form.get("language", ""))
    path = form.get("path", "/")
    return back_to(path if path.startswith("/") and not path.startswith("//") else "/")


async def enter(request: Request) -> Response:
    """The address of a project alone leads to its columns."""
    return back_to(f"/p/{project_of(request).name}/columns")


async def events(request: Request) -> Response:
    """A stream that says when something has changed; the page then asks for what it shows."""
    project = project_of(request)

    async def stream() -> AsyncIterator[bytes]:
        async for _ in project.bell.each(PAUSE):
            state: dict[str, Any] = {
                "opening": project.opening.as_dict(),
                "version": project.history.version if project.history.texts else "",
                "runs": {name: run.job.as_dict() for name, run in project.runs.items()},
                "jobs": {name: job.as_dict() for name, job in project.jobs.items()},
            }
            yield f"data: {json.dumps(state)}\n\n".encode()

    return StreamingResponse(stream(), media_type="text/event-stream")


ROUTES = [
    Route("/", show),
    Route("/browse", browse),
    Route("/open", open_table, methods=["POST"]),
    Route("/database", database, methods=["POST"]),
    Route("/wipe", wipe, methods=["POST"]),
    Route("/language", language, methods=["POST"]),
    Route("/p/{project}", enter),
    Route("/p/{project}/events", events),
    Route("/p/{project}/remove", remove, methods=["POST"]),
]
