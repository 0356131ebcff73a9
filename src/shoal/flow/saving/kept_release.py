"""Kept releases: the records of a release in a folder, to be written to other files later.

The folder is private. It has the published cells with their types and labels, the plan, and who
belongs together if people or households are not published. It has no original record and no seed:
nothing but the release can be made of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.base.arrays import Longs
from shoal.base.errors import BadFile
from shoal.databases.database import Database
from shoal.flow.release import Release
from shoal.flow.saving.verified import save_verified
from shoal.io.atomic import atomic
from shoal.io.digests import fingerprint
from shoal.io.frames import Frame, open_frame
from shoal.io.written.settings import Writing
from shoal.plan import Plan

RECORDS, PEOPLE, PLAN, STATE = "records.arrow", "people.npy", "decided.toml", "kept.json"
HOUSEHOLDS = "households.npy"


@dataclass(frozen=True, eq=False)
class KeptRelease:
    """The published records of a release that was verified before, and what they must satisfy."""

    frame: pa.Table
    plan: Plan  # without open choices
    person_of_record: Longs | None = None  # if people are neither published nor records
    household_of_record: Longs | None = None  # if members are generalized each by itself

    @property
    def published(self) -> int:
        """The number of records."""
        return int(self.frame.num_rows)

    def written_as(self, writing: Writing) -> KeptRelease:
        """The same release, for files that are written in another way."""
        return replace(self, plan=self.plan.changed(write=writing))

    def save(self, path: str | Path | Database, *, replace: bool = False) -> str | None:
        """Write the records as `Release.save` does; returns the checksum of the file.

        Models that compare a release with its original, or with a population, were verified on
        these very cells.
        """
        models = self.plan.models
        alone = [model for model in models if not (model.linkage or model.needs_population)]
        frame, people = Frame(self.frame), self.person_of_record
        return save_verified(
            frame,
            path,
            self.plan,
            alone,
            people,
            replace=replace,
            household_of_record=self.household_of_record,
        )

    def codebook(self, path: str | Path) -> None:
        """Write the codebook, as `Release.codebook` does."""
        from shoal.report.codebook import write_codebook

        write_codebook(self, path)

    def check_unchanged(self, frame: Frame | None = None) -> None:
        """Do nothing: arrow tables cannot be edited."""


def keep(release: Release, folder: Path) -> None:
    """Keep the records of a release in a folder; they are complete there, or not to be loaded."""
    frame = open_frame(release.frame)
    records = pa.table([frame.exact(name) for name in frame.names], _schema(frame))
    with (
        atomic(folder / RECORDS, private=True) as path,
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, records.schema) as writer,
    ):
        writer.write_table(records)
    with atomic(folder / PLAN, private=True) as path:
        people = release.plan.population.without_data()
        kept = release.plan.inlined().changed(seed=None, population=people)
        path.write_text(kept.to_toml(), encoding="utf-8")
    digests = {name: fingerprint(folder / name) for name in (RECORDS, PLAN)}
    numbers = {PEOPLE: release.person_of_record, HOUSEHOLDS: release.household_of_record}
    for name, each in numbers.items():
        if each is not None:
            with atomic(folder / name, private=True) as path, path.open("wb") as file:
                np.save(file, _renumbered(each))
            digests[name] = fingerprint(folder / name)
    with atomic(folder / STATE, private=True) as path:
        path.write_text(json.dumps(digests), encoding="utf-8")


def _schema(frame: Frame) -> pa.Schema:
    """The columns with their labels, and how the file of the original was separated."""
    known: Any = frame.native.schema if frame.kind == "arrow" else None
    fields = []
    for name in frame.names:
        about = None if known is None else known.field(name).metadata
        fields.append(pa.field(name, frame.exact(name).type, metadata=about))
    return pa.schema(fields, None if known is None else known.metadata)


def _renumbered(people: Longs) -> Longs:
    """The same people in the order of the release: their numbers say nothing about the original."""
    _, first, which = np.unique(people, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    return number[which.reshape(-1)]


def load_kept(folder: Path) -> KeptRelease:
    """A release that was kept; an error if files of it are missing or were changed."""
    try:
        digests = json.loads((folder / STATE).read_bytes())
        if any(fingerprint(folder / name) != digest for name, digest in digests.items()):
            raise BadFile(_CHANGED)
        plan = Plan.load(folder / PLAN)
        people, homes = (
            np.load(folder / name) if name in digests else None for name in (PEOPLE, HOUSEHOLDS)
        )
        with pa.memory_map(str(folder / RECORDS)) as file:
            records = pa.ipc.open_file(file).read_all()
    except (OSError, ValueError, AttributeError, pa.ArrowException):
        raise BadFile(_CHANGED) from None
    return KeptRelease(records, plan, people, homes)


_CHANGED = (
    "the records of this release were not kept, or were changed since; anonymize the table again"
)
