"""Columns: one line per column, with its values, its role, and how much it singles people out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.base.errors import ShoalError
from shoal.flow.draft.unprotected import unprotected
from shoal.plan import Plan
from shoal.studio.columns.changes import (
    SINGLE,
    Changed,
    with_roles,
    with_settings,
    with_suppression,
    words_in,
)
from shoal.studio.columns.lines import line_of, lines_of, version_of
from shoal.studio.page import (
    NotFound,
    back_to,
    fields_of,
    form_of,
    project_of,
    shown,
    wants_parts,
    wording_of,
)
from shoal.studio.pages._steps import opened, opening_of
from shoal.studio.project import Project
from shoal.studio.sources.source import has_layout
from shoal.studio.tasks.open import Correction
from shoal.table.roles import Role, columns_with_role, limited_columns


async def show(request: Request) -> Response:
    """The page."""
    return await opened(request, page)


async def page(request: Request, project: Project, error: str, status: int = 200) -> Response:
    """All columns; `?more=3` shows the settings of one, `?q=` and `?role=` only some."""
    plan = project.plan
    place = _number(request.query_params.get("more", ""))
    if "rank" in request.query_params:  # for pages without scripts
        await project.ranking()
    ranked = project.known_ranking()
    return shown(
        request,
        "columns.html.jinja",
        status,
        **_given(project, plan, error),
        lines=lines_of(plan, project.overview.columns, ranked, place),
        ranked=ranked,
        query=request.query_params.get("q", ""),
        only=request.query_params.get("role", ""),
        at=_number(request.query_params.get("at", "")),
    )


def _given(
    project: Project, plan: Plan, error: str, changed: Changed | None = None
) -> dict[str, Any]:
    """What the parts of the page have in common."""
    counts = {role: len(columns_with_role(plan.columns, role)) for role in get_args(Role)}
    return {
        "project": project,
        "plan": plan,
        "view": project.overview,
        "roles": get_args(Role),
        "counts": counts,
        "limited": limited_columns(plan.columns),
        "bare": unprotected(plan),
        "doubts": [(i, one.name) for i, one in enumerate(project.overview.columns) if one.doubt],
        "layout": has_layout(project.source),
        "changed": changed,
        "state": project.history.version,
        "fresh": False,
        "step": "columns",
        "error": error,
    }


def _line(
    request: Request,
    project: Project,
    place: int,
    is_open: bool,
    mistake: str = "",
    changed: Changed | None = None,
    also: tuple[str, ...] = (),
) -> Response:
    """The parts that change with one column: its line, and what is said about all of them."""
    plan, views, ranked = project.plan, project.overview.columns, project.known_ranking()
    places = [place, *(i for i, one in enumerate(views) if one.name in also)]
    return shown(
        request,
        "columns_parts.html.jinja",
        409 if mistake else 200,
        **_given(project, plan, "", changed),
        lines=[
            line_of(plan, views, i, ranked, is_open and i == place, mistake if i == place else "")
            for i in places
        ],
        ranked=ranked,
    )


async def more(request: Request) -> Response:
    """The line of a column with its settings, or without."""
    project = project_of(request)
    if not project.is_ready:
        return back_to(f"/p/{project.name}/columns")
    place = _place(request, project)
    if not wants_parts(request):
        return back_to(f"/p/{project.name}/columns?more={place}#column-{place}")
    return _line(request, project, place, request.query_params.get("open") != "0")


async def ranking(request: Request) -> Response:
    """How much the columns single people out, with the roles of the plan as it is."""
    project = project_of(request)
    error = ""
    ranked = None
    try:
        ranked = await project.ranking()
    except ShoalError as refused:
        error = str(refused)
    plan = project.plan
    views = project.overview.columns if project.overview else ()
    return shown(
        request,
        "columns_ranking.html.jinja",
        project=project,
        plan=plan,
        view=project.overview,
        ranked=ranked,
        lines=lines_of(plan, views, ranked),
        step="columns",
        error=error,
    )


async def role(request: Request) -> Response:
    """Give a column another role."""
    project = project_of(request)
    if not project.is_ready and project.first_look is not None:
        return await _chosen(request, project)

    def change(plan: Plan, place: int, form: dict[str, str], project: Project) -> Changed:
        return with_roles(plan, project.overview.columns, [place], form.get("role", ""))

    return await _edited(request, change)


async def _chosen(request: Request, project: Project) -> Response:
    """Note a role that is chosen while records are counted: a step that is made after it."""
    look, place = project.first_look, request.path_params["place"]
    word = (await form_of(request)).get("role", "")
    if not 0 <= place < len(look.columns) or word not in get_args(Role):
        raise NotFound("there is no such column, or no such role")
    shown_roles = {**look.roles, **project.chosen_roles}
    if word in SINGLE:  # one column has such a role, as in a plan
        others = [name for name, role in shown_roles.items() if role == word]
        project.chosen_roles |= dict.fromkeys(others, SINGLE[word])
    name = look.columns[place].name
    project.chosen_roles.pop(name, None)  # the newest one is the last step
    project.chosen_roles[name] = word
    if wants_parts(request):
        return shown(request, "opening_parts.html.jinja", **opening_of(project))
    return back_to(f"/p/{project.name}/columns")


async def settings(request: Request) -> Response:
    """Change the importance of a column, its limit, or whether it is accepted."""

    def change(plan: Plan, place: int, form: dict[str, str], project: Project) -> Changed:
        return Changed(with_settings(plan, project.overview.columns[place].name, form))

    return await _edited(request, change)


async def _edited(
    request: Request, change: Callable[[Plan, int, dict[str, str], Project], Changed]
) -> Response:
    """Change one column as a form says, unless another page has changed it meanwhile."""
    project = project_of(request)
    if not project.is_ready:
        return back_to(f"/p/{project.name}/columns")
    place = _place(request, project)
    form = await form_of(request)
    name = project.overview.columns[place].name
    plan, mistake, made = project.plan, "", None
    stated = form.get("column")  # as the page shows it; other columns may have changed meanwhile
    try:
        if stated not in (None, version_of(name, plan.columns[name], name in plan.accept)):
            raise ShoalError(wording_of(request)("errors.stale"))
        made = change(plan, place, form, project)
        project.edit(lambda _: made.plan)
    except ShoalError as refused:
        mistake = str(refused)
    if wants_parts(request):
        also = (made.before,) if made and not mistake else ()
        return _line(request, project, place, "open" in form, mistake, made, also)
    if mistake:
        return await page(request, project, mistake, 409)
    more = f"?more={place}" if "open" in form else ""
    return back_to(f"/p/{project.name}/columns{more}#column-{place}")


async def words(request: Request) -> Response:
    """Say which values of a column mean missing; the table is read again for that."""
    project = project_of(request)
    place = _place(request, project)
    form = await form_of(request)
    name = project.overview.columns[place].name
    found = words_in(form.get("words", ""))
    project.attempt = None
    project.correct(Correction(columns={name: {"missing_values": found or None}}))
    return _after_correction(request, project)


async def way(request: Request) -> Response:
    """Choose one of the ways to read a column; the table is read again for that."""
    project = project_of(request)
    place = _place(request, project)
    form = await form_of(request)
    view = project.overview.columns[place]
    chosen = form.get("way", "")
    if not chosen.isdecimal() or int(chosen) >= len(view.ways):
        raise NotFound("there is no such way to read it")
    project.attempt = None
    project.correct(Correction(columns={view.name: dict(view.ways[int(chosen)].settings)}))
    return _after_correction(request, project)


def _after_correction(request: Request, project: Project) -> Response:
    if wants_parts(request):
        return shown(request, "rereading.html.jinja", project=project, fresh=False)
    return back_to(f"/p/{project.name}/columns")


async def roles(request: Request) -> Response:
    """Give several columns another role at once."""
    project = project_of(request)
    if not project.is_ready:
        return back_to(f"/p/{project.name}/columns")
    fields = await fields_of(request)
    form = dict(fields)
    listed = form.get("places", "").split(",")
    places = sorted({int(one) for one in listed if one.isascii() and one.isdecimal()})
    error = ""
    try:
        if form.get("version") not in (None, project.history.version):
            raise ShoalError(wording_of(request)("errors.stale"))
        if not places or places[-1] >= len(project.overview.columns):
            raise ShoalError(wording_of(request)("columns.none_shown"))
        made = with_roles(project.plan, project.overview.columns, places, form.get("role", ""))
        project.edit(lambda _: made.plan)
    except ShoalError as refused:
        error = str(refused)
    if not wants_parts(request):
        if error:
            return await page(request, project, error, 409)
        return back_to(f"/p/{project.name}/columns")
    plan, ranked = project.plan, project.known_ranking()
    return shown(
        request,
        "columns_parts.html.jinja",
        409 if error else 200,
        **_given(project, plan, error),
        lines=lines_of(plan, project.overview.columns, ranked),
        ranked=ranked,
    )


async def suppression(request: Request) -> Response:
    """Say how many records the limits of columns may suppress."""
    project = project_of(request)
    form = await form_of(request)
    error = ""
    try:
        project.edit(lambda plan: with_suppression(plan, form.get("suppression", "")))
    except ShoalError as refused:
        error = str(refused)
    if not wants_parts(request):
        if error:
            return await page(request, project, error, 409)
        return back_to(f"/p/{project.name}/columns")
    return shown(
        request,
        "columns_parts.html.jinja",
        409 if error else 200,
        **_given(project, project.plan, error),
        lines=[],
        ranked=None,
    )


def _number(word: str) -> int | None:
    """The place of a column in an address; None: there is none."""
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 6 else None


def _place(request: Request, project: Project) -> int:
    place: int = request.path_params["place"]
    if project.overview is None or not 0 <= place < len(project.overview.columns):
        raise NotFound("there is no such column")
    return place


ROUTES = [
    Route("/p/{project}/columns", show),
    Route("/p/{project}/columns/ranking", ranking),
    Route("/p/{project}/columns/roles", roles, methods=["POST"]),
    Route("/p/{project}/columns/suppression", suppression, methods=["POST"]),
    Route("/p/{project}/columns/{place:int}", more),
    Route("/p/{project}/columns/{place:int}/role", role, methods=["POST"]),
    Route("/p/{project}/columns/{place:int}/settings", settings, methods=["POST"]),
    Route("/p/{project}/columns/{place:int}/words", words, methods=["POST"]),
    Route("/p/{project}/columns/{place:int}/way", way, methods=["POST"]),
]
