"""Files of a run that are made when somebody asks for them, and tables of databases.

A file is written to a private folder under a temporary name, read back and verified, and only then
sent: whoever kills the studio or closes the connection leaves no half of it. The last few are kept,
so that a download that broke off goes on.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import Any

from shoal.base.errors import BadPlan, ShoalError
from shoal.studio.jobs import Job
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.processes import Process

FOLDER = "exports"
MOST = 4  # files that are kept per run
IDLE = 15.0  # seconds that the process waits for another task
Ring = Callable[[], None]


class Stopped(ShoalError):
    """The user has stopped it."""


class Exports:
    """What is made of the release of one run."""

    def __init__(self, folder: PrivateFolder) -> None:
        self._folder, self._turn = folder, asyncio.Lock()
        self._waiting, self._asked = 0, 0  # who waits for something, and how often somebody did
        self._process = Process()
        self._writes = False  # whether the process is writing a table
        self.making = Job()  # a file that is being made
        self.making_name = ""
        self.table = Job()  # a table of a database that is being written
        self.target: dict[str, Any] = {}  # its address and name, as they were asked for
        if (folder.path / FOLDER).is_dir():
            folder.folder(FOLDER).sweep()  # a studio that was killed may have left half a file

    async def file(
        self, ending: str, name: str, ring: Ring, **given: Any
    ) -> tuple[Path, str | None]:
        """The file that follows from what is given, made if it is not there; and its checksum.

        `name` is what the user calls it.
        """
        key = sha256(dumps([ending, given], sort_keys=True).encode()).hexdigest()[:20]
        self._waiting += 1
        try:
            async with self._turn:  # the second one who asks gets the same file
                path = self._folder.folder(FOLDER).inside(f"{key}{ending}")
                checksum = None
                if not path.exists():
                    checksum = await self._made(name, ring, target=str(path), **given)
                os.utime(path)
                self._forget_old(path)
                return path, checksum
        finally:
            self._done()

    async def _made(self, name: str, ring: Ring, **given: Any) -> str | None:
        job = self.making = Job()
        self.making_name = name
        job.begin()
        ring()
        try:
            found: str | None = await self._process.ask("exports.files", **given)
            job.finish("done")
            return found
        except ShoalError as error:
            if job.status == "cancelled":
                await self._process.gone()
                self._folder.folder(FOLDER).sweep()
                raise Stopped("the file was not made: it was stopped") from None
            job.finish("failed", str(error))
            raise
        finally:
            ring()

    def stop_file(self) -> None:
        """End the making of a file at once; nothing of it is left."""
        if self.making.status == "running":
            self.making.finish("cancelled")
            self._process.end()

    def _forget_old(self, newest: Path) -> None:
        files = [one for one in newest.parent.iterdir() if one.is_file()]
        for one in sorted(files, key=lambda one: -one.stat().st_mtime)[MOST:]:
            one.unlink(missing_ok=True)

    def _done(self) -> None:
        """End the process soon if nobody asks for another file: its memory is needed elsewhere."""
        self._waiting -= 1
        self._asked += 1
        number = self._asked

        def end() -> None:
            if number == self._asked and not self._waiting:
                self._process.end()

        asyncio.get_running_loop().call_later(IDLE, end)

    def begin_table(self, target: dict[str, Any]) -> None:
        """Note that a table of a database is to be written; an error if one is being written."""
        if self.table.status == "running":
            raise BadPlan("a table is being written already; wait for it, or stop it")
        self.table, self.target = Job(), target
        self.table.begin()

    async def write_table(self, ring: Ring, **given: Any) -> None:
        """Write a table of a database, in one transaction."""
        job = self.table

        def report(stage: str, share: float) -> None:
            job.report(stage, share)
            ring()

        self._waiting += 1
        try:
            async with self._turn:
                if not job.is_over:
                    self._writes = True
                    await self._process.ask("exports.files", report, **given)
                    job.finish("done")
        except ShoalError as error:
            if not job.is_over:
                job.finish("failed", str(error))
        finally:
            self._writes = False
            self._done()
        ring()

    def stop_table(self) -> None:
        """End the writing of a table at once: the database undoes what was done."""
        if self.table.status == "running":
            self.table.finish("cancelled")
            if self._writes:  # otherwise it waits for a file, which somebody else wants
                self._process.end()

    def close(self) -> None:
        """End the process for good."""
        self._process.close()

    def wait(self) -> None:
        """Wait until the process is gone."""
        self._process.wait()
