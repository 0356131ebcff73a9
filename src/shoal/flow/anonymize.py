"""The flow: read → encode → recode → decode → verify → release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from shoal.base.clock import Clock
from shoal.base.progress import Progress, silent
from shoal.base.threads import limited
from shoal.databases.database import Database
from shoal.flow import notes
from shoal.flow.apply.fitted import Fitted
from shoal.flow.assistant import compiling_together
from shoal.flow.auto_select.search import recode
from shoal.flow.choose_engine import choose_engine
from shoal.flow.choose_parts import resources_of
from shoal.flow.explain import Explainer, seed_of
from shoal.flow.opening import open_table
from shoal.flow.population.open_population import PopulationFrame
from shoal.flow.publish import Origin, publish
from shoal.flow.release import Release
from shoal.io.digests import fingerprint
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.measures.samples.sample_risks import check_sample
from shoal.plan import Plan
from shoal.table.encode import Table, encode
from shoal.table.written.microaggregation import check_numbers
from shoal.table.written.spelled_columns import spelled_columns


def anonymize(
    table: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    read: Reading | Mapping[str, Any] | None = None,
    keep_order: bool | None = None,
    progress: Progress = silent,
) -> Release:
    """Turn a table about people into one that can be published.

    `read` says how its file is read where that differs from the plan, as in `{"sheet": "People"}`.

    >>> import pyarrow as pa
    >>> plan = Plan(
    ...     columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi"},
    ...     models=[{"name": "k-anonymity", "k": 2}],
    ... )
    >>> people = pa.table({"age": [31, 38, 52, 57], "sex": ["f", "f", "m", "m"]})
    >>> sorted(anonymize(people, plan).frame["age"].to_pylist())
    ['[30, 40)', '[30, 40)', '[50, 60)', '[50, 60)']
    """
    plan = Plan.of(plan).with_reading(read)
    plan.check_served()
    with limited(plan.threads):
        return _anonymize(
            table, plan, plan.keep_order if keep_order is None else keep_order, progress
        )


def _anonymize(table: Any, plan: Plan, keep_order: bool, progress: Progress) -> Release:
    """The same, with the threads of the plan."""
    engine = choose_engine(table, plan, keep_order)
    if engine.name == "spark":
        from shoal.flow.on_spark import anonymize_on_spark  # PySpark is loaded if it is asked for

        return anonymize_on_spark(table, plan, progress)
    if engine.name == "duckdb":
        from shoal.engines.duckdb_table import DuckdbTable  # it is seldom needed
        from shoal.flow.at_scale import LargeRelease, anonymize_at_scale

        spelled = spelled_columns(plan.columns, plan.missing_values)
        if isinstance(table, Database):
            from shoal.engines.database_table import DatabaseTable

            stored = DatabaseTable(table, resources_of(plan), spelled)
            return anonymize_at_scale(stored, plan, progress, LargeRelease, engine.notes)
        given = DuckdbTable(table, resources_of(plan), plan.read, spelled)
        return anonymize_at_scale(given, plan, progress, LargeRelease)

    clock = Clock(progress)
    clock.start("read")
    frame = open_table(table, plan, lambda done, size: progress("read", done / size))
    sha256 = fingerprint(table)
    with compiling_together(frame, plan, progress):
        remarks = [*engine.notes, *notes.encodings(frame.schema)]
        return _published(frame, plan, keep_order, clock, sha256, remarks)


def _published(
    frame: Frame,
    plan: Plan,
    keep_order: bool,
    clock: Clock,
    sha256: str | None,
    remarks: Sequence[str],
) -> Release:
    """Encode, recode, decode and verify a table."""
    progress = clock.progress
    clock.start("encode")

    population = PopulationFrame.of(plan)

    def encoded(plan: Plan) -> Table:
        table = encode(frame, plan.columns, plan.missing, plan.missing_values, progress)
        return table if population is None else population.with_population(table, plan)

    check_numbers(frame, plan.columns, plan.missing_values)
    original = encoded(plan)
    check_sample(frame, plan)
    clock.start("recode")
    recoded = recode(original, plan, progress, encoded)
    # This plan has no open choices; columns without a hierarchy may have been given one.
    plan, original, recoding = recoded.plan, recoded.table, recoded.recoding
    clock.stop()
    # Where several candidates were tried, the time of the chosen one: explaining repeats only that.
    took = sum(one.seconds for one in recoded.tried if one.chosen) or clock.seconds["recode"]
    origin = Origin(
        fitted=partial(Fitted.of, plan, original, recoding),
        original_sha256=sha256,
        explainer=Explainer(plan, original, recoding, seed_of(recoded.rng), took),
        tried=recoded.tried,
        notes=[*remarks, *recoded.notes, *plan.algorithm.notes(plan.seed), *recoding.notes],
    )
    return publish(frame, plan, original, recoding, recoded.rng, keep_order, clock, origin)
