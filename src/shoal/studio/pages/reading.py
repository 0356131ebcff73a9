"""Reading: how a file was understood, corrections with a live preview, and how far it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.base.errors import ShoalError
from shoal.io.raw_text.spelling import Spelling
from shoal.io.reading import USUAL
from shoal.studio.opening import named
from shoal.studio.page import (
    back_to,
    fields_of,
    project_of,
    shown,
    studio_of,
    wants_parts,
    wording_of,
)
from shoal.studio.pages._steps import opening_of
from shoal.studio.project import Project
from shoal.studio.sources.corrections import (
    OWN,
    TAB,
    Asked,
    asked_by,
    correction_of,
    current,
    option_of,
    options,
)
from shoal.studio.sources.source import has_layout, is_gone, same
from shoal.studio.tasks.peek import Peek

DELIMITERS = (",", ";", TAB, "|", " ", ":", "^", "~")


async def show(request: Request) -> Response:
    """How the table is read, with its first rows."""
    project = project_of(request)
    return await _page(request, project, current(project))


async def change(request: Request) -> Response:
    """Look at the first rows as the form says it, or read the whole table so."""
    project = project_of(request)
    form = dict(await fields_of(request))
    asked = asked_by(form, project)
    if "apply" not in form or asked.mistakes:
        return await _page(request, project, asked, 422 if asked.mistakes else 200)
    stated = form.get("version")
    if project.history.texts and stated not in (None, project.history.version):
        error = wording_of(request)("errors.stale")
        return await _page(request, project, current(project), 409, error)
    project.attempt = asked
    source = asked.source(project)
    other = not same(source, project.source)
    correction = replace(correction_of(asked, project), other_table=other)
    project.correct(correction, source=source if other else None)
    address = f"/p/{project.name}/columns"
    if wants_parts(request):
        return shown(request, "go.html.jinja", place="peek", address=address)
    return back_to(address)


async def _page(
    request: Request, project: Project, asked: Asked, status: int = 200, error: str = ""
) -> Response:
    """The form and the first rows; a script asks for what follows from its fields alone."""
    peek = Peek()
    if not asked.mistakes and not is_gone(project.source):
        peek = await _peek(request, project, asked)
    changes = wants_parts(request) and request.method == "POST"
    layout = has_layout(project.source)
    return shown(
        request,
        "reading_changes.html.jinja" if changes else _template(request),
        status,
        project=project,
        step="columns",
        error=error,
        asked=asked,
        peek=peek,
        layout=layout,
        encodings=USUAL,
        delimiters=DELIMITERS,
        delimiter=TAB if asked.reading.get("delimiter") == "\t" else asked.reading.get("delimiter"),
        found_delimiter=TAB if peek.delimiter == "\t" else peek.delimiter,
        gone=is_gone(project.source),
        **_spelled(project, asked, peek),
    )


def _template(request: Request) -> str:
    return "reading_parts.html.jinja" if wants_parts(request) else "reading.html.jinja"


async def _peek(request: Request, project: Project, asked: Asked) -> Peek:
    try:
        found: Peek = await studio_of(request).scout.ask(
            "peek",
            source=asked.source(project),
            reading=asked.reading,
            spellings={name: one for name, one in asked.spellings.items() if one != Spelling()},
            missing=[""] if asked.missing is None else asked.missing,
        )
    except ShoalError as error:
        return Peek(faults=(named(project, str(error)),))
    return Peek(**{**found.__dict__, "faults": tuple(named(project, one) for one in found.faults)})


def _spelled(project: Project, asked: Asked, peek: Peek) -> dict[str, Any]:
    """The columns whose numbers or dates are written in a way of their own, or may be."""
    views = {} if project.overview is None else {one.name: one for one in project.overview.columns}
    names = list(views) or list(peek.names)
    doubtful = [name for name, one in views.items() if one.spelling or one.ways]
    listed = [name for name in names if name in asked.spellings or name in doubtful]
    also = list(asked.spellings.values())
    for name in doubtful:
        also += [Spelling(**way.settings) for way in views[name].ways]
    numbers, dates = options(also)
    return {
        "spelled": [
            (name, option_of(asked.spellings.get(name)), views.get(name)) for name in listed
        ],
        "others": [name for name in names if name not in listed],
        "numbers": [(option_of(one), one) for one in numbers],
        "dates": [(option_of(one), one) for one in dates],
        "own": OWN,
    }


async def opening(request: Request) -> Response:
    """How far the reading of a table is; where it is over, the page of its columns."""
    project = project_of(request)
    if project.is_ready and not wants_parts(request):
        return back_to(f"/p/{project.name}/columns")
    return shown(request, "opening_parts.html.jinja", **opening_of(project))


async def stop(request: Request) -> Response:
    """Give up reading."""
    project = project_of(request)
    project.stop_reading()
    return back_to(f"/p/{project.name}/columns")


async def again(request: Request) -> Response:
    """Read the table again as it is: the file may have changed."""
    project = project_of(request)
    if project.opening.is_over or project.opening.status == "waiting":
        project.overview = None
        project.open()
    return back_to(f"/p/{project.name}/columns")


async def rereading(request: Request) -> Response:
    """How far a correction is; when it is done, the page is loaded again."""
    project = project_of(request)
    seen = request.query_params.get("seen", "")
    fresh = seen.isdecimal() and int(seen) < project.times_read and project.is_ready
    return shown(request, "rereading.html.jinja", project=project, fresh=fresh)


ROUTES = [
    Route("/p/{project}/reading", show),
    Route("/p/{project}/reading", change, methods=["POST"]),
    Route("/p/{project}/opening", opening),
    Route("/p/{project}/opening/stop", stop, methods=["POST"]),
    Route("/p/{project}/opening/again", again, methods=["POST"]),
    Route("/p/{project}/rereading", rereading),
]
