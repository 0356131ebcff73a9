"""The preview: what the plan would publish, on the sample."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from shoal.studio.background.previews import Superseded
from shoal.studio.page import project_of, shown, wants_parts
from shoal.studio.pages.requirements.page import places_of
from shoal.studio.requirements import words
from shoal.studio.requirements.class_sizes import class_sizes
from shoal.studio.requirements.mistakes import checked, mistake_of
from shoal.studio.requirements.works import ways_of


async def preview(request: Request) -> Response:
    """What the plan would publish; what is wrong with it is shown at its place."""
    project = project_of(request)
    if not project.is_ready:
        return HTMLResponse("", 409)
    plan, version = project.plan, project.history.version
    wrong, facts = checked(plan), None
    if wrong is None:
        try:
            result = await project.preview(full="full" in request.query_params)
        except Superseded:
            return shown(
                request,
                "requirements/superseded.html.jinja",
                409,
                project=project,
                step="requirements",
            )
        if result.error is not None:
            wrong = mistake_of(result.error, plan)
        else:
            facts = asdict(result.facts)
    template = "preview" if wants_parts(request) else "preview_page"
    return shown(
        request,
        f"requirements/{template}.html.jinja",
        project=project,
        step="requirements",
        facts=facts,
        wrong=wrong,
        mistakes={} if wrong is None else {wrong.place: wrong},
        places=places_of(plan),
        words=words,
        version=version,
        ways=[] if facts is None else ways_of(facts, plan),
        sizes=class_sizes(facts["crowds"]) if facts else [],
    )


async def state(request: Request) -> Response:
    """How far the preview is, for those who wait."""
    project = project_of(request)
    return shown(
        request, "requirements/preview_state.html.jinja", project=project, step="requirements"
    )


async def warm(request: Request) -> Response:
    """A page that comes before asks for this: kernels are loaded while it is read."""
    project_of(request).warm()
    return HTMLResponse('<div id="warm" data-version="1" hidden></div>')


ROUTES = [
    Route("/p/{project}/preview", preview),
    Route("/p/{project}/preview/state", state),
    Route("/p/{project}/preview/warm", warm),
]
