"""Apply: publish new records with the vectors of a recoding, and verify them on their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.base.arrays import Bools, Ints
from shoal.base.clock import Clock
from shoal.base.errors import BadPlan, BadTable, did_you_mean, preview
from shoal.base.progress import Progress
from shoal.flow import notes
from shoal.flow.apply.labels import placing_columns, vectors_in
from shoal.flow.apply.placing import Placement, first_covering
from shoal.flow.apply.satisfying import Satisfied, satisfy_models
from shoal.flow.apply.unknown_values import (
    Unknown,
    readable,
    rows_of_their_people,
    unknown_values,
)
from shoal.flow.opening import open_table
from shoal.flow.publish import Origin, publish
from shoal.flow.release import Release
from shoal.hierarchies.free_values import Covers
from shoal.io.digests import fingerprint
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.measures.applied import Applied
from shoal.models import Model, TableModel
from shoal.plan import Plan
from shoal.table.encode import Table, encode
from shoal.table.published_table import read_published
from shoal.table.recoding import SUPPRESSED
from shoal.table.roles import check_columns
from shoal.table.samples.survey import survey_of

if TYPE_CHECKING:
    from shoal.flow.apply.fitted import Fitted


def apply(
    fitted: Fitted,
    table: Any,
    read: Reading | Mapping[str, Any] | None,
    seed: int | None,
    keep_order: bool | None,
    drop_extra: bool,
    most_left_out: float | None,
    progress: Progress,
) -> Release:
    """Publish the records of a table with the vectors of a recoding, see `Fitted.apply`."""
    _check_share(most_left_out)
    _check_draw(fitted.plan)
    clock = Clock(progress)
    plan = fitted.plan.changed(seed=seed).with_reading(read)
    clock.start("read")
    given = open_table(table, plan, lambda done, size: progress("read", done / size), sure=False)
    sha256 = fingerprint(table)
    clock.start("encode")
    whole = _same_columns(given, fitted, drop_extra)
    unknown = unknown_values(whole, plan)
    strange = rows_of_their_people(unknown, whole, plan)
    if strange.all():
        raise BadTable(_all_unknown(unknown))
    frame = whole.rebuild(np.flatnonzero(~strange), {}, ()) if strange.any() else whole
    columns = placing_columns(plan.columns, fitted.vectors, plan.missing_values)
    original = encode(frame, columns, plan.missing, plan.missing_values, progress)
    clock.start("recode")
    no_class, placed = _place(fitted, plan, original, progress)
    applied = Applied(
        rows=whole.height,
        unknown={name: int(one.rows.sum()) for name, one in unknown.items()},
        unknown_rows=int(strange.sum()),
        no_class=no_class,
        broken=placed.broken,
        moved=placed.moved,
        classes=placed.classes,
        dropped=[name for name in given.names if name not in whole.names],
        most_left_out=most_left_out,
        of_table=frozenset(model.key for model in plan.models if isinstance(model, TableModel)),
        stricter=_stricter(plan.models),
    )
    applied.check()
    return publish(
        frame,
        plan,
        original,
        placed.recoding,
        np.random.default_rng(seed),
        plan.keep_order if keep_order is None else keep_order,
        clock,
        Origin(
            partial(_itself, fitted),
            sha256,
            applied=applied,
            notes=[*notes.encodings(given.schema), *notes.ranges_as_labels(plan)],
        ),
        read_published(whole, readable(plan.columns, unknown), plan.missing_values),
        surveyed=survey_of(whole, plan.columns, plan.missing_values),
    )


def _stricter(models: Sequence[Model]) -> str:
    """What to require of a recoding so that it suppresses less in other tables."""
    options = [model.size_option for model in models if model.size_option is not None]
    return f"a larger {options[0]}" if options else "stricter requirements"


def _check_share(most_left_out: float | None) -> None:
    if most_left_out is not None and not 0 <= most_left_out <= 1:
        raise BadPlan(
            f"most_left_out is a share of the records, from 0 to 1, got {most_left_out:g}; "
            "0.05 allows 5 %"
        )


def _check_draw(plan: Plan) -> None:
    """A new record would get the first row that covers it, and not one that is drawn."""
    for model in plan.models:
        if model.needs_draw:
            raise BadPlan(
                f"{model.key} is about a random draw among all records of a table, which a "
                "recoding does not have for new records; anonymize this table by itself"
            )
        if model.needs_population:
            raise BadPlan(
                f"{model.key} is about the population of the table that the recoding was made "
                "from, which a recoding does not contain; anonymize this table by itself"
            )


def _same_columns(frame: Frame, fitted: Fitted, drop_extra: bool) -> Frame:
    """The columns that the recoding was made with, in the order of its release."""
    columns = fitted.plan.columns
    lacking = [name for name in columns if name not in frame.names]
    if lacking:
        raise BadTable(
            f"the recoding was made with columns that the table lacks: {preview(lacking)}"
            f"{did_you_mean(lacking[0], frame.names)}; a table of the same kind has them all"
        )
    extra = [name for name in frame.names if name not in columns]
    if extra and not drop_extra:
        raise BadTable(
            f"the recoding does not mention the columns {preview(extra)}: the table that it was "
            "made from did not have them, so it is not known whether they may be published; drop "
            "them with --drop-extra (in Python: drop_extra=True)"
        )
    check_columns(columns, frame.select(list(columns)))
    order = [*fitted.order, *(name for name in columns if name not in fitted.order)]
    return frame if frame.names == order else frame.select(order)


def _all_unknown(unknown: Mapping[str, Unknown]) -> str:
    where = "; ".join(f"{name!r} has {preview(one.values)}" for name, one in unknown.items())
    return (
        "no record can be placed: all of them have values that the hierarchies of the "
        f"recoding lack: {where}. Is this a table of the same kind?"
    )


def _place(
    fitted: Fitted, plan: Plan, original: Table, progress: Progress
) -> tuple[int, Satisfied]:
    """How many records no class covers, and the recoding of the others."""
    vectors, covers = vectors_in(original, fitted.vectors)
    vectors = vectors[within_at_most(original, vectors, covers)]
    placed = first_covering(vectors, covers, original, progress)
    no_class = int((placed == SUPPRESSED).sum())
    if no_class == original.rows:
        raise BadTable(
            "no record of the table falls into a class of the recoding; is this a table of the "
            "same kind as the one that it was made from?"
        )
    alive = np.ones(len(vectors), np.bool_)
    placement = Placement(original, vectors, covers, placed, alive)
    return no_class, satisfy_models(plan, placement, progress)


def within_at_most(table: Table, vectors: Ints, covers: Sequence[Covers]) -> Bools:
    """Which vectors publish nothing beyond `at_most` in this table, bool[vectors]."""
    fine = np.ones(len(vectors), np.bool_)
    for j, tops in enumerate(table.tops):
        if tops is not None:
            fine &= tops.allowed_codes(vectors[:, j], covers[j])
    return fine


def _itself(fitted: Fitted, order: object) -> Fitted:  # noqa: ARG001 (its order is known)
    return fitted
