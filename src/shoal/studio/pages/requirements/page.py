"""The page: requirements, limits, attackers and the method, and the place of the preview."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.base.errors import BadPlan
from shoal.plan import Plan
from shoal.plan.limits import PRESETS
from shoal.studio.page import shown, wants_parts
from shoal.studio.pages._steps import opened
from shoal.studio.project import Project
from shoal.studio.requirements.fields import FormField, fields_of, text_of
from shoal.studio.requirements.key_sets import KeySet, key_sets_of
from shoal.studio.requirements.limit_rows import rows_of
from shoal.studio.requirements.mistakes import PLACES, Mistake, checked
from shoal.studio.requirements.offers import fitting_columns, most_of, offers
from shoal.studio.requirements.works import frontier_facts, whole_facts
from shoal.table.roles import columns_with_role

LONG = 20_000  # characters of a plan that the page shows itself
ABOUT = ("title", "owner", "purpose", "recipient", "contact", "date")


async def show(request: Request) -> Response:
    """The page."""
    return await opened(request, page)


async def page(request: Request, project: Project, error: str) -> Response:
    """The page, with an error that has no place of its own."""
    return drawn(request, project, error=error)


def drawn(
    request: Request,
    project: Project,
    mistake: Mistake | None = None,
    sets: Sequence[KeySet] | None = None,
    error: str = "",
) -> HTMLResponse:
    """The page or its parts; `mistake` is a refused change, `sets` the attackers it had."""
    plan = project.plan
    template = "parts" if wants_parts(request) else "page"
    wrong = mistake or checked(plan)
    return shown(
        request,
        f"requirements/{template}.html.jinja",
        409 if mistake or error else 200,
        project=project,
        plan=plan,
        step="requirements",
        error=error,
        mistakes={} if wrong is None else {wrong.place: wrong},
        places=places_of(plan),
        **models_of(project, plan, mistake),
        **method_of(plan, mistake),
        limits=rows_of(plan, _typed(mistake, "limits")),
        preset=(_typed(mistake, "limits") or {}).get("preset", plan.limits.preset or ""),
        presets=PRESETS,
        **population_of(plan, _typed(mistake, "population")),
        attackers=key_sets_of(plan) if sets is None else sets,
        quasi=columns_with_role(plan.columns, "quasi"),
        about=about_of(plan, _typed(mistake, "about")),
        **frontier_facts(project),
        **whole_facts(project),
        text=plan.to_toml(),
        long=LONG,
    )


def places_of(plan: Plan) -> list[str]:
    """All places of the page that can show a mistake."""
    return [*(f"model-{i}" for i in range(len(plan.models))), *PLACES]


def models_of(project: Project, plan: Plan, mistake: Mistake | None) -> dict[str, Any]:
    """The requirements of the plan with their fields, and those that can be added."""
    distinct = {one.name: one.distinct for one in project.overview.columns}
    columns = fitting_columns(plan)
    made = []
    for i, model in enumerate(plan.models):
        most = most_of(model, project.overview.people, distinct)
        typed = _typed(mistake, f"model-{i}")
        made.append((model, fields_of(model, columns, most, typed)))
    return {"models": made, "offers": offers(plan, distinct)}


def population_of(plan: Plan, typed: dict[str, str] | None) -> dict[str, Any]:
    """The table of the population, as it is named or was typed."""
    data, incomplete = plan.population.data, plan.population.incomplete
    if typed is not None:
        data, incomplete = typed.get("data", ""), "incomplete" in typed
    return {"everybody": "" if data is None else str(data), "incomplete": incomplete}


def method_of(plan: Plan, mistake: Mistake | None) -> dict[str, Any]:
    """Algorithm, loss and what else experts set."""
    typed = _typed(mistake, "method") or {}
    fields = fields_of(
        plan.algorithm, columns_with_role(plan.columns, "sensitive"), typed=typed or None
    )
    return {
        "algorithms": serving(plan),
        "options": [one for one in fields if one.kind != "list"],
        "losses": losses_of(plan),
        "seed": typed.get("seed", text_of(plan.seed)),
        "suppression": typed.get("plan-suppression", text_of(100.0 * plan.suppression)),
        "limited": bool(plan.algorithm.largest_suppression is None),
    }


def serving(plan: Plan) -> list[tuple[str, str, bool]]:
    """All algorithms: name, description, and whether they support the plan."""
    found = []
    for name, kind in catalog.algorithms.items():
        assert issubclass(kind, Algorithm)
        if kind.own_command and name != plan.algorithm.name:
            continue  # the studio publishes one table
        found.append((name, kind.summary(), _serves(plan, name)))
    return found


def _serves(plan: Plan, name: str) -> bool:
    try:
        chosen = plan if name == plan.algorithm.name else plan.changed(algorithm=name)
        chosen.changed(limits={}).check_served()
    except BadPlan:
        return False
    return True


def losses_of(plan: Plan) -> list[tuple[str, str]]:
    """The losses that a form can choose: name and description; that of the plan in any case."""
    return [
        (name, kind.description())  # type: ignore[attr-defined]
        for name, kind in catalog.losses.items()
        if name == plan.loss.name or not any(f.is_required() for f in kind.model_fields.values())
    ]


def about_of(plan: Plan, typed: dict[str, str] | None) -> list[FormField]:
    """What the report says about the release."""
    given = typed or {}
    fields = [
        FormField(name, "text", given.get(name, getattr(plan.about, name) or ""), "")
        for name in ABOUT
    ]
    signers = given.get("signers", "\n".join(plan.about.signers))
    return [*fields, FormField("signers", "list", signers, "")]


def _typed(mistake: Mistake | None, place: str) -> dict[str, str] | None:
    return mistake.typed if mistake is not None and mistake.place == place else None


ROUTES = [Route("/p/{project}/requirements", show)]
