"""Publish: decode a recoding, verify and measure the result, and build the Release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.attacks._unchanged import Elsewhere
from shoal.base.arrays import Longs
from shoal.base.clock import Clock
from shoal.base.errors import NotHeld
from shoal.base.version import __version__
from shoal.flow import notes
from shoal.flow.population import household_notes
from shoal.flow.release import Release
from shoal.flow.saving.refused import RefusedRelease
from shoal.io.digests import content_digest
from shoal.io.frames import Frame
from shoal.measures.analyses.variables import Tables
from shoal.measures.applied import Applied
from shoal.measures.breakdowns.linked_members import linked_members
from shoal.measures.explanation import Explains
from shoal.measures.information_loss import discernibility
from shoal.measures.measured import Source, measure_published
from shoal.measures.samples.sample_risks import SampleRisks, check_sample
from shoal.measures.tried import Tried
from shoal.measures.verdicts.refusal import raise_beyond_limits
from shoal.measures.verdicts.verdict import verdicts
from shoal.plan import Plan
from shoal.table.coded_columns import forget_codes
from shoal.table.encode import Table
from shoal.table.match_graph import link
from shoal.table.published_table import Published, preview_release, read_published
from shoal.table.recoding import SUPPRESSED, Recoding, decode
from shoal.table.roles import microaggregated_columns
from shoal.table.samples.derived import check_derived
from shoal.table.samples.survey import Survey, survey_of
from shoal.table.written.coded_numbers import check_coded, coded_columns, words_for
from shoal.table.written.spelled_columns import guarded

if TYPE_CHECKING:
    from shoal.flow.apply.fitted import Fitted


@dataclass(frozen=True, eq=False)
class Origin:
    """How a release was made: what the published table does not show."""

    # Builds the recoding to apply to other tables, given the order of the published columns.
    fitted: Callable[[Sequence[str]], Fitted]
    original_sha256: str | None  # of the input file; None: the input was no file
    explainer: Explains | None = None  # None: no algorithm ran
    applied: Applied | None = None  # if the recoding of another table was applied
    tried: list[Tried] = field(default_factory=list)  # if the plan left a choice open
    notes: list[str] = field(default_factory=list)  # on the choice, the algorithm and the recoding


def publish(
    frame: Frame,
    plan: Plan,
    original: Table,
    recoding: Recoding,
    rng: np.random.Generator,
    keep_order: bool,
    clock: Clock,
    origin: Origin,
    whole: Published | None = None,
    elsewhere: Elsewhere | None = None,
    answered: bool = True,
    surveyed: Survey | None = None,
) -> Release:
    """Decode, verify and measure; raise an error if a requirement is violated, or a limit exceeded.

    `whole` is the input table, if some of its records are in neither `frame` nor `original`, and
    `surveyed` how all of its records were sampled.
    `elsewhere` has the columns that are published but not in the frame. Unless `answered`, no
    counting queries are answered from the release.
    """
    dropped = 0 if whole is None else whole.rows - original.rows
    rows = original.rows + dropped
    suppressed = recoding.suppressed_of(original) + dropped
    forget_codes(frame, frame.packed)
    check_sample(frame, plan)
    clock.start("decode")
    released, people, taken, homes = decode(
        frame, plan.columns, original, recoding, rng, keep_order, plan.missing_values
    )
    released = guarded(released, plan.columns)
    clock.start("verify")
    check_coded(released, plan.columns)
    check_derived(released, plan.columns, plan.missing_values)
    members = linked_members(released, plan, homes, people)
    if members is not None:
        members.check()
    published = replace(_read(released, plan, people, homes), population=original.population)
    if not plan.linked:  # otherwise matches are about single records
        published = published.together()  # they are measured often
    ranges = _ranges(original, recoding, taken, plan)
    survey = survey_of(frame, plan.columns, plan.missing_values)
    linkable = _published_part(original, recoding) if plan.linked else None
    measured = measure_published(
        released,
        plan,
        published,
        None if linkable is None else link(linkable, published),
        Source(
            original,
            recoding,
            taken,
            partial(_unprotected, frame, plan, whole),
            answered=answered,
            survey=survey,
            whole=surveyed,
            ranges=ranges,
            before=frame,
        ),
        survey=survey.take(taken),
        population=_everybody(original),
        persons_published=people is None,
        must_hold=True,
        elsewhere=elsewhere,
        begin=clock.start,
        progress=clock.progress,
    )
    clock.stop()
    assert measured.quality is not None
    assert measured.utility is not None
    assert measured.before is not None
    release = Release(
        frame=released.native,
        plan=plan,
        seen=published,
        checks=measured.checks,
        at_most=measured.at_most,
        quality=measured.quality,
        utility=measured.utility,
        before=measured.before,
        after=measured.after,
        rows=rows,
        published=published.rows,
        suppressed=suppressed,
        discernibility=discernibility(measured.seen_by.classes, suppressed),
        seconds=clock.seconds,
        notes=[
            *([] if origin.applied is None else origin.applied.notes()),
            *notes.without_person(frame, plan),
            *household_notes.households_counted(frame, plan),
            *household_notes.members_linked(frame, plan, keep_order),
            *([] if members is None else members.notes()),
            *notes.merged_values(published),
            *notes.weighted_losses(plan),
            *notes.at_most_without_effect(plan, original),
            *notes.persons_not_published(plan, keep_order),
            *measured.dependency.notes(),
            *measured.utility.notes(original.rows),
            *([] if measured.sample is None else measured.sample.notes),
            *notes.population_not_estimated(plan, measured.sample),
            *notes.population_not_read(plan),
            *_about_population(original, plan, measured.sample),
            *notes.numbers_as_text(released, plan),
            *(words_for(name, one) for name, one in coded_columns(plan.columns).items()),
            *notes.microaggregated(plan),
            *notes.in_parts(recoding.parts),
            *origin.notes,
        ],
        keep_order=keep_order,
        original=linkable,
        person_of_record=people,
        household_of_record=homes,
        if_known=measured.if_known,
        worrying=measured.worrying,
        dependency=measured.dependency,
        linked_members=members,
        made=datetime.now().astimezone(),
        seed=plan.seed,
        version=__version__,
        seen_by=measured.seen_by,
        attackers=measured.attackers,
        digest=content_digest(released),
        applied=origin.applied,
        original_sha256=origin.original_sha256,
        explainer=origin.explainer,
        tried=origin.tried,
        limits=verdicts(plan, measured, suppressed / rows),
        sample=measured.sample,
        sample_before=measured.sample_before,
        weighted_losses=measured.weighted_losses,
        parts=recoding.parts,
        fitted=partial(origin.fitted, released.names),
        tables=replace(
            Tables.of_release(
                plan.columns,
                plan.missing_values,
                original,
                published if ranges is None else ranges,
                (frame, released),
                recoding,
                taken,
            ),
            weights=None if survey.weights is None else (survey.weights, survey.weights[taken]),
        ),
    )
    try:
        release.dependency.check()
        raise_beyond_limits(release.limits, release.before.people, release, plan.models)
    except NotHeld as error:
        error.refused = RefusedRelease(release, str(error))
        raise
    return release


def _ranges(original: Table, recoding: Recoding, taken: Longs, plan: Plan) -> Published | None:
    """The release with ranges in place of numbers of classes; None: it has no such numbers."""
    if not microaggregated_columns(plan.columns):
        return None
    return preview_release(original, recoding, taken)[0].together()


def _about_population(original: Table, plan: Plan, sample: SampleRisks | None) -> list[str]:
    """What the reader has to know about the table of the population, if there is one."""
    if original.population is None:
        return []
    people = original.population.persons
    return [*notes.population_incomplete(plan), *notes.populations_differ(people, sample)]


def _everybody(original: Table) -> Table | None:
    """The table of the population, if it has all people of the table."""
    people = original.population
    return None if people is None or people.incomplete else people.table


def _unprotected(frame: Frame, plan: Plan, whole: Published | None) -> Published:
    """The original as a reader would see it if it were published unchanged."""
    if whole is not None:
        return whole
    read = _read(frame, plan)
    # Rows that occur several times are distinct already.
    return read if plan.linked or frame.counted is not None else read.together()


def _read(
    frame: Frame, plan: Plan, people: Longs | None = None, homes: Longs | None = None
) -> Published:
    """A table as a reader sees it."""
    published = read_published(frame, plan.columns, plan.missing_values, people, homes)
    forget_codes(frame, published.names)
    return published


def _published_part(original: Table, recoding: Recoding) -> Table:
    """The published records of the original: an attacker may know which ones are not published."""
    if not recoding.suppressed:
        return original
    return original.take(np.flatnonzero(recoding.record != SUPPRESSED))
