"""Look: before and after, row by row and as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shoal.base.errors import ShoalError
from shoal.studio.jobs import Job
from shoal.studio.looking.addresses import Addresses
from shoal.studio.page import back_to, form_of, project_of, shown, studio_of, wants_parts
from shoal.studio.pages._steps import kept
from shoal.studio.pages.run import awaited, finished, run_of
from shoal.studio.project import Project
from shoal.studio.runs.run import Run
from shoal.studio.tasks.look._files import read_summary
from shoal.studio.tasks.look._view import ONLY, ORDERS

STEPS = (1, 26, 51, 76, 100)  # percent, where the next colour begins


async def show(request: Request) -> Response:
    """The page, about the run that the address names, or the newest one."""
    return await kept(request, page)


async def page(request: Request, project: Project, error: str) -> Response:
    """One run: its rows, as far as they are kept, and what was lost."""
    return await _page(request, project, request.query_params, error)


async def _page(
    request: Request, project: Project, given: Mapping[str, str], error: str = ""
) -> Response:
    """The page with what is chosen in an address, or in a form."""
    runs = sorted(finished(project), key=lambda one: -one.number)
    run = runs[0] if runs else None
    if "run" in request.path_params:
        run = run_of(request, project)
    shows: dict[str, Any] = {"runs": runs, "run": run, "summary": None, "error": error}
    shows |= {"awaited": awaited(project), "go": False}
    if run is not None:
        shows |= await _about(request, project, run, given)
    template = "look/parts.html.jinja" if wants_parts(request) else "look/page.html.jinja"
    return shown(request, template, project=project, step="look", **shows)


async def _about(
    request: Request, project: Project, run: Run, given: Mapping[str, str]
) -> dict[str, Any]:
    """Everything that the page shows of a run."""
    summary = read_summary(run.look)
    if summary is None:
        return {}
    base = f"/p/{project.name}/look/{run.name}"
    address = Addresses.of(base, given, summary["most"])
    asked = address.asked
    found: dict[str, Any] = {
        "summary": summary,
        "address": address,
        "asked": asked,
        "orders": ORDERS,
        "only": ONLY,
        "rows": None,
        "details": None,
        "explaining": _explaining(project, run),
        "failed": _failed(project, run),
        "shade": shade,
    }
    if summary["has_rows"]:
        # Another process than that of the run, which may be explaining or writing a report.
        scout = studio_of(request).scout
        folder = str(run.look)
        try:
            rows = await scout.ask("look.rows", folder=folder, asked=asked)
            address = address.at(rows.page)
            found |= {"rows": rows, "address": address, "asked": address.asked}
            if asked.row is not None:
                reading = scout if found["explaining"] else run.process
                found["details"] = await reading.ask(
                    "look.row", folder=folder, number=asked.row, attacker=asked.attacker,
                    known=found["explaining"] is None,
                )  # fmt: skip
        except ShoalError as refused:
            found["error"] = str(refused)
    return found


async def explain(request: Request) -> Response:
    """Find out in the background which requirement forced what, for all rows of a run."""
    project = project_of(request)
    run, form = run_of(request, project), await form_of(request)
    summary = read_summary(run.look)
    if summary is None:
        return back_to(f"/p/{project.name}/look/{run.name}")
    address = Addresses.of(f"/p/{project.name}/look/{run.name}", form, summary["most"])
    if _explaining(project, run) is None:
        job = project.jobs[_job(run)] = Job("running")
        project.start(_explain(project, run, job, address.asked.row or 1))
    if wants_parts(request):
        return await _page(request, project, form)
    return back_to(address("why"))


async def _explain(project: Project, run: Run, job: Job, number: int) -> None:
    """Explain one row: the others are then known as well."""

    def report(stage: str, share: float) -> None:
        job.report(stage, share)
        project.bell.ring()

    given: dict[str, Any] = {"folder": str(run.look), "number": number, "attacker": 0}
    try:
        await run.process.ask("look.row", report, full=True, **given)
        job.finish("done")
    except ShoalError as error:
        job.finish("failed", str(error))
    project.bell.ring()


def _job(run: Run) -> str:
    return f"why-{run.name}"


def _explaining(project: Project, run: Run) -> Job | None:
    """What keeps the process of a run from explaining a row at once; None: nothing does.

    It may be finding out which requirement forced what, or writing the report.
    """
    for job in (run.details, project.jobs.get(_job(run))):
        if job is not None and job.status == "running":
            return job
    return None


def _failed(project: Project, run: Run) -> str:
    """Why that could not be found out; "" if it could, or was not tried."""
    job = project.jobs.get(_job(run))
    return "" if job is None else job.error


def shade(percent: int) -> int:
    """The number of the colour for a loss: 0 for nothing, 5 for everything.

    >>> [shade(one) for one in (0, 1, 25, 26, 50, 75, 76, 99, 100)]
    [0, 1, 1, 2, 2, 3, 4, 4, 5]
    """
    return sum(percent >= least for least in STEPS)


async def again(request: Request) -> Response:
    """Run the plan of a run once more, as its rows are not kept any more."""
    project = project_of(request)
    before = run_of(request, project)
    project.runs.start(before.asked, before.stem)
    return back_to(f"/p/{project.name}/run")


ROUTES = [
    Route("/p/{project}/look", show),
    Route("/p/{project}/look/{run}", show),
    Route("/p/{project}/look/{run}/why", explain, methods=["POST"]),
    Route("/p/{project}/look/{run}/again", again, methods=["POST"]),
]
