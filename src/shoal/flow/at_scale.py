"""The flow for tables larger than memory: an engine groups and joins rows, and we recode groups.

The distinct combinations of quasi-identifiers and sensitive values are in memory, each with the
number of its records; the records themselves are not. All measures count them, so that their
numbers are those of the records one by one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from shoal.attacks._unchanged import Elsewhere
from shoal.base.arrays import Longs
from shoal.base.clock import Clock
from shoal.base.errors import BadFile
from shoal.base.progress import Progress, silent
from shoal.databases.database import Database
from shoal.databases.writing import check_out
from shoal.engines.large_table import LargeTable, People, PeopleTable, PersonColumn, Recoded
from shoal.engines.source import Source
from shoal.flow import notes
from shoal.flow.apply.fitted import Fitted
from shoal.flow.auto_select.search import recode
from shoal.flow.explain import Explainer, seed_of
from shoal.flow.publish import Origin, publish
from shoal.flow.release import Release
from shoal.io.atomic import atomic, atomic_folder
from shoal.io.digests import fingerprint
from shoal.io.files import names_folder
from shoal.io.format import format_of
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.io.text_layout import TextLayout
from shoal.io.text_writing import all_text_parts, in_one_form
from shoal.measures.column_disclosure import ColumnDisclosure, worth_warning
from shoal.measures.verdicts.within_at_most import check_at_most, raise_beyond_at_most
from shoal.measures.verify import verify
from shoal.plan import Plan
from shoal.table.coded_columns import forget_codes
from shoal.table.encode import encode
from shoal.table.published_table import read_published
from shoal.table.recoding import SUPPRESSED
from shoal.table.roles import check_names, linking_columns, not_published, other_columns

Large = TypeVar("Large", bound="LargeRelease")
GROUPED = ("quasi", "sensitive")  # roles of the columns whose combinations are in memory


@dataclass(frozen=True, eq=False, repr=False)
class LargeRelease(Release):
    """A release whose records are not in memory: `frame` is None, and `save` writes them."""

    table: LargeTable | None = None
    recoded: Recoded | None = None
    progress: Progress = silent
    _saved: dict[str, str] = field(default_factory=dict)  # the last file, and its checksum

    def save(self, path: str | Path | Database, *, replace: bool = False) -> None:
        """Match, shuffle and write the records; verify the file before it gets its name.

        The input is read again. The file must contain exactly the records of the release, row by
        row, and its groups must satisfy every requirement. With Spark, a path without an ending
        is a folder of files. A table of a database is written part by part in one transaction, and
        only with `replace` if there is one of its name.
        """
        assert self.table is not None
        assert self.recoded is not None
        if isinstance(path, Database):
            self._save_table(path, replace)
            return
        _check_not_read(Path(path), self.table)
        self.progress("write", 0.0)
        folder = self.table.writes_folders and names_folder(path)
        with atomic_folder(path) if folder else atomic(path) as target:
            file, sha256 = self.table.write(
                self.recoded,
                target,
                grouped(self.plan),
                lambda share: self.progress("write", share),
            )
            self._verify_groups(file)
            written = None if folder else fingerprint(target)
        self._remember(path, written)
        self._saved.clear()
        self._saved["path"] = str(path)
        if not folder and format_of(Path(path)).name == "csv" and sha256 is not None:
            self._saved["sha256"] = sha256
        self.progress("write", 1.0)

    def _save_table(self, target: Database, replace: bool) -> None:
        """Write the records to a table of a database, other than the one that is read."""
        assert self.table is not None
        assert self.recoded is not None
        check_out(target, replace, self.table.stored)
        self.progress("write", 0.0)
        sha256 = self.table.write_table(
            self.recoded,
            target,
            replace,
            grouped(self.plan),
            self._verify_groups,
            lambda share: self.progress("write", share),
        )
        self._saved.clear()
        self._written.clear()
        if sha256 is not None:
            self._saved["sha256"] = sha256
        self.progress("write", 1.0)

    def _verify_groups(self, written: Frame) -> None:
        """Verify every requirement on the groups that were read back."""
        plan = self.plan
        published = read_published(written, plan.columns, plan.missing_values)
        verify(published, plan.models)
        raise_beyond_at_most(check_at_most(published, plan))

    def check_unchanged(self, frame: Frame | None = None) -> None:
        """Do nothing: there is no frame that could have been changed."""

    def csv_sha256(self) -> str | None:
        """SHA-256 of the release as a CSV file; None if it was not saved yet."""
        if "sha256" not in self._saved and "path" in self._saved:
            assert self.table is not None
            assert self.recoded is not None
            schema = self.recoded.schema(self.table.schema)
            found = _csv_sha256(Path(self._saved["path"]), schema, self.plan.read)
            if found is not None:
                self._saved["sha256"] = found
        return self._saved.get("sha256")


def anonymize_at_scale(
    table: LargeTable,
    plan: Plan,
    progress: Progress,
    kind: type[Large],
    remarks: Sequence[str] = (),
) -> Large:
    """Turn a table that is not in memory into one that can be published, a release of this kind.

    `remarks` are notes of the release, on the choice of the engine.
    """
    clock = Clock(progress)
    clock.start("read")
    check_names(plan.columns, table.schema.names)
    others = other_columns(plan.columns)
    table.check_types([*grouped(plan), *others])
    person, profiles = _person(plan), None
    if person is None:
        clock.start("group")
        units = table.group(grouped(plan), lambda share: progress("group", share))
    else:
        assert isinstance(table, PeopleTable), "choose_engine refuses person columns otherwise"
        table.check_person(person.name)
        clock.start("group")
        profiles = table.group_people(grouped(plan), person, lambda share: progress("group", share))
        units = profiles.rows
    sha256 = table.sha256
    clock.start("encode")
    columns = {name: plan.columns[name] for name in units.names}
    original = encode(units, columns, plan.missing, plan.missing_values, progress)
    forget_codes(units, units.names)  # coding them again later takes less than they do until then
    clock.start("recode")
    recoded = recode(original, plan, progress, elsewhere=table.map_parts)
    recoding = recoded.recoding
    clock.stop()
    origin = Origin(
        fitted=partial(Fitted.of, plan, original, recoding),
        original_sha256=sha256,
        explainer=Explainer(
            plan, original, recoding, seed_of(recoded.rng), clock.seconds["recode"]
        ),
        notes=[
            *remarks,
            *notes.encodings(table.schema),
            *plan.algorithm.notes(plan.seed),
            *recoding.notes,
        ],
    )
    there = np.flatnonzero(recoding.record != SUPPRESSED)
    taken = units if len(there) == units.height else _taken(units, there)
    people = None
    if person is not None and profiles is not None:
        people = People(person, profiles, there)
    # The groups stay in their order here; the records are shuffled when they are written.
    elsewhere = _elsewhere(table, taken, people, plan, clock)
    release = publish(
        units, plan, original, recoding, recoded.rng, True, clock, origin, elsewhere=elsewhere
    )
    assert release.frame is not None
    dropped = not_published(plan.columns)
    released = release.frame
    if people is not None:
        released = released.drop_columns([people.column.name])  # they are numbered when written
    rows = Recoded(
        taken,
        Frame(released, taken.counted),
        tuple(name for name in table.schema.names if name not in dropped),
        tuple(recoded.rng.integers(0, 1 << 32, 8).tolist()),
        people,
    )
    clock.start("known")
    known = _if_known(release, table, rows, progress)
    clock.stop()
    given = {one.name: getattr(release, one.name) for one in fields(release) if one.init}
    return kind(
        **given
        | {
            "frame": None,
            "if_known": known,
            "worrying": worth_warning(known, plan.columns, release.seen.person_count),
            "keep_order": False,
            "engine": table.engine,
            "fitted": partial(origin.fitted, rows.names),
        },
        table=table,
        recoded=rows,
        progress=progress,
    )


def _taken(units: Frame, rows: Longs) -> Frame:
    """These combinations of values."""
    assert units.counted is not None
    return Frame(units.native.take(pa.array(rows)), units.counted.take(rows))


def grouped(plan: Plan) -> list[str]:
    """The columns whose combinations of values are in memory."""
    return [name for name, column in plan.columns.items() if column.role in GROUPED]


def _person(plan: Plan) -> PersonColumn | None:
    """The column that identifies the person of each record; None: each record is one person."""
    names = linking_columns(plan.columns)
    return PersonColumn(names[0], tuple(plan.missing_of(names[0]))) if names else None


def _elsewhere(
    table: LargeTable, units: Frame, people: People | None, plan: Plan, clock: Clock
) -> Elsewhere:
    """The columns of the release that are not in memory."""
    others = {name: plan.missing_of(name) for name in other_columns(plan.columns)}
    if not others:
        return Elsewhere(())

    def watch(share: float) -> None:
        clock.progress("known", share)

    clock.start("known")
    if people is None:
        found = table.values(units, others, watch)
    else:
        assert isinstance(table, PeopleTable)
        found = table.values_of_people(people, others, watch)
    clock.stop()
    return found


def _if_known(
    release: Release, table: LargeTable, recoded: Recoded, progress: Progress
) -> dict[str, ColumnDisclosure]:
    """The disclosure by other columns, counted by the engine, and by sensitive ones."""
    label = release.seen.class_of_row
    plan = release.plan
    others = {name: plan.missing_of(name) for name in other_columns(plan.columns)}
    found = {}

    def watch(share: float) -> None:
        progress("known", share)

    if others and isinstance(table, PeopleTable) and recoded.people is not None:
        found = table.alone_people(recoded, label, others, watch)
    elif others:
        found = table.alone(recoded.units, label, others, watch)
    known = {name: ColumnDisclosure(*counts) for name, counts in found.items()}
    return known | release.if_known


def _check_not_read(target: Path, table: LargeTable) -> None:
    """Raise an error if a release would replace a file of the original, or be next to it.

    The files of a folder are one table: a release among them would be read as a part of it.
    """
    whole = Path(os.path.realpath(target))
    files = [Path(os.path.realpath(file)) for file in table.inputs]
    folders = [file.parent for file in files] if len(files) > 1 else []
    if table.folder is not None:
        folders.append(Path(os.path.realpath(table.folder)))
    if whole in files or whole.parent in folders:
        raise BadFile(
            f"cannot write {target}: the original table is read from there; write to another folder"
        )


def _csv_sha256(path: Path, schema: pa.Schema, reading: Reading) -> str | None:
    """The SHA-256 of a saved release, if it were saved as CSV; None if it cannot be read."""
    digest = hashlib.sha256()
    try:
        file = Source.of(path, reading)

        def tables() -> Iterator[pa.Table]:
            return (pa.Table.from_batches([batch]) for _, batch in file.batches(lambda _: None))

        for part in all_text_parts(
            file.schema.with_metadata(schema.metadata),
            in_one_form(file.schema, tables),
            TextLayout.of(reading, "", ""),
        ):
            digest.update(part)
    except BadFile:
        return None
    return digest.hexdigest()
