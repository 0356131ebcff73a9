"""Measured: all measurements of a published table, for a run and for an audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from shoal.base.progress import Progress, silent
from shoal.io.frames import Frame
from shoal.measures.column_disclosure import ColumnDisclosure, if_known, worth_warning
from shoal.measures.exposure import Exposure, expose
from shoal.measures.information_loss import Quality, measure
from shoal.measures.queries import Queries
from shoal.measures.record_counts import required_class_size
from shoal.measures.utility import Utility, utility_of, vulnerable
from shoal.measures.verify import check_all, raise_unless_satisfied
from shoal.models import Check
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published
from shoal.table.recoding import Recoding


@dataclass(frozen=True, eq=False)
class Measured:
    """What a published table guarantees, discloses and has lost."""

    published: Published
    linkage: MatchGraph | None  # None: the plan has no linkage model
    checks: list[Check]
    after: Exposure  # of the published table
    before: Exposure | None  # of the original, without unpublished values; None: not measured
    quality: Quality | None  # None: no original
    utility: Utility | None  # None: no original, and no model with an enhanced version
    if_known: dict[str, ColumnDisclosure]  # disclosure by columns published unchanged, if known
    worrying: list[str]  # those columns that deserve a warning, the worst first


@dataclass(frozen=True, eq=False)
class Source:
    """The original that a published table is compared with."""

    table: Table
    recoding: Recoding | None = None  # None: the release was made elsewhere
    # Reads the original as if it were published unchanged; None: its exposure is not measured.
    unprotected: Callable[[], Published] | None = None
    queries: Queries | None = None  # counting queries to answer from both; None: the default ones


def measure_published(
    frame: Frame,
    plan: Plan,
    published: Published,
    linkage: MatchGraph | None = None,
    source: Source | None = None,
    *,
    population: Table | None = None,
    persons_published: bool = True,
    must_hold: bool = False,
    begin: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
) -> Measured:
    """Measure a published table, alone or against its original.

    `frame` is the table and `published` what a reader learns from it. With `must_hold` a violated
    requirement raises an error before anything else is measured. `begin` is called with the name
    of each step as it begins, "verify" and "attack".
    """
    begin("verify")
    checks = check_all(published, plan.models, linkage)
    if must_hold:
        raise_unless_satisfied(plan.models, checks)
    begin("attack")
    quality, utility = _compared(plan, published, source, progress)
    after, before = _exposures(plan, published, linkage, source, population, progress)
    if not persons_published:
        after = replace(after, row_count=None)  # a reader cannot count the records of a person
    # With a linkage model there are no classes that a further column could split.
    known = {}
    if linkage is None:
        known = if_known(frame, plan.columns, published, plan.missing_values, persons_published)
    return Measured(
        published=published,
        linkage=linkage,
        checks=checks,
        after=after,
        before=before,
        quality=quality,
        utility=utility,
        if_known=known,
        worrying=worth_warning(known, plan.columns, published.person_count),
    )


def _compared(
    plan: Plan, published: Published, source: Source | None, progress: Progress
) -> tuple[Quality | None, Utility | None]:
    """The information lost and the remaining utility, compared with the original."""
    if source is None:
        found = vulnerable(published, plan.models)
        return None, Utility(None, None, found) if found else None
    quality = measure(source.table, published, plan.loss, source.recoding)
    utility = utility_of(
        source.table,
        published,
        quality,
        plan.models,
        source.queries,
        lambda share: progress("attack", share / 2),
    )
    return quality, utility


def _exposures(
    plan: Plan,
    published: Published,
    linkage: MatchGraph | None,
    source: Source | None,
    population: Table | None,
    progress: Progress,
) -> tuple[Exposure, Exposure | None]:
    """What the published table discloses, and what its original would have disclosed."""
    k = required_class_size(plan.models)
    progress("attack", 0.5)
    after = expose(published, population, linkage, progress, k)
    progress("attack", 0.6)
    if source is None or source.unprotected is None:
        return after, None
    original = source.unprotected()
    progress("attack", 0.7)
    before = expose(original, k=k).showing(published)
    progress("attack", 0.9)
    return after, before
