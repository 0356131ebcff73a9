"""Previews: only the newest request is computed, and nothing late replaces it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from shoal.base.errors import ShoalError
from shoal.base.progress import Progress
from shoal.studio.background.previews import MOST, Previews, Result, Superseded
from shoal.studio.jobs import Bell


class Stopping:
    """Stands for the process: a withdrawn task ends with an error, as in the real one."""

    def __init__(self) -> None:
        self.withdrawn = 0
        self.stop = asyncio.Event()

    def withdraw(self) -> None:
        self.withdrawn += 1
        self.stop.set()


async def requests() -> tuple[list[str], list[Any], Stopping]:
    process, computed = Stopping(), []
    previews = Previews(process, Bell())  # type: ignore[arg-type]

    def compute(name: str) -> Any:
        async def run(progress: Progress) -> str:
            computed.append(name)
            progress("recode", 0.5)
            if name == "slow":
                await process.stop.wait()
                raise ShoalError("the work was withdrawn")
            return f"facts of {name}"

        return run

    async def ask(name: str) -> Any:
        try:
            return await previews.of(name, compute(name))
        except Superseded:
            return "superseded"

    first = asyncio.ensure_future(ask("slow"))
    await asyncio.sleep(0)
    between = asyncio.ensure_future(ask("between"))
    await asyncio.sleep(0)
    last = asyncio.ensure_future(ask("last"))
    found = await asyncio.gather(first, between, last)
    found.append(await ask("last"))  # it is known by now
    return computed, found, process


def test_the_newest_request_wins() -> None:
    computed, found, process = asyncio.run(requests())
    assert computed == ["slow", "last"]  # the one between was never begun
    assert found == ["superseded", "superseded", Result("facts of last"), Result("facts of last")]
    assert process.withdrawn >= 1


def test_errors_are_results_too() -> None:
    async def failing() -> Result:
        previews = Previews(Stopping(), Bell())  # type: ignore[arg-type]

        async def compute(progress: Progress) -> Any:
            raise ShoalError("out of reach")

        found = await previews.of("plan", compute)
        assert previews.known("plan") is found
        previews.forget()
        assert previews.known("plan") is None
        return found

    assert str(asyncio.run(failing()).error) == "out of reach"


def test_old_results_make_room() -> None:
    async def many() -> Previews:
        previews = Previews(Stopping(), Bell())  # type: ignore[arg-type]
        for i in range(MOST + 5):

            async def compute(progress: Progress, i: int = i) -> Any:
                return i

            await previews.of(str(i), compute)
        return previews

    previews = asyncio.run(many())
    assert previews.known("0") is None
    assert previews.known(str(MOST + 4)) is not None


@pytest.mark.parametrize("again", [True, False])
def test_a_request_for_the_same_plan_withdraws_nothing(again: bool) -> None:
    async def twice() -> int:
        process = Stopping()
        previews = Previews(process, Bell())  # type: ignore[arg-type]
        begun = asyncio.Event()

        async def compute(progress: Progress) -> Any:
            begun.set()
            await asyncio.sleep(0.01)
            return "facts"

        first = asyncio.ensure_future(previews.of("plan", compute))
        await begun.wait()
        second = asyncio.ensure_future(previews.of("plan" if again else "other", compute))
        await asyncio.gather(first, second, return_exceptions=True)
        return process.withdrawn

    assert asyncio.run(twice()) == (0 if again else 1)
