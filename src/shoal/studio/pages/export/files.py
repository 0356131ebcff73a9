"""Files of a run: made if they are not there yet, and sent when they are complete."""

from __future__ import annotations

import asyncio
import io
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from shoal.base.errors import ShoalError
from shoal.plan import Plan
from shoal.studio.exports.file_names import disposition
from shoal.studio.exports.files import Stopped
from shoal.studio.exports.settings import Settings, writable
from shoal.studio.guard import REPORT_POLICY
from shoal.studio.page import NotFound, back_to, project_of, wants_parts
from shoal.studio.pages.export.page import ADDRESS, done_run, key_of, page
from shoal.studio.project import Project
from shoal.studio.runs.run import Run
from shoal.studio.sources.source import restored

PAGES = ("report.html", "codebook.html")  # which can be read in the browser
WAIT = 1.0  # seconds between two looks whether the report is there


async def take(request: Request) -> Response:
    """One file of a run."""
    project = project_of(request)
    run, name = done_run(request, project), request.path_params["file"]
    settings = _settings(request, run, name)
    if name in ("plan.toml", "plan.zip"):
        return _plan(project, run, name, settings)
    if name in ("report.html", "recoding.json", "report.pdf"):
        await _described(project, run)
    if name == "table.csv":
        return await _invented(project)
    try:
        path = await _path(run, project, name, settings)
    except NotFound:
        raise
    except Stopped:
        return back_to(f"/p/{project.name}/export/{run.name}#release")
    except ShoalError as error:  # shown where another format can be chosen
        answer = await page(request, project, str(error))
        answer.status_code = 409
        return answer
    if name in PAGES and "download" not in request.query_params:
        # A page of its own, without scripts and without anything else that is here.
        headers = {"content-security-policy": REPORT_POLICY}
        return FileResponse(path, media_type="text/html", headers=headers)
    headers = {"content-disposition": disposition(run.named(name))}
    return FileResponse(path, media_type="application/octet-stream", headers=headers)


def _settings(request: Request, run: Run, name: str) -> Settings:
    """How the release is written; the address says it, so that an old tab gets what it shows."""
    ending = name.removeprefix("release") if name.startswith("release.") else run.ending
    if not any(ending in endings for endings in writable().values()):
        ending = run.ending
    asked = {**request.query_params, "ending": ending}
    return Settings.read(asked, run.ending, run.asked, run.is_large)


async def _described(project: Project, run: Run) -> None:
    """Wait for the report of a run that has just made its release."""
    while run.details.status == "running":
        await project.bell.heard(WAIT)


async def _path(run: Run, project: Project, name: str, settings: Settings) -> Path:
    """The file of this name, which is there afterwards."""
    own, plan = run.folder.inside, run.asked
    if name in ("report.html", "recoding.json", "release.json"):
        return _kept(own(name), run)
    usual = settings.writing == plan.write
    if name == run.release.removeprefix(f"{run.stem}-") and usual:
        return own(run.release)
    given: dict[str, Any] = {"folder": str(run.folder.path), "release": run.release}
    make = partial(run.exports.file, name=run.named(name), ring=project.bell.ring)
    if not usual:
        given["writing"] = settings.writing.model_dump()
    if name == "report.pdf":
        _kept(own("report-paper.html"), run)
        path, _ = await make(".pdf", what="report", made=run.made, **given)
    elif name in ("codebook.html", "codebook.csv", "codebook.json"):
        path, _ = await make(Path(name).suffix, what="codebook", **given)
    elif name == f"release{settings.ending}":
        path, checksum = await make(settings.ending, what="release", **given)
        if checksum is not None:
            run.files[key_of(settings, run, plan)] = checksum
            run.save()
            project.bell.ring()
    else:
        raise NotFound("there is no such file")
    return path


def _kept(path: Path, run: Run) -> Path:
    """A file that the run itself has written."""
    if not path.exists():
        why = f": {run.details.error}" if run.details.error else ""
        raise ShoalError(
            f"the report and the recoding of this run were not finished{why}; start a run of the "
            "same plan to get them"
        )
    return path


def plan_text(run: Run, settings: Settings) -> str:
    """The plan of a run, which needs no other file, with how the release is written."""
    plan = Plan.load(run.folder.inside("plan.toml"))
    return (
        run.plan
        if settings.writing == plan.write
        else plan.changed(write=settings.writing).to_toml()
    )


async def _invented(project: Project) -> Response:
    """The invented table, which the user does not have."""
    if not project.source.get("invented"):
        raise NotFound("there is no such file")
    await asyncio.to_thread(restored, project.source)
    headers = {"content-disposition": disposition(project.title)}
    return FileResponse(Path(project.source["path"]), headers=headers, media_type="text/csv")


def _plan(project: Project, run: Run, name: str, settings: Settings) -> Response:
    text = plan_text(run, settings).encode()
    headers = {"content-disposition": disposition(run.named(name))}
    if name == "plan.toml":
        return Response(text, media_type="application/toml", headers=headers)
    if project.dictionary is None or not Path(project.dictionary).exists():
        raise NotFound("no dictionary is in use")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(run.named("plan.toml"), text)
        file = Path(project.dictionary)
        archive.write(file, run.named(f"dictionary{''.join(file.suffixes)}"))
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)


async def stop(request: Request) -> Response:
    """Stop making a file."""
    project = project_of(request)
    run = done_run(request, project)
    run.exports.stop_file()
    if wants_parts(request):
        return await page(request, project, "")
    return back_to(f"/p/{project.name}/export/{run.name}")


ROUTES = [
    Route("/p/{project}/run/{run}/{file}", take),
    Route(f"{ADDRESS}/{{run}}/stop", stop, methods=["POST"]),
]
