"""Verified writing: what was written is read back and checked before it gets its name."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from shoal.base.arrays import Longs
from shoal.base.errors import ShoalError
from shoal.databases.database import Database
from shoal.databases.writing import write_to
from shoal.io import frames
from shoal.io.digests import fingerprint
from shoal.measures.verdicts.within_at_most import check_at_most, raise_beyond_at_most
from shoal.measures.verify import verify
from shoal.models import Model
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.match_graph import link
from shoal.table.population.population import Population
from shoal.table.published_table import read_published
from shoal.table.written.coded_numbers import check_coded
from shoal.table.written.form import check_form, read_form, written_form


def save_verified(
    frame: frames.Frame,
    path: str | Path | Database,
    plan: Plan,
    models: Sequence[Model],
    person_of_record: Longs | None = None,
    original: Table | None = None,
    replace: bool = False,
    population: Population | None = None,
    household_of_record: Longs | None = None,
) -> str | None:
    """Write the frame of a release to a file, or to a table of a database in one transaction.

    It must contain exactly the cells of the frame, row by row, and nothing else, and every one of
    `models` is verified on what was read back. Returns the checksum of the file.
    """

    def form(target: Path | None) -> frames.Frame:
        return written_form(frame, plan.columns, plan.missing_values, plan.write, target)

    def check(file: frames.Frame, target: Path | None = None) -> None:
        file = read_form(file, plan.columns, plan.write, target)
        check_form(file, frame, plan.columns, plan.write)
        check_coded(file, plan.columns)
        written = read_published(
            file, plan.columns, plan.missing_values, person_of_record, household_of_record
        )
        written = dataclasses.replace(written, population=population)
        linkage = None if original is None else link(original, written)
        verify(written, models, linkage, plan.attackers)
        raise_beyond_at_most(check_at_most(written, plan))

    if isinstance(path, Database):
        write_to(path, form(None), replace, check)
        return None
    with frames.atomic(path) as target:
        shaped, reading = form(target), plan.read.of_release
        frames.write(shaped, target, reading)
        file = frames.read_back(target, reading)
        if not frames.same_rows(file, shaped):
            raise ShoalError(
                "the file that was written does not contain the rows of the release in their "
                "order; this is a bug in shoal, and nothing is released"
            )
        check(file, target)
        return fingerprint(target)
