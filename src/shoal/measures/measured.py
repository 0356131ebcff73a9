"""Measured: all measurements of a published table, for a run and for an audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from shoal.attacks._numbers import NumberColumn, number_columns
from shoal.attacks._unchanged import Elsewhere, Truth, Unchanged, unchanged_of
from shoal.attacks.dependency import NOT_MEASURED
from shoal.base.arrays import Floats, Longs
from shoal.base.errors import BadHierarchy, BadTable
from shoal.base.progress import Progress, silent
from shoal.io.frames import Frame
from shoal.measures.breakdowns.dependencies import ATTACK, Dependencies
from shoal.measures.breakdowns.variance_lost import variances_lost
from shoal.measures.column_disclosure import ColumnDisclosure, if_known, worth_warning
from shoal.measures.exposure import Exposure, expose
from shoal.measures.information_loss import Quality, measure, weighted_losses
from shoal.measures.key_sets import View, views
from shoal.measures.queries.answers import weighted_answer
from shoal.measures.queries.draw import Queries
from shoal.measures.record_counts import enforced_class_size, required_class_size
from shoal.measures.samples.sample_risks import SampleRisks, sample_risks
from shoal.measures.utility import Utility, utility_of, vulnerable
from shoal.measures.verdicts.within_at_most import check_at_most, raise_beyond_at_most
from shoal.measures.verify import check_all, raise_unless_satisfied
from shoal.models import Check
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.match_graph import MatchGraph
from shoal.table.published_table import Published
from shoal.table.recoding import Recoding
from shoal.table.roles import other_columns
from shoal.table.samples.survey import Survey, survey_of


@dataclass(frozen=True, eq=False)
class Measured:
    """What a published table guarantees, discloses and has lost."""

    published: Published
    linkage: MatchGraph | None  # None: the plan has no linkage model
    checks: list[Check]
    at_most: list[Check]  # how general the values of columns with at_most are
    after: Exposure  # of the published table
    before: Exposure | None  # of the original, without unpublished values; None: not measured
    quality: Quality | None  # None: no original
    utility: Utility | None  # None: no original, and no model with an enhanced version
    if_known: dict[str, ColumnDisclosure]  # disclosure by columns published unchanged, if known
    worrying: list[str]  # those columns that deserve a warning, the worst first
    dependency: Dependencies  # what those columns reveal of quasi-identifiers
    seen_by: Published  # the table as the attacker of `after` sees it
    attackers: dict[str, Exposure]  # what each of several attackers learns, by their names
    sample: SampleRisks | None = None  # risks in the population; None: the plan is about none
    sample_before: SampleRisks | None = None  # those of the original; None: not measured
    weighted_losses: dict[str, float] | None = None  # None: there are no weights, or no original


@dataclass(frozen=True, eq=False)
class Source:
    """The original that a published table is compared with."""

    table: Table
    recoding: Recoding | None = None  # None: the release was made elsewhere
    rows: Longs | None = None  # the record that each row of the frame was; None: not known
    # Reads the original as if it were published unchanged; None: its exposure is not measured.
    unprotected: Callable[[], Published] | None = None
    queries: Queries | None = None  # counting queries to answer from both; None: the default ones
    answered: bool = True  # whether they are answered: on a small table that takes longest
    survey: Survey | None = None  # how its records were sampled; None: not read
    # The same of the whole table, if `table` lacks some of its records; None: it has all.
    whole: Survey | None = None
    # The release with a range in place of each microaggregated number; None: there are none.
    ranges: Published | None = None
    before: Frame | None = None  # the original itself; None: it is not in memory
    sure: bool = True  # whether no other `rows` are possible


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
    elsewhere: Elsewhere | None = None,
    survey: Survey | None = None,
    begin: Callable[[str], None] = lambda _: None,
    progress: Progress = silent,
) -> Measured:
    """Measure a published table, alone or against its original.

    `frame` is the table and `published` what a reader learns from it. With `must_hold` a violated
    requirement raises an error before anything else is measured. `elsewhere` has the columns that
    are published but not in the frame, and `survey` says how its rows were sampled. `begin` is
    called with the name of each step as it begins, "verify" and "attack".
    """
    begin("verify")
    seen_by = views(published, plan.attackers)
    checks = check_all(seen_by, plan.models, linkage)
    at_most = check_at_most(published, plan, None if source is None else source.table)
    if must_hold:
        raise_unless_satisfied(plan.models, checks)
        raise_beyond_at_most(at_most)
    begin("attack")
    truth = None if source is None or source.rows is None else Truth(source.table, source.rows)
    numbers = _numbers(frame, plan, source) if linkage is None else ()
    read = _reader(frame, plan, linkage, truth, elsewhere, numbers)
    each = _exposures(plan, seen_by, linkage, population, read, progress)
    away = () if elsewhere is None else (*elsewhere.names, *elsewhere.left_out)
    others = [name for name in other_columns(plan.columns) if name in frame.names or name in away]
    dependency = _dependencies(plan, each, published.person_count, others)
    if linkage is not None:
        dependency = replace(dependency, reason="the release has no classes")
    elif elsewhere is not None and elsewhere.left_out:
        dependency = replace(dependency, reason="the values do not fit into the memory limit")
    survey = survey or survey_of(frame, plan.columns, plan.missing_values)
    quality, utility = _compared(plan, frame, published, source, survey, progress)
    if not persons_published:  # a reader cannot count the records of a person
        each = [replace(one, row_count=None) for one in each]
    worst = max(range(len(each)), key=lambda i: (each[i].risks.prosecutor, each[i].risks.average))
    original = _original(seen_by[worst], source)
    before = _before(plan, seen_by[worst], original, population, progress)
    # With a linkage model there are no classes that a further column could split.
    known = {}
    if linkage is None:
        known = _if_known(frame, plan, seen_by, persons_published)
    seen = seen_by[worst].published
    drawn = None if source is None else source.whole or source.survey
    return Measured(
        # Rows that stand for several records have no risks of their own.
        sample=None if frame.weight is not None else sample_risks(survey, plan, seen, drawn),
        sample_before=None if frame.weight is not None else _sample_before(plan, original, drawn),
        weighted_losses=_weighted_losses(plan, published, survey, source),
        published=published,
        linkage=linkage,
        checks=checks,
        at_most=at_most,
        after=each[worst],
        before=before,
        quality=quality,
        utility=utility,
        if_known=known,
        worrying=worth_warning(known, plan.columns, published.person_count),
        dependency=dependency,
        seen_by=seen_by[worst].published,
        attackers={
            view.attacker: one
            for view, one in zip(seen_by, each, strict=True)
            if view.attacker is not None
        },
    )


def _compared(
    plan: Plan,
    frame: Frame,
    published: Published,
    source: Source | None,
    survey: Survey,
    progress: Progress,
) -> tuple[Quality | None, Utility | None]:
    """The information lost and the remaining utility, compared with the original."""
    if source is None:
        found = vulnerable(published, plan.models)
        return None, Utility(None, None, found) if found else None
    general = source.ranges or published
    quality = measure(source.table, general, plan.loss, source.recoding)
    utility = utility_of(
        source.table,
        general,
        quality,
        plan.models,
        source.queries,
        lambda share: progress("attack", 0.2 + share / 2),
        source.answered and source.ranges is None,  # ranges that are not published answer nothing
    )
    if source.ranges is not None:
        utility = replace(
            utility,
            vulnerable=vulnerable(published, plan.models),
            microaggregated=variances_lost(plan, source.before, frame, source.rows),
        )
    weights = _both_weights(survey, source)
    if weights is not None and source.answered and source.ranges is None:
        asked = source.queries or Queries()
        weighted = weighted_answer(source.table, published, asked, *weights)
        utility = replace(utility, weighted=weighted)
    return quality, utility


def _both_weights(survey: Survey, source: Source | None) -> tuple[Floats, Floats] | None:
    """The weights of the original's records and of the release's, if both have them."""
    if source is None or source.survey is None:
        return None
    before, after = source.survey.weights, survey.weights
    return None if before is None or after is None else (before, after)


def _weighted_losses(
    plan: Plan, published: Published, survey: Survey, source: Source | None
) -> dict[str, float] | None:
    """The losses by the weights of the records, if both tables have them."""
    weights = _both_weights(survey, source)
    if source is None or weights is None:
        return None
    return weighted_losses(source.table, source.ranges or published, plan.loss, *weights)


def _exposures(
    plan: Plan,
    seen_by: Sequence[View],
    linkage: MatchGraph | None,
    population: Table | None,
    read: Callable[[Published], Unchanged | None],
    progress: Progress,
) -> list[Exposure]:
    """What the published table discloses to each attacker."""
    k = required_class_size(plan.models)
    progress("attack", 0.0)
    found = []
    for i, view in enumerate(seen_by):
        seen = view.published
        found.append(expose(seen, population, linkage, progress, k, read(seen)))
        progress("attack", 0.2 * (i + 1) / len(seen_by))
    return found


def _reader(
    frame: Frame,
    plan: Plan,
    linkage: MatchGraph | None,
    truth: Truth | None,
    elsewhere: Elsewhere | None,
    numbers: tuple[NumberColumn, ...],
) -> Callable[[Published], Unchanged | None]:
    """Reads the columns that are published unchanged, next to what an attacker sees."""

    def read(published: Published) -> Unchanged | None:
        if linkage is not None:  # there are no classes from which records could be ruled out
            return None
        try:
            found = unchanged_of(
                frame,
                plan.columns,
                published,
                plan.missing_values,
                k=enforced_class_size(plan.models),
                accepted=plan.accept,
                truth=truth,
                elsewhere=elsewhere,
            )
            return replace(found, numbers=numbers)
        except BadHierarchy:  # published numbers of hundreds of digits: it is not measured
            return None

    return read


def _numbers(frame: Frame, plan: Plan, source: Source | None) -> tuple[NumberColumn, ...]:
    """Columns of numbers in both tables, if it is known which record became which."""
    if source is None or source.before is None or source.rows is None or not source.sure:
        return ()
    rows, words = source.rows, plan.missing_values
    return number_columns(frame, source.before, rows, plan.columns, words)


def _dependencies(
    plan: Plan, each: Sequence[Exposure], people: int, others: Sequence[str]
) -> Dependencies:
    """What the attack `dependency` found, for all attackers together."""
    found = [one.attacks.get(ATTACK, dict(NOT_MEASURED)) for one in each]
    return Dependencies.of(found, enforced_class_size(plan.models), people, others, plan.accept)


def _original(view: View, source: Source | None) -> Published | None:
    """The original as an attacker would see it who sees this of the release."""
    if source is None or source.unprotected is None:
        return None
    original = source.unprotected()
    return original if view.attacker is None else original.known_to(view.published.names)


def _before(
    plan: Plan,
    view: View,
    original: Published | None,
    population: Table | None,
    progress: Progress,
) -> Exposure | None:
    """What the original would have disclosed to an attacker who sees this of the release."""
    if original is None:
        return None
    progress("attack", 0.7)
    k = required_class_size(plan.models)
    try:
        before = expose(replace(original, population=view.published.population), population, k=k)
    except BadTable:  # the population has one record of people with several different ones
        before = expose(original, k=k)
    progress("attack", 0.9)
    return before.showing(view.published)


def _sample_before(
    plan: Plan, original: Published | None, drawn: Survey | None
) -> SampleRisks | None:
    """Risks in the population if the original were published unchanged."""
    if original is None or drawn is None or len(original.class_of_row) != drawn.rows:
        return None
    return sample_risks(drawn, plan, original)


def _if_known(
    frame: Frame, plan: Plan, seen_by: Sequence[View], persons_published: bool
) -> dict[str, ColumnDisclosure]:
    """The disclosure by columns published unchanged, to the attacker who learns most from each."""
    each = [
        if_known(frame, plan.columns, view.published, plan.missing_values, persons_published)
        for view in seen_by
    ]
    return {name: max((one[name] for one in each), key=lambda one: one.alone) for name in each[0]}
