"""The hierarchy of a column: its kind, its tree with counts, and groups that are made by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, NamedTuple, get_args
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from shoal.base.errors import BadInput, ShoalError
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.calendar import as_date
from shoal.hierarchies.values import number_of
from shoal.studio.page import (
    NotFound,
    back_to,
    fields_of,
    project_of,
    shown,
    wants_parts,
    wording_of,
)
from shoal.studio.pages._steps import opened
from shoal.studio.project import Project
from shoal.studio.tasks.trees.look import PAGE, Unfolded
from shoal.studio.tasks.trees.regroup import MOST, Regroup, Step
from shoal.studio.trees.forms import (
    KINDS,
    STEPS,
    Fields,
    kind_of,
    setting_of,
    shown_settings,
    with_hierarchy,
)
from shoal.studio.trees.state import Addresses, nodes_of, opened_in, unfolded_of
from shoal.table.roles import columns_with_role

MOST_BYTES = 20_000_000  # of a level table
GENERALIZED = ("quasi", "sensitive")  # roles of columns that can have a hierarchy


class Made(NamedTuple):
    """What a form makes of the hierarchy, and what is unfolded afterwards."""

    setting: Any
    opened: tuple[int, ...] | None = None


async def show(request: Request) -> Response:
    """The page."""
    return await opened(request, page)


async def page(
    request: Request, project: Project, error: str, unfolded: Unfolded | None = None
) -> Response:
    """The whole page, or the parts that change with the plan."""
    plan, name = project.plan, _name(request, project)
    column = plan.columns[name]
    if column.role not in GENERALIZED:
        raise NotFound(
            f"column {name!r} has the role {column.role}, and is not generalized; make it a "
            "quasi-identifier first"
        )
    version = project.history.version
    unfolded = unfolded or unfolded_of(request.query_params, version)
    fields = await project.table.ask("trees.fields", column=name)
    view = None
    try:
        view = await project.table.ask(
            "trees.look", plan=str(project.plan_file), column=name, unfolded=unfolded
        )
    except BadInput as refused:  # a plan from elsewhere may not fit the table
        error = error or str(refused)
    here = _address(request, project)
    nodes = () if view is None else opened_in(view.top)
    kind = kind_of(column.hierarchy)
    suits = fields.suits if kind in fields.suits else (kind, *fields.suits)
    names = [one.name for one in project.overview.columns]
    return shown(
        request,
        _template(request),
        409 if error else 200,
        project=project,
        plan=plan,
        name=name,
        place=request.path_params["place"],
        column=column,
        kind=kind,
        kinds=[*suits, *(one for one in KINDS if one not in suits)],
        suits=suits,
        fields=fields,
        cuts=_cuts(column.hierarchy, fields),
        start=shown_settings(column.hierarchy, fields.start),
        words=(column.hierarchy or Hierarchy.flat()).describe(),
        is_proposed=_same(column.hierarchy, fields.proposed),
        calendar=STEPS,
        view=view,
        unfolded=unfolded,
        page_size=PAGE,
        addresses=Addresses(here, version, unfolded, nodes),
        others=[
            (names.index(n), n) for n in columns_with_role(plan.columns, "quasi") if n in names
        ],
        most=MOST,
        here=f"columns/{request.path_params['place']}/hierarchy",
        step="columns",
        error=error,
    )


def _template(request: Request) -> str:
    """Without a change of the plan, only the tree is another one."""
    if not wants_parts(request):
        return "hierarchy.html.jinja"
    reads = request.method == "GET"
    return "hierarchy_view.html.jinja" if reads else "hierarchy_parts.html.jinja"


def _name(request: Request, project: Project) -> str:
    place: int = request.path_params["place"]
    if project.overview is None or not 0 <= place < len(project.overview.columns):
        raise NotFound("there is no such column")
    found: str = project.overview.columns[place].name
    return found


def _address(request: Request, project: Project) -> str:
    return f"/p/{project.name}/columns/{request.path_params['place']}/hierarchy"


def _same(hierarchy: Hierarchy | None, setting: Any) -> bool:
    return bool((None if hierarchy is None else hierarchy.setting()) == setting)


def _cuts(hierarchy: Hierarchy | None, fields: Any) -> list[tuple[float, int]]:
    """The borders on the histogram, each with the number of levels that keep it."""
    now = None if kind_of(hierarchy) != "borders" or hierarchy is None else hierarchy.setting()
    levels = fields.start["borders"] if now is None else now["borders"]
    kept: dict[float, int] = {}
    for border in (one for level in levels for one in level):
        day, number = as_date(border), number_of(border)
        place = float(number) if number is not None else float(day.toordinal()) if day else 0.0
        kept[place] = kept.get(place, 0) + 1
    return list(kept.items())


# Changes


async def changed(
    request: Request, fields: Fields, make: Callable[[Project, str], Awaitable[Made]]
) -> Response:
    """Give the column the hierarchy that a form makes; an error leaves it as it was."""
    project = project_of(request)
    if not project.is_ready:
        return back_to(_address(request, project))
    name, form = _name(request, project), dict(fields)
    version = form.get("version") or project.history.version
    unfolded = unfolded_of(form, project.history.version)
    error = ""
    try:
        if version != project.history.version:
            raise ShoalError(wording_of(request)("errors.stale"))
        made = await make(project, name)
        if version != project.history.version:  # while the table was asked
            raise ShoalError(wording_of(request)("errors.stale"))
        project.edit(lambda plan: with_hierarchy(plan, name, made.setting))
        unfolded = replace(unfolded, nodes=made.opened, begin={})
    except ShoalError as refused:
        error = str(refused)
    if wants_parts(request) or error:
        return await page(request, project, error, unfolded)
    now = Addresses(
        _address(request, project), project.history.version, unfolded, unfolded.nodes or ()
    )
    return back_to(now.here if unfolded.nodes else _address(request, project))


async def set_kind(request: Request) -> Response:
    """Choose another kind, or other numbers for it."""
    fields = await fields_of(request)

    async def make(project: Project, name: str) -> Made:
        if dict(fields).get("kind") == "proposed":
            found = await project.table.ask("trees.fields", column=name)
            return Made(found.proposed)
        setting = setting_of(fields)
        await _check(project, name, setting)
        return Made(setting)

    return await changed(request, fields, make)


async def _check(project: Project, name: str, setting: Any) -> None:
    with_hierarchy(project.plan, name, setting)  # what the plan says against it comes first
    await project.table.ask(
        "trees.check_fit", plan=str(project.plan_file), column=name, setting=setting
    )


async def regroup(request: Request) -> Response:
    """Make, move, rename or dissolve groups."""
    fields = await fields_of(request)
    form = dict(fields)

    async def make(project: Project, name: str) -> Made:
        step = form.get("step", "together")
        if step not in get_args(Step):
            raise NotFound("there is no such step")
        picked = [node for key, text in fields if key == "pick" for node in nodes_of(text, MOST)]
        picked += nodes_of(form.get("picked", ""), MOST)
        into = nodes_of(form.get("into", "")) or (0,)
        listed = form.get("open")
        change = Regroup(
            step=step,  # type: ignore[arg-type]
            nodes=tuple(dict.fromkeys(picked)),
            name=form.get("name", ""),
            into=into[0],
            find=form.get("q", "") if "all" in form else "",
            opened=None if listed is None else nodes_of(listed),
        )
        found = await project.table.ask(
            "trees.regroup", plan=str(project.plan_file), column=name, change=change
        )
        return Made(found.setting, found.opened)

    return await changed(request, fields, make)


async def take_levels(request: Request) -> Response:
    """Take a level table from a form, or from a file that a script sends."""
    title = wording_of(request)("hierarchy.pasted")
    if request.method == "PUT":
        fields: Fields = list(request.query_params.items())
        content = await _content(request)
        title = request.query_params.get("title", "")[:200] or title
    else:
        fields = await fields_of(request)
        content = dict(fields).get("table", "").encode()

    async def make(project: Project, name: str) -> Made:
        setting = await project.table.ask(
            "trees.read_levels",
            plan=str(project.plan_file),
            column=name,
            content=content,
            title=title,
            fill="fill" in dict(fields),
        )
        return Made(setting)

    return await changed(request, fields, make)


async def _content(request: Request) -> bytes:
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            raise ShoalError(
                f"this file has more than {MOST_BYTES // 1_000_000} MB; name it in the plan "
                'instead, as in hierarchy = "levels.csv"'
            )
    return content


async def give_levels(request: Request) -> Response:
    """The hierarchy as a level table, to keep or to edit elsewhere."""
    project = project_of(request)
    name = _name(request, project)
    text = await project.table.ask("trees.write_levels", plan=str(project.plan_file), column=name)
    named = f"attachment; filename=levels.csv; filename*=UTF-8''{quote(name[:80], safe='')}.csv"
    return PlainTextResponse(
        text, headers={"content-disposition": named}, media_type="text/csv; charset=utf-8"
    )


PLACE = "/p/{project}/columns/{place:int}/hierarchy"
ROUTES = [
    Route(PLACE, show),
    Route(f"{PLACE}/kind", set_kind, methods=["POST"]),
    Route(f"{PLACE}/groups", regroup, methods=["POST"]),
    Route(f"{PLACE}/levels", take_levels, methods=["POST", "PUT"]),
    Route(f"{PLACE}/levels.csv", give_levels),
]
