"""Learning: models trained on the release and tested on originals that were held back.

A part of the original is held back. A model is trained on the other records as they are published,
another one on the same records as they were, and both predict the target of the records held back,
as these were. Guessing always answers with the most frequent value. All records of a person are on
the same side.

If the recoding is at hand, the published version of each record is known. From files alone it is
not, because the records of a release are shuffled. Then each record held back takes one published
record that could be its own (it covers the quasi-identifiers and has the same unchanged values) out
of the training data. That may be the record of another person who looks the same there: `paired` is
False, and a model may have seen some of the records that it is tested on.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.errors import BadPlan, BadTable, did_you_mean, preview
from shoal.base.progress import Progress, silent
from shoal.measures.analyses.estimates import Z
from shoal.measures.analyses.features import Encoder
from shoal.measures.analyses.held_back import (
    SEED,
    as_original,
    as_published,
    released_without,
    split,
)
from shoal.measures.analyses.variables import Forms, Tables, UnchangedColumn, forms_of
from shoal.table.roles import Column

BINS = 10  # ranges of probability in which a model is compared with how often it is right
CLASSES = 8  # values of the target; the rarer ones are one value
METHODS = ("logistic regression", "gradient boosting")


@dataclass(frozen=True)
class Score:
    """How well a model predicts."""

    accuracy: float  # share of correct predictions
    brier: float  # squared error of the probabilities, summed over the values: 0 to 2 (Brier 1950)
    # How far the probability of the answer is from the share of correct answers, on average over
    # ranges of that probability: the expected calibration error (Naeini et al. 2015), 0 to 1.
    calibration: float

    def as_dict(self) -> dict[str, float]:
        """The numbers by the names of the JSON file."""
        return {"accuracy": self.accuracy, "brier": self.brier, "calibration": self.calibration}


@dataclass(frozen=True)
class Learned:
    """A method, trained on the original and on the release."""

    method: str
    original: Score
    release: Score

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {"original": self.original.as_dict(), "release": self.release.as_dict()}


@dataclass(frozen=True)
class Learning:
    """What models learn about a column from the release, compared with the original."""

    target: str
    values: int  # that are predicted
    merged: int  # rarer values that count as one of them; 0: none
    by_median: bool  # whether the values are: above the median of the original, or not
    rows: int  # records of the original
    trained: int  # records that models are trained on, of the original
    trained_release: int  # and of the release: without suppressed ones
    tested: int
    paired: bool  # whether it is known which record became which
    guessing: Score
    methods: tuple[Learned, ...]

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval of an accuracy, at most."""
        return Z * 0.5 / sqrt(self.tested)

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {
            "target": self.target,
            "values": self.values,
            "merged_values": self.merged,
            "by_median": self.by_median,
            "rows": self.rows,
            "trained": self.trained,
            "trained_release": self.trained_release,
            "tested": self.tested,
            "margin": self.margin,
            "paired": self.paired,
            "guessing": self.guessing.as_dict(),
            "methods": {one.method: one.as_dict() for one in self.methods},
        }


def predicted(one: Learning) -> str:
    """What is predicted, in words."""
    if one.by_median:
        return f"whether {one.target} is above its median"
    if one.merged:
        most = one.values - 1
        return f"{one.target} (its {most} most frequent values, {one.merged} others as one)"
    return one.target


def learned_as_dict(learned: Iterable[Learning]) -> dict[str, Any]:
    """What was learned, by the names of the JSON file and by the columns that are predicted."""
    return {"learning": {one.target: one.as_dict() for one in learned}}


class _Goal(NamedTuple):
    """What is predicted."""

    column: UnchangedColumn
    answer: Ints  # int32[values of the column], 0 and up; -1: missing
    values: int
    merged: int
    by_median: bool


def learn(tables: Tables, target: str, progress: Progress = silent) -> Learning:
    """Train models on the release and on the original, and test them on originals held back."""
    _check_target(tables, target)
    progress("learning", 0.0)
    every = forms_of(tables)
    goal = _goal(every, target)
    truth = goal.answer[goal.column.before]  # int32[n]
    forms = Forms(every.quasi, [one for one in every.unchanged if one.form.name != target])
    chosen = split(tables.original, (truth >= 0).astype(np.int64))
    if tables.recoding is None:
        release, rows = released_without(tables, forms, every.unchanged, chosen)
        answers = goal.answer[goal.column.after[rows]]
    else:
        release, rows = as_published(tables, forms, chosen.trained)
        answers = truth[rows]
    original = as_original(tables, forms, chosen.trained)
    test, right = as_original(tables, forms, chosen.tested), truth[chosen.tested]
    mine = truth[chosen.trained]
    methods = []
    for number, method in enumerate(METHODS):
        both = []
        for at, (records, known) in enumerate(((original, mine), (release, answers))):
            progress("learning", (2 * number + at + 1) / (2 * len(METHODS) + 1))
            encoder = Encoder.of(forms, records)
            there = known >= 0
            points = encoder.matrix(records)[there]
            chance = _predict(method, points, known[there], encoder.matrix(test), goal.values)
            both.append(_score(chance, right))
        methods.append(Learned(method, *both))
    progress("learning", 1.0)
    share = np.bincount(mine, minlength=goal.values) / len(mine)
    return Learning(
        target=target,
        values=goal.values,
        merged=goal.merged,
        by_median=goal.by_median,
        rows=tables.original.rows,
        trained=len(mine),
        trained_release=int((answers >= 0).sum()),
        tested=len(right),
        paired=tables.recoding is not None,
        guessing=_score(np.tile(share, (len(right), 1)), right),
        methods=tuple(methods),
    )


def check_role(columns: Mapping[str, Column], target: str) -> None:
    """Raise an error unless a column is published unchanged, so that it can be predicted."""
    if target not in columns:
        raise BadPlan(f"no column {target!r} to predict{did_you_mean(target, columns)}")
    able = [name for name, column in columns.items() if column.role in ("sensitive", "other")]
    if target not in able:
        why = "is not published"
        if columns[target].role == "quasi":
            why = "is a quasi-identifier, which is generalized"
        choice = f"; choose one of {preview(able)}" if able else ""
        raise BadPlan(f"models cannot predict column {target!r}: it {why}{choice}")


def check_learnable(tables: Tables, target: str) -> None:
    """Raise an error if models cannot predict a column of these tables."""
    _check_target(tables, target)
    _goal(forms_of(tables), target)


def _check_target(tables: Tables, target: str) -> None:
    """Raise an error unless both tables have the column in memory."""
    check_role(tables.columns, target)
    check_installed()
    there = {one.name for one in tables.original.sensitive}
    there &= {one.name for one in tables.published.sensitive}
    if target not in {*there, *tables.others}:
        raise BadTable(
            f"models cannot predict column {target!r}: it is not in memory in both tables"
        )


def check_installed() -> None:
    """Raise an error if scikit-learn is not installed."""
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        raise BadPlan(
            "models are trained with scikit-learn, which is not installed: "
            "pip install 'shoal[learning]'"
        )


def _goal(forms: Forms, target: str) -> _Goal:
    """The values to predict: those of the column, the most frequent ones, or two halves."""
    (column,) = (one for one in forms.unchanged if one.form.name == target)
    often, numbers = column.form.often, column.form.numbers
    there = int(np.count_nonzero(often))
    if there < 2:
        raise BadTable(
            f"column {target!r} has a single value; there is nothing to predict: choose another "
            "target"
        )
    if numbers is not None and there > CLASSES:
        return _Goal(column, _above_median(numbers, often), 2, 0, True)
    answer = np.full(len(often) + 1, -1, np.int32)
    order = np.argsort(-often, kind="stable")
    answer[order] = np.minimum(np.arange(len(often)), CLASSES - 1)
    merged = there - CLASSES + 1 if there > CLASSES else 0
    return _Goal(column, answer, min(there, CLASSES), merged, False)


def _above_median(numbers: Floats, often: Longs) -> Ints:
    """1 for numbers above the median of the original, 0 for others; -1: missing."""
    there = np.isfinite(numbers)
    order = np.flatnonzero(there[:-1])[np.argsort(numbers[:-1][there[:-1]], kind="stable")]
    upto = np.cumsum(often[order])
    at = int(np.searchsorted(upto, upto[-1] / 2))
    median = numbers[order[at]]
    if at == len(order) - 1:  # half of the records have the largest number
        median = numbers[order[at - 1]]
    return np.where(there, numbers > median, -1).astype(np.int32)


def _predict(method: str, points: Floats, known: Ints, test: Floats, values: int) -> Floats:
    """The probability of each value for each tested record, float64[tested, values]."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    chance = np.zeros((len(test), values))
    there = np.unique(known)
    if len(there) < 2:
        chance[:, there] = 1.0
        return chance
    model: Any = LogisticRegression(max_iter=200)
    if method == "gradient boosting":
        model = HistGradientBoostingClassifier(max_iter=50, early_stopping=False, random_state=SEED)
    # One thread: several wait for each other actively, which takes minutes on a busy machine.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that is not complete is good enough to compare
        model.fit(points, known)
        chance[:, there] = model.predict_proba(test)
    return chance


def _score(chance: Floats, right: Ints) -> Score:
    """Compare probabilities with the truth."""
    truth = np.zeros_like(chance)
    truth[np.arange(len(right)), right] = 1.0
    return Score(
        accuracy=float((chance.argmax(axis=1) == right).mean()),
        brier=float(((chance - truth) ** 2).sum(axis=1).mean()),
        calibration=_calibration(chance.max(axis=1), chance.argmax(axis=1) == right),
    )


def _calibration(sure: Floats, correct: Bools) -> float:
    """The expected calibration error; `sure` is the probability of each answer."""
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    gap = np.bincount(place, sure - correct, BINS)  # per range, the sum of the differences
    return float(np.abs(gap).sum() / len(sure))
