"""Processes that do the work."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.studio.processes import Ended, Process, descendants


def test_several_can_wait_for_a_process_that_was_ended(tmp_path: Path) -> None:
    """A page that cancels a run and the run itself wait at the same time."""
    os.mkfifo(tmp_path / "release.csv")  # to read it never ends, as nobody writes to it
    (tmp_path / "plan.toml").write_text("[columns]\na = { role = 'quasi' }\n", encoding="utf-8")

    async def waited() -> None:
        process = Process()
        asked = asyncio.ensure_future(
            process.ask(
                "exports.files", what="release", folder=str(tmp_path), release="release.csv",
                target=str(tmp_path / "out.csv"),
            )
        )  # fmt: skip
        while not process.is_alive:
            await asyncio.sleep(0.01)
        process.end()
        await asyncio.gather(*(process.gone() for _ in range(20)))
        with pytest.raises(Ended):
            await asked

    asyncio.run(waited())


def test_the_end_of_a_process_does_not_end_the_next_task() -> None:
    """Another process does it; that the old one is gone is heard of only then."""

    async def asked_again() -> None:
        process = Process()
        for _ in range(3):
            assert "csv" in await process.ask("exports.abilities")
            process.end()
        process.close()

    asyncio.run(asked_again())


def test_a_process_that_is_closed_takes_no_further_task() -> None:
    async def refused() -> None:
        process = Process()
        process.close()
        with pytest.raises(Ended):
            await process.ask("open", source={}, reading={})
        assert not process.is_alive

    asyncio.run(refused())


def test_processes_of_processes_are_found() -> None:
    started = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", started], stdin=subprocess.PIPE) as parent:
        while not (found := descendants(parent.pid)):
            assert parent.poll() is None
        assert parent.pid not in found
        assert parent.stdin is not None
        parent.stdin.write(b"\n")
        parent.stdin.flush()


def test_what_is_known_early_arrives_before_the_result(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b\n" + "1,2\n3,4\n" * 130_000)
    heard: list[object] = []

    async def asked() -> None:
        process = Process()
        given = {"source": {"kind": "file", "path": str(path)}, "reading": {}}
        overview = await process.ask("open", early=heard.append, **given)
        heard.append(overview)
        await process.ask("open", **given)  # nobody waits for it
        process.close()
        await process.gone()

    asyncio.run(asked())
    assert [type(one).__name__ for one in heard] == ["FirstLook", "Overview"]
