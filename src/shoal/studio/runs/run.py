"""Run: one release of a table, from its start to what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from shoal.base.errors import ShoalError
from shoal.plan import Plan
from shoal.studio.exports.files import Exports
from shoal.studio.jobs import Job
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.processes import Process

PLAN, STATE = "plan.toml", "run.json"
KEPT = "kept"  # the folder with the records of the release, for other files of it
LOOK = "look"  # the folder with copies of original records, for the page that shows them
SEED = "seed.json"  # in that folder: with it and the release, somebody could undo the shuffling


@dataclass
class Run:
    """One run of a plan on the whole table."""

    name: str
    number: int
    folder: PrivateFolder
    plan: str  # TOML, which needs no other file
    ending: str  # of the file of the release
    job: Job = field(default_factory=Job)
    process: Process = field(default_factory=Process)
    facts: dict[str, Any] | None = None  # what was measured; None: there is no release
    made: str = ""  # when it was started
    seconds: float = 0.0  # that it took
    details: Job = field(default_factory=Job)  # what follows a run: the report
    files: dict[str, str] = field(default_factory=dict)  # checksums of releases that were exported
    stem: str = ""  # what the names of its files begin with
    chosen: dict[str, str] = field(default_factory=dict)  # how its release is taken away
    ways: list[list[Any]] = field(default_factory=list)  # out of an error, as in `WayOut`

    def __post_init__(self) -> None:
        self.exports = Exports(self.folder)

    def stored(self) -> dict[str, Any]:
        """What is kept of it."""
        return {
            "number": self.number,
            "plan": self.plan,
            "ending": self.ending,
            "status": self.job.status,
            "error": self.job.error,
            "facts": self.facts,
            "made": self.made,
            "seconds": self.seconds,
            "files": self.files,
            "stem": self.stem,
            "chosen": self.chosen,
            "ways": self.ways,
        }

    def save(self) -> None:
        """Keep it for the next start."""
        self.folder.write_json(STATE, self.stored())

    @property
    def asked(self) -> Plan:
        """The plan as an object."""
        return Plan.load(self.folder.inside(PLAN))

    @property
    def release(self) -> str:
        """The name of the file of the release."""
        return self.named(f"release{self.ending}")

    def named(self, file: str) -> str:
        """The name of one of its files where others are, as in a folder of downloads."""
        return f"{self.stem}-{file}" if self.stem else file

    @property
    def is_large(self) -> bool:
        """Whether its records were too many for memory, so that there is only their file."""
        return not self.folder.inside(KEPT).is_dir()

    @property
    def look(self) -> Path:
        """The folder with copies of original records; it may not be there."""
        return self.folder.inside(LOOK)

    @property
    def started(self) -> datetime | None:
        """When it was started."""
        return datetime.fromisoformat(self.made) if self.made else None

    def discard(self) -> None:
        """Remove whatever it has written, except for what it was asked."""
        self.facts, self.files = None, {}
        self.folder.sweep(keep=(STATE, PLAN))

    @staticmethod
    def load(folder: PrivateFolder) -> Run | None:
        """A run of an earlier start; None: there is nothing to show of it.

        One that was not finished then has failed: the studio was killed.
        """
        stored = folder.read_json(STATE, {})
        if not isinstance(stored, dict) or "plan" not in stored:
            return None
        job = Job(stored["status"], stored["error"])
        run = Run(
            folder.path.name, stored["number"], folder, stored["plan"], stored["ending"], job,
            facts=stored["facts"], made=stored.get("made", ""),
            seconds=stored.get("seconds", 0.0), files=stored.get("files", {}),
            stem=stored.get("stem", ""), chosen=stored.get("chosen", {}),
            ways=stored.get("ways", []),
        )  # fmt: skip
        if not job.is_over or (job.status == "done" and run.facts is None):
            job.status = "interrupted"
            run.discard()
            run.save()
        else:
            folder.sweep()
        return run


def loaded(folder: PrivateFolder) -> dict[str, Run]:
    """The runs of earlier starts; what cannot be read is removed."""
    found = {}
    for name in folder.names():
        try:
            run = Run.load(folder.folder(name))
        except (KeyError, TypeError, ShoalError):
            run = None
        if run is None:
            folder.folder(name).wipe()
        else:
            found[name] = run
    return found
