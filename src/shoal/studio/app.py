"""The application: all pages, their errors, and the guard in front of them."""

from __future__ import annotations

import importlib
import os
import pkgutil
import traceback
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from shoal.base.errors import ShoalError
from shoal.studio import pages
from shoal.studio.guard import Guard
from shoal.studio.page import NotFound, shown
from shoal.studio.studio import Studio

STATIC = Path(__file__).parent / "static"


def application(studio: Studio, origins: Iterable[str], token: str) -> Starlette:
    """The pages of a studio, for those who have its token."""

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        studio.begin()
        yield
        studio.close()

    made = Starlette(
        routes=[*_routes(), Mount("/static", StaticFiles(directory=STATIC), name="static")],
        middleware=[Middleware(Guard, origins=origins, token=token)],
        exception_handlers={
            ShoalError: _refused,
            HTTPException: _not_there,
            Exception: _defect,
        },
        lifespan=life,
    )
    made.state.studio = studio
    return made


def _routes() -> list[BaseRoute]:
    """Of all pages; each is a file of the folder."""
    found: list[BaseRoute] = []
    for module in pkgutil.iter_modules(pages.__path__):
        if not module.name.startswith("_"):
            found += importlib.import_module(f"shoal.studio.pages.{module.name}").ROUTES
    return found


async def _refused(request: Request, error: Exception) -> Response:
    status = 404 if isinstance(error, NotFound) else 422
    return shown(request, "error.html.jinja", status, error=str(error))


async def _not_there(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return shown(request, "error.html.jinja", error.status_code, error=error.detail)


async def _defect(request: Request, error: Exception) -> Response:
    if os.environ.get("SHOAL_DEBUG"):
        traceback.print_exception(error)
    said = f"internal error in shoal ({type(error).__name__})"  # its message may contain data
    return shown(request, "error.html.jinja", 500, error=said)
