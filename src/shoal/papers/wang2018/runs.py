"""The releases of Wang 2018 (Sec. 5): two algorithms, four models, each release verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

from shoal import catalog
from shoal.base.progress import Progress, silent
from shoal.flow.anonymize import anonymize
from shoal.flow.release import Release
from shoal.io.frames import open_frame
from shoal.losses.lm import LM
from shoal.measures.queries.answers import answer
from shoal.measures.queries.draw import Queries
from shoal.measures.utility import normalized_loss, vulnerable
from shoal.models._people import PeopleModel
from shoal.models.eir_alpha_beta_anonymity import EIRAlphaBetaAnonymity
from shoal.models.eir_l_diversity import EIRLDiversity
from shoal.models.ir_alpha_beta_anonymity import IRAlphaBetaAnonymity
from shoal.models.ir_kl_anonymity import IRKLAnonymity
from shoal.papers.wang2018.data import SENSITIVE, Subject
from shoal.plan import Plan
from shoal.table.encode import Table, encode
from shoal.table.published_table import read_published

# What stays as it is while something else is varied; these the paper says.
L, ALPHA, BETA, QI = 6, 0.6, 0.4, 6
KL, AB = "kl", "αβ"  # the two families of models, by the letters of their parameters
DRAWS = 3  # releases of each case, of which the mean is shown; in the paper 50
ASKED, QUICK_ASKED = 500, 100  # counting queries of each release
WARM = 60  # people of the runs that only compile and load
WARMING = 0.04  # their share of the progress


class Method(NamedTuple):
    """An algorithm and the kind of model that it satisfies."""

    shown: str
    algorithm: str
    family: str
    enhanced: bool


METHODS = {
    "geneir-kl": Method("geneir, IR (k, l)", "geneir", KL, False),
    "danonyir-kl": Method("danonyir, IR (k, l)", "danonyir", KL, False),
    "danonyir-el": Method("danonyir, EIR l", "danonyir", KL, True),
    "geneir-ab": Method("geneir, IR (α, β)", "geneir", AB, False),
    "danonyir-ab": Method("danonyir, IR (α, β)", "danonyir", AB, False),
    "danonyir-eab": Method("danonyir, EIR (α, β)", "danonyir", AB, True),
}


class Grid(NamedTuple):
    """The values of every parameter that is varied; which ones the paper's text does not say."""

    l: Sequence[int]  # noqa: E741 (the paper's letter)
    alpha: Sequence[float]
    beta: Sequence[float]
    qi: Sequence[int]


FULL = Grid(
    (2, 4, 6, 8, 10),
    (0.2, 0.4, 0.6, 0.8),
    (0.3, 0.4, 0.5, 0.6, 0.7),
    (3, 4, 5, 6, 7, 8),
)
QUICK = Grid((3, 6), (0.4, 0.6), (0.4, 0.6), (3, 6, 8))


class Case(NamedTuple):
    """Releases that are requested; they differ only by their random numbers."""

    subject: str
    method: str
    l: int = L  # noqa: E741 (and k, which is the same)
    alpha: float = ALPHA
    beta: float = BETA
    qi: int = QI

    @property
    def words(self) -> str:
        """What is run, for the progress."""
        method = METHODS[self.method]
        asked = f"l = {self.l}" if method.family == KL else f"α = {self.alpha:g}, β = {self.beta:g}"
        return f"{self.subject}, {method.shown}, {asked}, {self.qi} quasi-identifiers"


class Panel(NamedTuple):
    """What one part of a figure varies: figure 4b varies `qi`."""

    letter: str
    varies: str  # a field of a Case
    shown: str
    fixed: str  # what stays, in words


PANELS = {
    KL: (
        Panel("a", "l", "l", f"|QI| = {QI}"),
        Panel("b", "qi", "|QI|", f"l = {L}"),
    ),
    AB: (
        Panel("a", "alpha", "α", f"|QI| = {QI}, β = {BETA:g}"),
        Panel("b", "beta", "β", f"|QI| = {QI}, α = {ALPHA:g}"),
        Panel("c", "qi", "|QI|", f"α = {ALPHA:g}, β = {BETA:g}"),
    ),
}


class Measured(NamedTuple):
    """What is measured on verified releases, mean over all that were drawn."""

    lost: float  # the normalized information loss (eq. 15), percent
    classes: float
    people: float  # in a class, mean
    vulnerable: float  # percent of classes; 0 if the enhanced model is satisfied
    error: float | None  # median error of queries about one quasi-identifier, percent
    error_all: float | None  # of queries about all quasi-identifiers, percent
    mean_error: float | None  # likewise; few queries about rare values decide it
    mean_error_all: float | None
    seconds: float  # of the algorithm alone
    suppressed: float  # records
    draws: float


Results = Mapping[Case, Measured]


def cases(subject: str, grid: Grid) -> list[Case]:
    """All cases of a table, each once."""
    wanted: dict[Case, None] = {}
    for name, method in METHODS.items():
        for panel in PANELS[method.family]:
            for value in getattr(grid, panel.varies):
                wanted[Case(subject, name)._replace(**{panel.varies: value})] = None
    return list(wanted)


def model(case: Case) -> PeopleModel:
    """The requirement."""
    method = METHODS[case.method]
    if method.family == KL:
        if method.enhanced:
            return EIRLDiversity(column=SENSITIVE, l=case.l)
        return IRKLAnonymity(column=SENSITIVE, k=case.l, l=case.l)  # k = l, as in the paper
    kind = EIRAlphaBetaAnonymity if method.enhanced else IRAlphaBetaAnonymity
    return kind(column=SENSITIVE, alpha=case.alpha, beta=case.beta)


def plan(subject: Subject, case: Case, seed: int) -> Plan:
    """The plan of a release, as any user could write it."""
    algorithm = METHODS[case.method].algorithm
    return Plan(
        columns=subject.columns(case.qi, algorithm),
        models=[model(case)],
        algorithm=catalog.algorithms.named(algorithm)(),  # type: ignore[arg-type]
        loss=LM(),
        seed=seed,
    )


def run(
    subjects: Mapping[str, Subject],
    wanted: Sequence[Case],
    quick: bool,
    progress: Progress,
    begin: float,
    end: float,
) -> dict[Case, Measured]:
    """Make, verify and measure the releases; progress goes from `begin` to `end`."""
    begin = warm_up(subjects, progress, begin, begin + WARMING * (end - begin))
    draws, asked = (1, QUICK_ASKED) if quick else (DRAWS, ASKED)
    total = draws * sum(subjects[case.subject].rows for case in wanted)
    done = 0
    found = {}
    for case in wanted:
        drawn = []
        for seed in range(draws):
            share = begin + (end - begin) * done / total
            progress(case.words, share)
            stage = _same(progress, case.words, share)
            drawn.append(make(subjects[case.subject], case, seed, asked, stage))
            done += subjects[case.subject].rows
        found[case] = mean(drawn)
    return found


def warm_up(subjects: Mapping[str, Subject], progress: Progress, begin: float, end: float) -> float:
    """Run every method once on few people, so that measured times do not include compilation."""
    subject = next(iter(subjects.values())).sample(WARM)
    for i, name in enumerate(METHODS):
        progress("loading the kernels (compiles on the first run)", begin)
        make(subject, Case(subject.name, name, l=2, beta=0.6, qi=3), 0, QUICK_ASKED)
        begin += (end - begin) / (len(METHODS) - i)
    return end


def make(
    subject: Subject, case: Case, seed: int, asked: int, progress: Progress = silent
) -> Measured:
    """Make one verified release and measure it."""
    release = anonymize(subject.part(case.qi), plan(subject, case, seed), progress=progress)
    progress("queries", 0.0)
    return measure(subject, case, release, asked)


def measure(subject: Subject, case: Case, release: Release, asked: int) -> Measured:
    """Measure a release; queries only where a figure shows them."""
    original = _encoded(subject, case.qi, METHODS[case.method].algorithm)
    published = read_published(open_frame(release.frame), release.plan.columns)
    exposed = vulnerable(published, release.plan.models)
    alone, every = case.qi == QI, case._replace(qi=QI) == Case(case.subject, case.method)

    def errors(dimensions: int) -> tuple[float | None, float | None]:
        found = answer(original, published, Queries(number=asked, dimensions=dimensions))
        return _percent(found.median), _percent(found.mean)

    of_one, of_all = errors(1) if alone else NONE, errors(case.qi) if every else NONE
    return Measured(
        lost=100.0 * normalized_loss(original, published, release.quality),
        classes=float(release.classes),
        people=published.person_count / release.classes,
        vulnerable=sum(one.percent for one in exposed),
        error=of_one[0],
        error_all=of_all[0],
        mean_error=of_one[1],
        mean_error_all=of_all[1],
        seconds=release.seconds["recode"],
        suppressed=float(release.suppressed),
        draws=1.0,
    )


NONE = (None, None)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share


@lru_cache(maxsize=4)
def _encoded(subject: Subject, qi: int, algorithm: str) -> Table:
    return encode(open_frame(subject.part(qi)), subject.columns(qi, algorithm))


def mean(drawn: Sequence[Measured]) -> Measured:
    """The mean of everything over several releases."""

    def over(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return fmean(known) if known else None

    means = [over(values) for values in zip(*drawn, strict=True)]
    return Measured(*means)._replace(draws=float(len(drawn)))  # type: ignore[arg-type]


def _same(progress: Progress, words: str, share: float) -> Progress:
    """Report the steps within one release, so that the user sees progress and can stop it."""

    def report(step: str, _: float) -> None:
        progress(f"{words} ({step})", share)

    return report
