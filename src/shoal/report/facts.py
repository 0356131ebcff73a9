"""The facts of a release: all that its report tells, as plain data without any layout.

Only the published table, numbers, column names and the plan go in. What was measured on the
original are numbers; a word among them is shown only if it is published too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal import catalog, distances, frames
from shoal.columns import having
from shoal.errors import BadFile
from shoal.exposure import NOT_PUBLISHED
from shoal.histogram import Histogram
from shoal.outcome import Outcome
from shoal.published import Published, look_at
from shoal.report import asked
from shoal.report.words import SUCCESS, bound, finding, found, number, percent, promise, sentence
from shoal.values import text

WORST = 3  # classes that are shown of each sensitive column
VALUES = 7  # sensitive values that are shown of them
SIZES = 10  # steps of class sizes, if the sizes differ by less than FAR
FAR = 100
MISSING = "(missing)"


@dataclass(frozen=True)
class Promise:
    """One promise: in words, what was asked, what was reached, and whether it holds."""

    model: str
    column: str | None
    words: str
    asked: str
    reached: str
    holds: bool


@dataclass(frozen=True)
class Change:
    """Something that was measured before and after."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class AttackFact:
    """What one attack finds, in one sensitive column or in the table as a whole."""

    name: str
    about: str  # what the attack is, in a sentence
    column: str | None
    share: Change | None  # of the records that it finds, where the attack says that
    findings: list[Change]


@dataclass(frozen=True)
class SizeFact:
    """Classes of about the same number of people."""

    fewest: int
    most: int
    classes: int
    rows: int


@dataclass(frozen=True)
class ClassFact:
    """A class as it is published, and how its sensitive values are spread."""

    published: dict[str, str]
    rows: int
    distance: float  # variational distance from the table, 0 to 1
    shares: list[float]  # of the values of its SensitiveFact, in percent


@dataclass(frozen=True)
class SensitiveFact:
    """A sensitive column: its values in the whole table, and in the classes farthest from it."""

    column: str
    distinct: int
    values: list[str]
    others: int  # values that are not listed; their shares come last
    shares: list[float]  # in the whole table, in percent
    worst: list[ClassFact]


@dataclass(frozen=True)
class Facts:
    """All that a report tells."""

    made: datetime
    version: str
    sha256: str | None  # of the release as a CSV file; None: it cannot be written as text
    seed: int | None
    rows: int
    published: int
    suppressed: int
    people_before: int
    people: int
    has_persons: bool
    classes: int
    smallest: int
    average: float
    columns: list[asked.ColumnFact]
    promises: list[Promise]
    counts: list[Change]
    risks: list[Change]
    attacks: list[AttackFact]
    guide: str  # the loss that guided the algorithm
    losses: dict[str, float]  # percent, per metric
    column_losses: dict[str, float]  # percent, per column, by the guiding loss
    loss_words: dict[str, str]  # what each metric counts
    generalized_percent: float
    root_percent: float
    mean_loss: float
    sizes: list[SizeFact]
    sensitive: list[SensitiveFact]
    missing: str  # "value", "root" or "error"
    missing_words: list[str]  # words for missing values that may be shown
    missing_cells: int  # quasi-identifiers that are missing in the release
    keep_order: bool
    algorithm: str
    algorithm_words: str
    plan: asked.PlanFile
    notes: list[str]

    @property
    def holds(self) -> bool:
        """Whether every promise holds."""
        return all(promise.holds for promise in self.promises)

    @property
    def unprotected(self) -> list[str]:
        """Sensitive columns that no promise is about."""
        about = {promise.column for promise in self.promises}
        return [name for name in self.having("sensitive") if name not in about]

    def having(self, role: str) -> list[str]:
        """The columns with this role."""
        return [column.name for column in self.columns if column.role == role]


def facts(release: Outcome) -> Facts:
    """Gather what the report of a release tells."""
    plan, quality = release.plan, release.quality
    frame = frames.open_frame(release.frame)
    seen = look_at(frame, plan.columns, plan.missing_values)
    return Facts(
        made=release.made,
        version=release.version,
        sha256=sha256(frame),
        seed=release.seed,
        rows=release.rows,
        published=release.published,
        suppressed=release.suppressed,
        people_before=release.before.people,
        people=release.after.people,
        has_persons=bool(having(plan.columns, "person")),
        classes=release.classes,
        smallest=release.smallest_class,
        average=release.average_class_size,
        columns=asked.columns(plan),
        promises=_promises(release),
        counts=_counts(release),
        risks=_risks(release),
        attacks=_attacks(release, seen),
        guide=plan.loss.name,
        losses=dict(quality.losses),
        column_losses=dict(quality.columns),
        loss_words={name: kind.summary() for name, kind in catalog.losses.items()},
        generalized_percent=quality.generalized_percent,
        root_percent=quality.root_percent,
        mean_loss=quality.mean_loss,
        sizes=sizes(seen.classes.people, seen.classes.size),
        sensitive=[_sensitive(seen, one) for one in seen.classes.histograms.values()],
        missing=plan.missing,
        missing_words=asked.missing_words(plan.missing_values),
        missing_cells=int((seen.codes < 0).sum()),
        keep_order=release.keep_order,
        algorithm=plan.algorithm.name,
        algorithm_words=type(plan.algorithm).summary(),
        plan=asked.plan_file(plan),
        notes=list(release.notes),
    )


def sha256(frame: frames.Frame) -> str | None:
    """SHA-256 of all bytes of the CSV file that `release.save("….csv")` writes.

    None when some column is of a type that a text file cannot hold.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "release.csv")
        try:
            frames.write(frame, path)
        except BadFile:
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def _promises(release: Outcome) -> list[Promise]:
    return [
        Promise(
            model=check.model,
            column=check.column,
            words=promise(model),
            asked=bound(model, check.required),
            reached=number(check.reached),
            holds=check.holds,
        )
        for model, check in zip(release.plan.models, release.checks, strict=True)
    ]


def _counts(release: Outcome) -> list[Change]:
    before, after = release.before, release.after
    return [
        Change("rows", number(before.rows), number(after.rows)),
        Change("people", number(before.people), number(after.people)),
        Change("classes: different combinations of values", *_both(before.classes, after.classes)),
        Change(
            "rows in a class, on average", *_both(*(e.average_class_size for e in (before, after)))
        ),
        Change(
            "people who look like the most exposed person, that person included",
            *_both(before.smallest_class, after.smallest_class),
        ),
    ]


def _both(before: float, after: float) -> tuple[str, str]:
    return number(round(before, 1)), number(round(after, 1))


RISKS = {
    "prosecutor": "highest chance to find the row of somebody who is known to be in the table",
    "average": "the same chance, on average over all rows",
    "unique": "rows that are alone in their class: their person can be pointed at",
    "marketer": "share of rows that are matched rightly if all are matched with people at once",
    "journalist": "highest chance to find the person of a row among the population",
}


def _risks(release: Outcome) -> list[Change]:
    before, after = release.before.risks.as_dict(), release.after.risks.as_dict()
    changes = []
    for name, risk in after.items():
        was = before.get(name)
        if risk is None or was is None:
            continue
        changes.append(
            Change(RISKS.get(name, finding(name)), percent(100 * was), percent(100 * risk))
        )
    return changes


def _attacks(release: Outcome, seen: Published) -> list[AttackFact]:
    """What attacks find before and after; in any finding that is a mapping, its numbers."""
    known = {one.name: {text(value) for value in one.values} for one in seen.sensitive}
    attacks = []
    for name, after in release.after.attacks.items():
        before = release.before.attacks.get(name, {})
        about = ""
        if name in catalog.attacks:
            about = f"{sentence(catalog.attacks[name].summary())} {SUCCESS.get(name, '')}".strip()
        flat = {key: value for key, value in after.items() if not isinstance(value, dict)}
        if flat:
            attacks.append(_attack(name, about, None, before, flat, set()))
        for column, inner in after.items():
            if isinstance(inner, dict):
                was = before.get(column, {})
                attacks.append(_attack(name, about, column, was, inner, known.get(column, set())))
    return sorted(attacks, key=lambda attack: attack.column is not None)


def _attack(
    name: str,
    about: str,
    column: str | None,
    before: dict[str, Any],
    after: dict[str, Any],
    published: set[str],
) -> AttackFact:
    findings, share = [], None
    for key, value in after.items():
        was = before.get(key)
        if isinstance(value, dict | list | tuple | set):
            continue
        if isinstance(was, str) and was != value and was not in published and key != "judged_by":
            was = NOT_PUBLISHED
        change = Change(finding(key), _found(key, was), _found(key, value))
        findings.append(change)
        if key == "percent" or key.endswith("_percent"):
            share = change
    if after.get("judged_by") == "nothing":  # that nobody is found says nothing then
        share, findings = None, [one for one in findings if one.what == finding("judged_by")]
    return AttackFact(name, about, column, share, findings)


def _found(key: str, value: Any) -> str:
    return MISSING if key == "value" and value is None else found(key, value)


def sizes(people: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> list[SizeFact]:
    """Classes by their number of people, in equal steps, or growing ones if they differ much.

    >>> found = sizes(np.array([2, 3, 2]), np.array([2, 3, 2]))
    >>> [(size.fewest, size.most, size.classes, size.rows) for size in found]
    [(2, 2, 2, 4), (3, 3, 1, 3)]
    >>> [(size.fewest, size.most) for size in sizes(np.array([7, 300]), np.array([7, 300]))]
    [(7, 9), (10, 19), (20, 49), (50, 99), (100, 199), (200, 300)]
    """
    low, high = int(people.min()), int(people.max())
    if high - low < FAR:
        wide = next(step for step in (1, 2, 5, 10) if (high - low) // step < SIZES)
        starts = np.arange(low, high + 1, wide)
    else:
        steps = [step * 10**power for power in range(18) for step in (1, 2, 5)]
        starts = np.array([low, *(step for step in steps if low < step <= high)])
    place = np.searchsorted(starts, people, side="right") - 1
    classes = np.bincount(place, minlength=len(starts))
    records = np.bincount(place, rows, minlength=len(starts))
    return [
        SizeFact(int(fewest), min(int(most), high), int(number), int(held))
        for fewest, most, number, held in zip(
            starts, np.append(starts[1:] - 1, high), classes, records, strict=True
        )
    ]


def _sensitive(seen: Published, histogram: Histogram) -> SensitiveFact:
    """The classes whose values are farthest from the table's, and in which values that shows."""
    distance = distances.equal(histogram)  # float64[classes]
    order = np.lexsort((-histogram.size, -np.round(distance, 9)))[:WORST]
    overall = histogram.overall
    shares = np.zeros((len(order), len(overall)))  # float64[worst, values]
    for i, one in enumerate(order):
        pairs = slice(histogram.start[one], histogram.start[one + 1])
        shares[i, histogram.value[pairs]] = histogram.share[pairs]
    change = np.abs(shares - overall).max(axis=0)
    held = np.flatnonzero(histogram.total)
    telling = held[np.argsort(-change[held], kind="stable")][:VALUES]
    telling = telling[np.argsort(-overall[telling], kind="stable")]
    others = len(held) - len(telling)

    def listed(share: npt.NDArray[np.float64]) -> list[float]:
        some = [100 * float(share[value]) for value in telling]
        return [*some, max(0.0, 100 - sum(some))] if others else some

    values = histogram.column.values
    return SensitiveFact(
        column=histogram.column.name,
        distinct=len(held),
        values=[MISSING if values[v] is None else text(values[v]) for v in telling],
        others=others,
        shares=listed(overall),
        worst=[
            ClassFact(
                published=_published(seen, int(seen.classes.first[one])),
                rows=int(histogram.size[one]),
                distance=float(distance[one]),
                shares=listed(share),
            )
            for one, share in zip(order, shares, strict=True)
        ],
    )


def _published(seen: Published, row: int) -> dict[str, str]:
    """The quasi-identifiers of a row, as they are published."""
    return {
        name: MISSING if code < 0 else text(values[code])
        for name, values, code in zip(seen.names, seen.values, seen.codes[row], strict=True)
    }
