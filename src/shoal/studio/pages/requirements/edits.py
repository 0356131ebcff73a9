"""Edits: each form of the page changes the plan, or shows why that is not possible, where it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal import catalog
from shoal.base.errors import BadPlan, ShoalError
from shoal.plan import Plan
from shoal.plan.ways_out import resolved
from shoal.studio.page import back_to, fields_of, project_of, studio_of, wants_parts, wording_of
from shoal.studio.pages._steps import opened
from shoal.studio.pages.requirements.page import ABOUT, drawn, page
from shoal.studio.project import Project
from shoal.studio.requirements import key_sets
from shoal.studio.requirements.fields import number_from, options_from, whole_from
from shoal.studio.requirements.limit_rows import limits_from
from shoal.studio.requirements.mistakes import mistake_of, way_from
from shoal.studio.requirements.offers import FRACTION, made
from shoal.studio.sources.named_file import named_population
from shoal.table.roles import columns_with_role

Typed = dict[str, str]
Change = Callable[[Plan, Typed], Plan]


async def changed(request: Request, change: Change, place: str) -> Response:
    """Change the plan as a form says, and show the page again, with the mistake at its place."""
    project = project_of(request)
    if not project.is_ready:
        return await opened(request, page)
    fields = await fields_of(request)
    typed = dict(fields)
    refused: Response | None = None
    if typed.get("version") not in (None, project.history.version):
        return drawn(request, project, error=wording_of(request)("errors.stale"))
    try:
        project.edit(lambda plan: change(plan, typed))
    except ShoalError as error:
        where = place or ""
        refused = drawn(request, project, mistake_of(error, project.plan, where, typed))
    return refused or after(request, project)


def after(request: Request, project: Project) -> Response:
    """The page after a change."""
    if wants_parts(request):
        return drawn(request, project)
    return back_to(f"/p/{project.name}/requirements")


# Models


async def add(request: Request) -> Response:
    """Add a model with usual options."""
    return await changed(request, with_model, "add")


def with_model(plan: Plan, typed: Typed) -> Plan:
    """The plan with one more requirement; an algorithm that supports it, if the plan's does not."""
    fraction = typed.get(FRACTION, "").strip()
    share = number_from(FRACTION, fraction) if fraction else None
    model = made(typed.get("name", ""), typed.get("column") or None, share)
    return plan.changed(models=[*plan.models, model])


async def change_model(request: Request) -> Response:
    """Change the options of a model."""
    place = request.path_params["place"]

    def change(plan: Plan, typed: Typed) -> Plan:
        kind = type(_model(plan, place))
        given = {name: value for name, value in typed.items() if name != "version"}
        model = kind(**options_from(kind, given))
        return plan.changed(models=[*plan.models[:place], model, *plan.models[place + 1 :]])

    return await changed(request, change, f"model-{place}")


async def remove_model(request: Request) -> Response:
    """Remove a model."""
    place = request.path_params["place"]

    def change(plan: Plan, typed: Typed) -> Plan:  # noqa: ARG001
        _model(plan, place)
        return plan.changed(models=[*plan.models[:place], *plan.models[place + 1 :]])

    return await changed(request, change, f"model-{place}")


def _model(plan: Plan, place: int) -> Any:
    if not 0 <= place < len(plan.models):
        raise BadPlan("the plan does not have this requirement any more")
    return plan.models[place]


# The population


async def population(request: Request) -> Response:
    """Name a table of the population, or none."""
    start = studio_of(request).start
    return await changed(
        request, lambda plan, typed: with_population(plan, typed, start), "population"
    )


def with_population(plan: Plan, typed: Typed, start: Path) -> Plan:
    """The plan with this table of the population; without a path, with none."""
    data = typed.get("data", "").strip()
    if not data:
        return plan.changed(population=plan.population.without_data())
    named = {"data": named_population(start, data), "incomplete": "incomplete" in typed}
    return plan.changed(population=plan.population.model_copy(update=named))


# Attackers


async def attackers(request: Request) -> Response:
    """Change who knows what; the form is shown as it was entered if that is refused."""
    project = project_of(request)
    if not project.is_ready:
        return await opened(request, page)
    fields = await fields_of(request)
    typed = dict(fields)
    if typed.get("version") not in (None, project.history.version):
        return drawn(request, project, error=wording_of(request)("errors.stale"))
    sets = key_sets.key_sets_from(fields)
    quasi = columns_with_role(project.plan.columns, "quasi")
    try:
        sets = key_sets.edited(sets, typed.get("action", ""), len(quasi))
        project.edit(lambda plan: plan.changed(attackers=key_sets.attackers_of(plan, sets)))
    except ShoalError as error:
        mistake = mistake_of(error, project.plan, "attackers", typed)
        return drawn(request, project, mistake, sets)
    return after(request, project)


# Limits and about


async def limits(request: Request) -> Response:
    """Change the limits."""
    return await changed(
        request, lambda plan, typed: plan.changed(limits=limits_from(plan, typed)), "limits"
    )


async def about(request: Request) -> Response:
    """Change what the report says about the release."""
    return await changed(request, with_about, "about")


def with_about(plan: Plan, typed: Typed) -> Plan:
    """The plan with these texts; empty ones are left out."""
    given: dict[str, Any] = {
        name: typed[name].strip() for name in ABOUT if typed.get(name, "").strip()
    }
    signers = [line.strip() for line in typed.get("signers", "").splitlines() if line.strip()]
    return plan.changed(about=given | ({"signers": signers} if signers else {}))


# The method


async def method(request: Request) -> Response:
    """Change algorithm, loss, suppression and seed."""
    return await changed(request, with_method, "method")


def with_method(plan: Plan, typed: Typed) -> Plan:
    """The plan with this method; another algorithm begins with its default options."""
    name = typed.get("algorithm", plan.algorithm.name)
    kind = catalog.algorithms.named(name)
    options = options_from(kind, typed) if typed.get("of") == name else {}
    seed = typed.get("seed", "").strip()
    share = typed.get("plan-suppression", "").strip()
    loss = typed.get("loss", plan.loss.name)
    return plan.changed(
        algorithm={"name": name, **options},
        loss=plan.loss if loss == plan.loss.name else loss,
        seed=whole_from("seed", seed) if seed else None,
        suppression=number_from("suppression", share) / 100.0 if share else 0.0,
    )


# Ways out


async def way_out(request: Request) -> Response:
    """Do what a button next to a mistake proposes."""
    return await changed(request, lambda plan, typed: resolved(plan, way_from(typed)), "")


ROUTES = [
    Route("/p/{project}/requirements/models/add", add, methods=["POST"]),
    Route("/p/{project}/requirements/models/{place:int}", change_model, methods=["POST"]),
    Route("/p/{project}/requirements/models/{place:int}/remove", remove_model, methods=["POST"]),
    Route("/p/{project}/requirements/population", population, methods=["POST"]),
    Route("/p/{project}/requirements/attackers", attackers, methods=["POST"]),
    Route("/p/{project}/requirements/limits", limits, methods=["POST"]),
    Route("/p/{project}/requirements/about", about, methods=["POST"]),
    Route("/p/{project}/requirements/method", method, methods=["POST"]),
    Route("/p/{project}/requirements/way", way_out, methods=["POST"]),
]
