"""Open a table: read it, examine its columns, and propose a plan or keep the given one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.base.errors import ShoalError
from shoal.base.progress import Progress, silent
from shoal.databases.database import Database
from shoal.flow.draft.draft import Examined, examine, plan_with_roles
from shoal.flow.draft.spellings import PLAIN, Stated
from shoal.flow.draft.table_rows import open_with_rows
from shoal.flow.setup.kept_plan import Kept, kept_plan
from shoal.io.frames import Frame
from shoal.io.raw_text.spelling import Spelling
from shoal.io.reading import Reading
from shoal.plan import Plan
from shoal.studio.tasks._columns import ColumnView, view_of
from shoal.studio.tasks._first_look import first_look
from shoal.studio.tasks._mapped import mapped
from shoal.studio.tasks._serving import Held
from shoal.table.coded_columns import forget_codes, person_codes
from shoal.table.roles import linking_columns

SAMPLE = 5_000  # records that a preview is computed on
SMALL = 5_000_000  # cells of a table that may be in memory twice, while it is read again
SPELLING = ("decimal", "thousands", "percent", "date_format")


@dataclass(frozen=True)
class Correction:
    """How a table is to be read instead; a plan keeps what still fits."""

    reading: dict[str, Any] | None = None  # None: as the plan states it
    missing: list[str] | None = None  # words; None: as they are
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)  # settings, by column
    described: bool = False  # whether a dictionary was handed in, whose roles are to be used
    other_table: bool = False  # whether it is another table of the same database

    def is_fresh(self, plan: Plan) -> bool:
        """Whether cells may be others than before: then what nobody decided is found out anew."""
        changed = self.reading is not None and Reading(**self.reading) != plan.read
        return changed or self.other_table


@dataclass(frozen=True)
class Overview:
    """What the pages show of a table."""

    rows: int
    people: int  # by the person column, when the table was read
    columns: tuple[ColumnView, ...]
    reading: dict[str, Any]  # how the file was understood
    missing: tuple[str, ...]  # words that mean missing in any column
    plan: str  # to be used, as TOML
    drafted: str  # what was proposed, before anybody decided anything
    fit: dict[str, list[str]] = field(default_factory=dict)  # what did not fit of the given plan
    sampled: int = 0  # records of the sample

    @property
    def changed(self) -> bool:
        """Whether the given plan did not fit."""
        return any(self.fit.get(word) for word in ("new", "lost", "models", "hierarchies"))


def source_of(source: dict[str, Any]) -> Any:
    """The table that is meant: a file, or a table of a database."""
    if source["kind"] == "database":
        return Database(source["address"], source.get("table"), query=source.get("query"))
    return Path(source["path"])


def run(held: Held, progress: Progress, folder: str | None = None, **asked: Any) -> Overview:
    """Read and examine a table; if that fails, the process has the table that it had before.

    A large table is kept in a file of `folder`; None: in memory.
    """
    before = held.get("asked")
    frame = held.get("frame")
    if frame is None or frame.height * len(frame.names) > SMALL:
        held.clear()
    opened = Held()
    opened.early = held.early
    try:
        overview = opened_table(opened, progress, **asked)
    except ShoalError:
        if before is not None and "frame" not in held:
            with suppress(ShoalError):
                opened_table(held, silent, **before)
                held["asked"] = before
                _move_later(held, folder)
        raise
    held.clear()
    held.update(opened, asked={**asked, "correction": None})
    _move_later(held, folder)
    return overview


def _move_later(held: Held, folder: str | None) -> None:
    """Keep a large table in a file instead of in memory, once its overview is shown."""
    if folder is None:
        return
    where = Path(folder)

    def move() -> None:
        held["examined"] = examined = mapped(held["examined"], where)
        held["frame"] = examined.frame

    held.later(move)


def opened_table(
    held: Held,
    progress: Progress,
    source: dict[str, Any],
    reading: dict[str, Any],
    plan: str | None = None,
    drafted: str | None = None,
    dictionary: str | None = None,
    correction: Correction | None = None,
) -> Overview:
    """Read a table, as `reading` or the plan or a correction says it.

    `plan` is the path of its file, and `drafted` the text of what was proposed before.
    """
    asked = None if plan is None else Plan.load(plan)
    stated = asked.read if asked is not None else Reading(**reading)
    if correction is not None and correction.reading is not None:
        stated = Reading(**correction.reading)
    fresh = asked is None or (correction is not None and correction.is_fresh(asked))
    raw, read = open_with_rows(source_of(source), stated, progress)
    known = _stated(None if fresh else asked, correction)
    progress("examine", 0.0)
    if (look := first_look(raw, read, dictionary, known, asked)) is not None:
        held.early(look)
    examined = examine(raw, dictionary, read, progress, known, tried=False)
    kept = None
    if asked is not None:
        kept = _kept(asked, examined, drafted, correction)
        if not _says(examined, kept.plan):  # what the plan keeps is stated differently
            examined = examine(
                raw, dictionary, read, progress, Stated.in_plan(kept.plan), tried=False
            )
    overview = _overview(examined, kept, plan, None if fresh else drafted)
    forget_codes(examined.frame, examined.frame.names)  # what was learned from them is kept
    held["examined"], held["frame"], held["source"] = examined, examined.frame, source
    return overview


def _stated(plan: Plan | None, correction: Correction | None) -> Stated:
    """What is known about the cells before the table is examined."""
    known = Stated() if plan is None else Stated.in_plan(plan)
    if correction is None:
        return known
    columns = correction.columns.items()
    spelled = {name: _spelling(one) for name, one in columns if set(one) & set(SPELLING)}
    words = {n: one["missing_values"] or () for n, one in columns if "missing_values" in one}
    return Stated(
        known.missing if correction.missing is None else correction.missing,
        {**known.spellings, **spelled},
        {**known.own_missing, **words},
    )


def _spelling(settings: dict[str, Any]) -> Spelling:
    given = {name: settings[name] for name in SPELLING if settings.get(name)}
    return Spelling(**given)


def _kept(
    asked: Plan, examined: Examined, drafted: str | None, correction: Correction | None
) -> Kept:
    """The plan with what fits of it, and with what the correction says."""
    if correction is None:
        return kept_plan(asked, examined)
    before = None if drafted is None else _parsed(drafted)
    given = [n for n, guess in examined.guesses.items() if guess.given] * correction.described
    kept = kept_plan(asked, examined, before, given)
    columns = dict(kept.plan.columns)
    for name, settings in correction.columns.items():
        if name in columns:
            columns[name] = columns[name].changed(**settings)
    missing = correction.missing
    words = kept.plan.missing_values if missing is None else missing
    plan = kept.plan.changed(columns=columns, missing_values=words)
    return Kept(plan, kept.new, kept.lost, kept.models, kept.hierarchies, kept.lacking)


def _parsed(text: str) -> Plan:
    import tomllib

    return Plan(**tomllib.loads(text))


def _says(examined: Examined, plan: Plan) -> bool:
    """Whether the columns were examined as the plan states them."""
    stated, missing = Stated.in_plan(plan), set(examined.missing)
    found = {name: one.spelling or PLAIN for name, one in examined.detected.items()}
    return (
        list(plan.missing_values) == list(examined.missing)
        and all(found.get(name, PLAIN) == one for name, one in stated.spellings.items())
        and all(
            set(examined.facts[name].missing) - missing == set(words) - missing
            for name, words in stated.own_missing.items()
        )
    )


def _overview(
    examined: Examined, kept: Kept | None, path: str | None, drafted: str | None
) -> Overview:
    """What the pages show; `drafted` is what was proposed when nothing was decided yet."""
    proposed = plan_with_roles(examined, examined.guesses)
    plan = proposed if kept is None else kept.plan
    folder = None if path is None else Path(path).parent
    frame: Frame = examined.frame
    fit = {} if kept is None else {
        "new": kept.new,
        "lost": kept.lost,
        "models": kept.models,
        "hierarchies": kept.hierarchies,
        "lacking": kept.lacking,
    }  # fmt: skip
    return Overview(
        rows=frame.height,
        people=_people(examined, plan),
        columns=tuple(view_of(examined, name) for name in frame.names),
        reading=examined.read.stated(),
        missing=tuple(examined.missing),
        plan=plan.to_toml(folder, drafted=kept is None),
        drafted=drafted or proposed.to_toml(drafted=True),
        fit=fit,
        sampled=min(SAMPLE, frame.height),
    )


def _people(examined: Examined, plan: Plan) -> int:
    """How many people there are; without a person column, each record is one."""
    for name in linking_columns(plan.columns):
        codes = person_codes(examined.frame, name, plan.missing_of(name))
        return int(codes.max()) + 1
    return examined.frame.height
