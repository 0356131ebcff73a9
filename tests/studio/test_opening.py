"""What is shown of a large table while all of it is counted, and what becomes of choices then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.requests import Request
from starlette.responses import Response

from shoal.base.progress import silent
from shoal.studio.app import application
from shoal.studio.page import NotFound
from shoal.studio.pages import columns, reading
from shoal.studio.project import Project
from shoal.studio.studio import Studio
from shoal.studio.tasks import _first_look as looking
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import run

ADDRESS = "http://127.0.0.1:1"


class Watched:
    """A project whose process is this one; while it counts, something is done to it."""

    def __init__(self, folder: Path, meanwhile: Callable[[Watched], Any]) -> None:
        path = folder / "people.csv"
        rows = "".join(f"{i},{18 + i * i % 70},{'fm'[i // 3 % 2]},<b>{i % 9}\n" for i in range(900))
        path.write_text("number,age,sex,<i>job\n" + rows)
        self.studio = Studio(folder / "kept", folder)
        self.app = application(self.studio, [ADDRESS], "token")
        self.meanwhile = meanwhile
        self.project: Project | None = None
        self.source = {"kind": "file", "path": str(path)}

    async def ask(self, task: str, progress: Any = silent, early: Any = None, **given: Any) -> Any:
        """Instead of the process that holds the table."""
        assert task == "open"
        held = Held()
        known: list[Any] = []
        held.early = known.append
        overview = run(held, silent, **given)
        if early is not None:
            early(*known)
            await self.meanwhile(self)
        return overview

    async def opened(self) -> Project:
        self.project = project = self.studio.add("people.csv", self.source)
        project.table.ask = self.ask  # type: ignore[method-assign]
        while not project.opening.is_over:
            await asyncio.sleep(0.01)
        assert project.opening.status == "done", project.opening.error
        return project

    async def shown(self) -> str:
        return (await self.answer(columns.show)).body.decode()

    async def choose(self, place: int, role: str, parts: bool = True) -> Response:
        return await self.answer(columns.role, {"role": role}, place, parts)

    async def answer(
        self, page: Any, form: dict[str, str] | None = None, place: int = 0, parts: bool = False
    ) -> Response:
        assert self.project is not None

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": urlencode(form or {}).encode()}

        headers = [(b"x-studio", b"1")] if parts else []
        scope = {
            "type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers,
            "path_params": {"project": self.project.name, "place": place}, "app": self.app,
            "server": ("127.0.0.1", 1), "scheme": "http",
        }  # fmt: skip
        return await page(Request(scope, receive))


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Project]:
    monkeypatch.setattr(looking, "is_large", lambda _: True)

    def opening(meanwhile: Callable[[Watched], Any]) -> Project:
        return asyncio.run(Watched(tmp_path, meanwhile).opened())

    return opening


def test_names_values_and_roles_are_shown_before_everything_is_counted(
    opened: Callable[..., Project],
) -> None:
    pages = []

    async def look(watched: Watched) -> None:
        pages.append(await watched.shown())
        pages.append((await watched.answer(reading.opening, parts=True)).body.decode())

    opened(look)
    for page in pages:
        assert "900 records are read" in page
        assert "first look at 900 of them" in page
        assert 'id="role-1"' in page
        assert "<svg" in page
        assert "&lt;i&gt;job" in page
        assert "<i>job" not in page
        assert "<b>" not in page
        assert 'data-live="' in page
        assert "data-go" not in page


def test_a_role_that_is_chosen_meanwhile_is_a_step_on_top_of_the_proposal(
    opened: Callable[..., Project],
) -> None:
    async def choose(watched: Watched) -> None:
        answer = await watched.choose(2, "sensitive")
        assert '<option value="sensitive" selected>' in answer.body.decode()
        assert (await watched.choose(1, "other", parts=False)).status_code == 303
        await watched.choose(1, "drop")  # the newest choice counts

    project = opened(choose)
    assert project.plan.columns["sex"].role == "sensitive"
    assert project.plan.columns["age"].role == "drop"
    assert project.first_look is None
    assert not project.chosen_roles
    assert not project.refused_roles
    project.undo()
    assert project.plan.columns["age"].role == "quasi"
    project.undo()
    assert project.plan.columns["sex"].role == "quasi"
    assert not project.history.can_undo


def test_there_is_one_person_column(opened: Callable[..., Project]) -> None:
    async def choose(watched: Watched) -> None:
        await watched.choose(0, "person")
        page = (await watched.choose(1, "person")).body.decode()
        assert page.count('<option value="person" selected>') == 1

    project = opened(choose)
    roles = {name: one.role for name, one in project.plan.columns.items()}
    assert roles["age"] == "person"
    assert roles["number"] == "identifier"


def test_what_is_not_there_cannot_be_chosen(opened: Callable[..., Project]) -> None:
    async def choose(watched: Watched) -> None:
        for place, role in ((9, "quasi"), (0, "king")):
            with pytest.raises(NotFound):
                await watched.choose(place, role)

    assert not opened(choose).history.can_undo


def test_a_choice_that_does_not_fit_is_reported(
    opened: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.base.errors import BadPlan
    from shoal.studio import opening

    def refused(*_: Any) -> Any:
        raise BadPlan("no")

    monkeypatch.setattr(opening, "with_roles", refused)
    kept = []

    async def choose(watched: Watched) -> None:
        kept.append(watched)
        await watched.choose(1, "sensitive")

    project = opened(choose)
    assert project.plan.columns["age"].role == "quasi"
    assert "does not fit: age" in asyncio.run(kept[0].shown())


def test_a_late_look_at_a_table_that_nobody_reads_any_more_is_not_shown(
    opened: Callable[..., Project],
) -> None:
    from shoal.studio.jobs import Job
    from shoal.studio.opening import _show_early

    async def nothing(watched: Watched) -> None:
        pass

    project = opened(nothing)
    for job in (Job("running"), project.opening):  # of another reading; of one that is over
        _show_early(project, job, "late")
        assert project.first_look is None
