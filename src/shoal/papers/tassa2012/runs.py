"""The releases of Tassa 2012 (Sec. 9): every method on every table, each one verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from shoal import catalog
from shoal.base.progress import Progress
from shoal.flow.anonymize import anonymize
from shoal.models import Model
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_concealment import KConcealment
from shoal.models.k_k_anonymity import KKAnonymity
from shoal.papers._printed import printed
from shoal.papers.tassa2012.data import Subject
from shoal.plan import Plan

KS = tuple(range(10, 101, 10))
QUICK = (10, 40)
ATTACKED = (10, 50, 100)  # the k of the attacks on (k,k)-anonymity
QUICK_ATTACKED = (10,)
LOSSES = {"lm": "LM", "entropy": "EM"}  # ours and the paper's names
# Every release is put through every attack, and `matching` takes minutes on this table.
SLOW = {("ADULT", "randomized"): (10, 20, 40, 70, 100)}
WORK = {"randomized": 15, "concealment": 6, "(k,k)": 3, "sequential": 3}  # the others: 1
DIVERSE: dict[str, float] = printed("tassa2012")["l"]  # of figure 10


class Method(NamedTuple):
    """A method of anonymization: a requirement on k, and an algorithm that satisfies it."""

    shown: str
    model: type[KAnonymity | KConcealment | KKAnonymity]
    algorithm: str
    options: Mapping[str, Any]


PAPER = {"start": "expansion"}  # Algorithm 2
METHODS = {
    "concealment": Method(
        "k-concealment", KConcealment, "concealment", {**PAPER, "randomized": False}
    ),
    "randomized": Method(
        "k-concealment, randomized",
        KConcealment,
        "concealment",
        {**PAPER, "randomized": True},
    ),
    "agglomerative": Method("agglomerative", KAnonymity, "agglomerative", {}),
    "forest": Method("forest", KAnonymity, "forest", {}),
    "sequential": Method("sequential (added)", KAnonymity, "sequential", {}),
    "gaa": Method("gaa (added)", KAnonymity, "gaa", {}),
    "(k,k)": Method("(k,k)-anonymity", KKAnonymity, "concealment", {**PAPER, "randomized": False}),
}
ORDER = ("concealment", "randomized", "agglomerative", "forest")  # from the least loss, we expect
LINES = ("concealment", "agglomerative", "forest", "sequential", "gaa")  # figures 5 to 8
RANDOM = ("concealment", "randomized", "agglomerative")  # figure 9
DIVERSIFIED = ("concealment", "agglomerative", "forest", "sequential", "gaa")  # figure 10
EVERY = (*ORDER, "sequential", "gaa")


class Case(NamedTuple):
    """One release that is requested."""

    subject: str
    loss: str  # which guides and is measured
    method: str
    k: int
    l: float | None = None  # noqa: E741 (the paper's letter)

    @property
    def words(self) -> str:
        """What is run, for the progress."""
        diverse = "" if self.l is None else f", l = {self.l:g}"
        method = METHODS[self.method].shown.split(" (")[0]
        return f"{self.subject}, {LOSSES[self.loss]}, k = {self.k}{diverse}: {method}"


class Measured(NamedTuple):
    """What is measured on one verified release."""

    lost: float  # percent, by the guiding loss
    attacks: Mapping[str, Mapping[str, Any]]  # those on the graph of original and release


Results = Mapping[Case, Measured]


def cases(subjects: Sequence[str], ks: Sequence[int], attacked: Sequence[int]) -> list[Case]:
    """All releases of the experiment."""
    wanted = [
        Case(subject, loss, method, k)
        for subject in subjects
        for loss in LOSSES
        for k in ks
        for method in EVERY
        if k in SLOW.get((subject, method), ks)
    ]
    wanted += [
        Case(subject, "lm", method, k, DIVERSE[subject])
        for subject in subjects
        if subject in DIVERSE
        for k in ks
        for method in DIVERSIFIED
    ]
    wanted += [Case(subject, "lm", "(k,k)", k) for subject in subjects for k in attacked]
    return wanted


def plan(subject: Subject, case: Case) -> Plan:
    """The plan of a release, as any user could write it."""
    method = METHODS[case.method]
    models: list[Model] = [method.model(k=case.k)]
    if case.l is not None:
        assert subject.private is not None
        models.append(FrequencyLDiversity(column=subject.private, l=case.l))
    return Plan(
        columns=subject.columns,
        models=models,
        algorithm=catalog.algorithms.named(method.algorithm)(**method.options),  # type: ignore[arg-type]
        loss=catalog.losses[case.loss](),  # type: ignore[arg-type]
        seed=0,
    )


def run(
    subjects: Mapping[str, Subject],
    wanted: Sequence[Case],
    progress: Progress,
    begin: float,
    end: float,
) -> dict[Case, Measured]:
    """Make, verify and measure the releases; progress goes from `begin` to `end`."""
    work = {case: subjects[case.subject].rows * WORK.get(case.method, 1) for case in wanted}
    total, done = sum(work.values()), 0
    found = {}
    for case in wanted:
        share = begin + (end - begin) * done / total
        progress(case.words, share)
        subject = subjects[case.subject]
        release = anonymize(
            subject.table, plan(subject, case), progress=_same(progress, case.words, share)
        )
        graph = {name: release.attacks.get(name) or {} for name in ("graph", "matching")}
        found[case] = Measured(release.losses[case.loss], graph)
        done += work[case]
    return found


def _same(progress: Progress, words: str, share: float) -> Progress:
    """Report the steps within one release, so that the user sees progress and can stop it."""

    def report(step: str, _: float) -> None:
        progress(f"{words} ({step})", share)

    return report


def curve(results: Results, wanted: Case) -> list[tuple[int, float]]:
    """The losses of a case at every k that was run, whatever its own k."""
    return sorted(
        (case.k, measured.lost)
        for case, measured in results.items()
        if case._replace(k=wanted.k) == wanted
    )
