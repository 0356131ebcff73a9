"""The release into a table of a database, with the same checks as on the command line."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.base.errors import BadTable, ShoalError
from shoal.databases.address import scheme_of
from shoal.databases.database import Database
from shoal.databases.kind import file_of, kind_of, split_name
from shoal.studio.exports.settings import Settings
from shoal.studio.page import back_to, form_of, project_of, studio_of, wants_parts
from shoal.studio.pages.export.page import ADDRESS, done_run, page
from shoal.studio.project import Project
from shoal.studio.runs.run import Run


async def write(request: Request) -> Response:
    """Write the release to a table, in the background."""
    project = project_of(request)
    run, form, error = done_run(request, project), await form_of(request), ""
    try:
        plan = run.asked
        settings = Settings.read({**form, "ending": run.ending}, run.ending, plan, run.is_large)
        other = settings.writing != plan.write
        target = _target(form, studio_of(request).start)
        run.exports.begin_table(target)
        project.start(
            run.exports.write_table(
                project.bell.ring,
                what="release",
                target=target,
                folder=str(run.folder.path),
                release=run.release,
                writing=settings.writing.model_dump() if other else None,
                source=project.source,
            )
        )
    except ShoalError as refused:
        error = str(refused)
    return await _after(request, project, run, error, form)


def _known(form: dict[str, str]) -> dict[str, str | bool]:
    """What a form says, to be shown again; an address that is none may contain a password."""
    address = form.get("address", "").strip()
    try:
        kind_of(address)
    except ShoalError:
        address = ""
    return {"address": address, "table": form.get("table", ""), "replace": "replace" in form}


def _target(form: dict[str, str], start: Path) -> dict[str, str | bool]:
    """The table that a form names; an address with a password is refused, and not repeated."""
    address = form.get("address", "").strip()
    table = form.get("table", "").strip()
    kind = kind_of(address)
    if not table:
        raise BadTable("name the table to write to")
    split_name(table)
    file = file_of(address)
    if file is not None:  # as the studio may be started elsewhere than the command is run
        whole = str((start / file).resolve())
        address = f"{kind.schemes[0]}:///{quote(whole)}" if scheme_of(address) else whole
    Database(address, table)
    return {"address": address, "table": table, "replace": "replace" in form}


async def stop(request: Request) -> Response:
    """Stop writing: the database undoes what was done."""
    project = project_of(request)
    run = done_run(request, project)
    run.exports.stop_table()
    return await _after(request, project, run)


async def _after(
    request: Request,
    project: Project,
    run: Run,
    error: str = "",
    form: dict[str, str] | None = None,
) -> Response:
    if wants_parts(request) or error:
        asked = None if form is None or not error else _known(form)
        answer = await page(request, project, error, asked)
        answer.status_code = 409 if error else 200
        return answer
    return back_to(f"/p/{project.name}/export/{run.name}#database")


ROUTES = [
    Route(f"{ADDRESS}/{{run}}/database", write, methods=["POST"]),
    Route(f"{ADDRESS}/{{run}}/database/stop", stop, methods=["POST"]),
]
