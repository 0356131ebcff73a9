"""The frontier: what more protection costs, as a picture whose points can be chosen."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from shoal.base.errors import BadPlan
from shoal.comparing.frontier.settings import changed_model, own_values
from shoal.comparing.frontier.words import values_of
from shoal.plan import Plan
from shoal.studio.page import project_of, shown
from shoal.studio.pages._works import Fields, started, stopped
from shoal.studio.pages.requirements.edits import changed
from shoal.studio.project import Project
from shoal.studio.requirements.works import frontier_facts


async def show(request: Request) -> Response:
    """How far it is, and what was found."""
    project = project_of(request)
    return await part(request, project, "") if project.is_ready else HTMLResponse("", 409)


async def part(request: Request, project: Project, error: str) -> Response:
    """The part of the page."""
    return shown(
        request,
        "requirements/frontier.html.jinja",
        project=project,
        step="requirements",
        version=project.history.version,
        **frontier_facts(project, error),
    )


async def start(request: Request) -> Response:
    """Start it."""
    return await started(request, begin, part, "requirements")


async def begin(project: Project, fields: Fields) -> None:
    """Try settings around the current plan."""
    typed, plan = dict(fields), project.plan
    plan.check_served()
    if not own_values(plan):
        raise BadPlan("no requirement has a k, an l or a t to vary; add k-anonymity")
    values = {
        name: found
        for name in own_values(plan)
        if (found := values_of(name, typed.get(name, "").strip() or None))
    }
    project.works["frontier"].begin(
        project.history.text,
        source=project.source,
        values=values,
        risk=typed.get("risk") or None,
        limits=bool(plan.limits) and "limits" in typed,
    )


async def stop(request: Request) -> Response:
    """Stop it; what was found so far stays."""
    return await stopped(request, "frontier", part, "requirements")


async def choose(request: Request) -> Response:
    """Set the k, l and t of a setting in the plan."""
    project = project_of(request)

    def change(plan: Plan, typed: dict[str, str]) -> Plan:
        return with_setting(plan, project.works["frontier"].result, typed.get("setting", ""))

    return await changed(request, change, "add")


def with_setting(plan: Plan, found: dict[str, Any] | None, place: str) -> Plan:
    """The plan with the values of a point of a frontier."""
    points = [] if found is None else found["points"]
    if not place.isdecimal() or int(place) >= len(points):
        raise BadPlan("this setting is not there any more; compute the frontier again")
    point = points[int(place)]
    options = {name: point[name] for name in ("k", "l", "t") if point.get(name) is not None}
    return plan.changed(models=[changed_model(model, options) for model in plan.models])


ROUTES = [
    Route("/p/{project}/frontier", show),
    Route("/p/{project}/frontier/start", start, methods=["POST"]),
    Route("/p/{project}/frontier/stop", stop, methods=["POST"]),
    Route("/p/{project}/frontier/choose", choose, methods=["POST"]),
]
