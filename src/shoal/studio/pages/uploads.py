"""Uploads: files that are dropped, for a new table, for one whose copy is gone, or a dictionary."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shoal.base.errors import BadInput
from shoal.studio.page import back_to, project_of, studio_of, wording_of
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.sources.source import of_file
from shoal.studio.sources.uploads import NoSpace, TooLarge, received
from shoal.studio.tasks.open import Correction

STATUS: dict[type[BadInput], int] = {TooLarge: 413, NoSpace: 507}
MOST_DICTIONARY = 20_000_000  # bytes


async def new(request: Request) -> Response:
    """A file becomes a new table."""
    studio = studio_of(request)
    title = _title(request)
    try:
        path = await _received(request, studio.uploads, studio.most_bytes)
    except BadInput as error:
        return _refused(error)
    project = studio.add(title, of_file(path, uploaded=True))
    return JSONResponse({"address": f"/p/{project.name}/columns"})


async def again(request: Request) -> Response:
    """A file for a project that has a plan: the newest one counts, whichever arrives last."""
    studio, project = studio_of(request), project_of(request)
    project.uploads_begun += 1
    number = project.uploads_begun
    try:
        path = await _received(request, studio.uploads, studio.most_bytes)
    except BadInput as error:
        return _refused(error)
    if number != project.uploads_begun or project.name not in studio.projects:
        path.unlink(missing_ok=True)
        return JSONResponse({"error": wording_of(request)("drop.newer")}, 409)
    studio.replace(project, _title(request), of_file(path, uploaded=True))
    return JSONResponse({"address": f"/p/{project.name}/columns"})


async def dictionary(request: Request) -> Response:
    """A table that describes the columns: labels, roles and what codes stand for."""
    project = project_of(request)
    folder = project.folder.folder("dictionary")
    try:
        path = await _received(request, folder, MOST_DICTIONARY)
    except BadInput as error:
        return _refused(error)
    project.correct(Correction(described=True), dictionary=str(path))
    return JSONResponse({"address": f"/p/{project.name}/columns"})


async def without_dictionary(request: Request) -> Response:
    """Forget what described the columns; roles that it gave stay in the plan."""
    project = project_of(request)
    project.dictionary = None
    project.folder.folder("dictionary").wipe()
    project.open()
    return back_to(f"/p/{project.name}/columns")


async def _received(request: Request, folder: PrivateFolder, most: int) -> Path:
    stated = request.headers.get("content-length", "")
    try:
        return await received(
            folder,
            _title(request),
            int(stated) if stated.isdecimal() else None,
            request.stream(),
            most,
        )
    except ClientDisconnect:
        raise BadInput("the connection was lost") from None  # nobody hears it


def _title(request: Request) -> str:
    return Path(unquote(request.headers.get("x-file-name", "")).replace("\\", "/")).name


def _refused(error: BadInput) -> Response:
    return JSONResponse({"error": str(error)}, STATUS.get(type(error), 422))


ROUTES = [
    Route("/upload", new, methods=["PUT"]),
    Route("/p/{project}/upload", again, methods=["PUT"]),
    Route("/p/{project}/dictionary", dictionary, methods=["PUT"]),
    Route("/p/{project}/dictionary/remove", without_dictionary, methods=["POST"]),
]
