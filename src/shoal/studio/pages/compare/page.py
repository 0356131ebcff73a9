"""The page: what is compared, how far it is, the results, and the runs that were kept."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.studio.page import NotFound, project_of, shown, wants_parts
from shoal.studio.pages._steps import opened
from shoal.studio.pages._works import Fields, started, stopped
from shoal.studio.pages.compare.asked import LIMIT, asked_of, ks_of, own_k, ticked, with_line
from shoal.studio.pages.requirements.page import losses_of, serving
from shoal.studio.project import Project

BESIDE = 8  # runs in one table, the newest
SMALL = 50_000  # records from which on the sample is proposed


async def show(request: Request) -> Response:
    """The page."""
    return await opened(request, page)


async def page(request: Request, project: Project, error: str) -> Response:
    """The form, the results and the kept runs."""
    plan, work = project.plan, project.works["compare"]
    done = sorted((one for one in project.runs.values() if one.facts), key=lambda one: one.number)
    return shown(
        request,
        f"compare/{'parts' if wants_parts(request) else 'page'}.html.jinja",
        project=project,
        plan=plan,
        step="compare",
        error=error,
        version=project.history.version,
        work=work,
        found=work.result,
        old=not work.is_about(project.history.text),
        algorithms=[one for one in serving(plan) if one[2]],
        chosen=ticked(plan, work.result),
        losses=losses_of(plan),
        k=own_k(plan),
        ks=ks_of(plan, work.result),
        limit=LIMIT,
        large=project.overview.rows > SMALL,
        runs=done[-BESIDE:],
        columns=columns_of([one.facts for one in done[-BESIDE:] if one.facts]),
    )


def columns_of(facts: list[dict[str, Any]]) -> list[str]:
    """The columns of which any of these releases lost something, in their order."""
    return list(dict.fromkeys(name for one in facts for name in one["column_losses"]))


async def start(request: Request) -> Response:
    """Start a comparison."""
    return await started(request, begin, page, "compare")


async def begin(project: Project, fields: Fields) -> None:
    """Compare what the form names."""
    plan, work = project.plan, project.works["compare"]
    plan.check_served()
    asked = asked_of(plan, fields)
    sample = None
    if dict(fields).get("on") == "sample":
        sample = str(await project.sample(project.plan_file))
    work.begin(project.history.text, source=project.source, sample=sample, asked=asked)


async def stop(request: Request) -> Response:
    """Stop it; finished runs stay."""
    return await stopped(request, "compare", page, "compare")


async def choose(request: Request) -> Response:
    """Set the method of a line in the plan."""

    async def take(project: Project, fields: Fields) -> None:
        found = project.works["compare"].result
        place = dict(fields).get("line", "")
        project.edit(lambda plan: with_line(plan, found, place))

    return await started(request, take, page, "requirements")


async def plot(request: Request) -> Response:
    """The picture of the comparison."""
    found = project_of(request).works["compare"].result
    if not found or not found["plot"]:
        raise NotFound("there is no picture")
    return Response(found["plot"], media_type="image/svg+xml")


ROUTES = [
    Route("/p/{project}/compare", show),
    Route("/p/{project}/compare/start", start, methods=["POST"]),
    Route("/p/{project}/compare/stop", stop, methods=["POST"]),
    Route("/p/{project}/compare/choose", choose, methods=["POST"]),
    Route("/p/{project}/compare/plot.svg", plot),
]
