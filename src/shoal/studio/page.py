"""Pages: templates, what every page needs, and answers to forms.

Every form works without scripts: its answer is a redirect to the page. A script asks for the
changed parts instead (the header `x-studio`), and puts each element of the answer in the
place of the element with the same id.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from shoal.base.errors import ShoalError
from shoal.base.version import __version__
from shoal.studio.charts import chart
from shoal.studio.requirements import catalog_words
from shoal.studio.texts.sentences import sentence
from shoal.studio.wording import LANGUAGES, Wording, on_page, preferred

if TYPE_CHECKING:
    from shoal.studio.project import Project
    from shoal.studio.studio import Studio

MOST_FORM = 1_000_000  # bytes of a form
STEPS = ("columns", "requirements", "run", "look", "export", "compare")


class NotFound(ShoalError):
    """What an address names is not there (any more)."""


@cache
def environment() -> jinja2.Environment:
    """The templates; whatever they show is text, never markup."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("shoal.studio", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.globals["chart"] = chart
    made.globals["said"] = catalog_words
    made.globals["sentence"] = sentence
    made.filters["on_page"] = on_page
    return made


def studio_of(request: Request) -> Studio:
    """What the server knows."""
    found: Studio = request.app.state.studio
    return found


def project_of(request: Request) -> Project:
    """The project that an address names."""
    found = studio_of(request).projects.get(request.path_params["project"])
    if found is None:
        raise NotFound("this table is not open any more")
    return found


def wording_of(request: Request) -> Wording:
    """The language of the user: the chosen one, or that of the browser."""
    chosen = studio_of(request).language
    return Wording(chosen or preferred(request.headers.get("accept-language", "")))


def wants_parts(request: Request) -> bool:
    """Whether a script asks for the changed parts of a page."""
    return "x-studio" in request.headers


def shown(request: Request, template: str, status: int = 200, **given: Any) -> HTMLResponse:
    """A page, or parts of it."""
    facts = {
        "t": wording_of(request),
        "languages": LANGUAGES,
        "program": __version__,
        "steps": STEPS,
        "path": request.url.path,
        "most_bytes": studio_of(request).most_bytes,
        **{"project": None, "step": "", "error": "", **given},
    }
    facts["error"] = on_page(facts["error"])
    text = environment().get_template(template).render(**facts)
    project = facts["project"]
    if wants_parts(request) and project is not None and project.is_ready:
        text += (
            environment().get_template("history.html.jinja").render(**facts)
        )  # every step counts
    return HTMLResponse(text, status)


def back_to(address: str) -> Response:
    """Go to a page, after a form was sent."""
    return RedirectResponse(address, 303)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form; of several of one name, the last."""
    return dict(await fields_of(request))


async def fields_of(request: Request) -> list[tuple[str, str]]:
    """All fields of a form, in their order."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_FORM:
            raise ShoalError("this form is too large")
    try:
        return parse_qsl(content.decode("utf-8"), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        raise ShoalError("this form is not UTF-8") from None
