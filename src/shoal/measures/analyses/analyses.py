"""Analyses: statistics of a release compared with its original, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from shoal.base.progress import Progress, silent
from shoal.measures.analyses.contingency import AssociationFact, association_facts
from shoal.measures.analyses.estimates import (
    LEVEL,
    Compared,
    CorrelationFact,
    NumberFact,
    correlation_facts,
    number_facts,
)
from shoal.measures.analyses.information_kept import KeptFact, kept_facts
from shoal.measures.analyses.variables import Tables, Variables, forms_of, variables
from shoal.measures.analyses.weighted import WeightedAnalyses, weighted_analyses

MOST_PAIRS = 66  # of columns, per kind of statistic

INTERVALS = {
    "level": LEVEL,
    "mean": "analytic: normal approximation",
    "variance": "analytic: delta method, on a logarithmic scale",
    "correlation": "analytic: delta method, on Fisher's scale",
    "association": "bootstrap: 200 resamples of the contingency table, fixed random seed",
}


@dataclass(frozen=True)
class Analyses:
    """Statistics from the original and from the release."""

    numbers: tuple[NumberFact, ...]
    correlations: tuple[CorrelationFact, ...]
    associations: tuple[AssociationFact, ...]
    kept: tuple[KeptFact, ...]  # one per quasi-identifier
    left_out: int  # pairs of columns that were not compared, as there are too many
    weighted: WeightedAnalyses | None = None  # in people of the population; None: no weights

    @property
    def compared(self) -> list[Compared]:
        """All estimates."""
        return [
            *(one.mean for one in self.numbers),
            *(one.variance for one in self.numbers),
            *(one.correlation for one in self.correlations),
            *(one.association for one in self.associations),
        ]

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {
            "intervals": dict(INTERVALS),
            "numbers": {one.column: one.as_dict() for one in self.numbers},
            "correlations": [one.as_dict() for one in self.correlations],
            "associations": [one.as_dict() for one in self.associations],
            "pairs_left_out": self.left_out,
            "information_kept": {one.column: one.as_dict() for one in self.kept},
            "weighted_analyses": None if self.weighted is None else self.weighted.as_dict(),
        }


def analyze(tables: Tables, progress: Progress = silent) -> Analyses:
    """Compare statistics of a release with those of its original."""
    progress("analyzing", 0.0)
    forms = forms_of(tables)
    before, after = variables(tables, forms)
    progress("analyzing", 0.2)
    numbers = number_facts(before, after)
    numeric, left = _pairs(before, "numbers")
    both = [
        all(one.numbers is not None and one.numbers.computable for one in pair)
        for pair in zip(before.columns, after.columns, strict=True)
    ]
    numeric = [(i, j) for i, j in numeric if both[i] and both[j]]
    correlations = []
    for done, pair in enumerate(numeric):
        progress("analyzing", 0.3 + 0.2 * done / len(numeric))
        correlations += correlation_facts(before, after, [pair])
    categorical, more = _pairs(before, "categories")
    associations = []
    for done, pair in enumerate(categorical):
        progress("analyzing", 0.5 + 0.4 * done / len(categorical))
        associations += association_facts(before, after, [pair])
    progress("analyzing", 0.9)
    kept = kept_facts(tables, forms.quasi)
    weighted = weighted_analyses(tables, forms, categorical)
    progress("analyzing", 1.0)
    return Analyses(
        tuple(numbers),
        tuple(correlations),
        tuple(associations),
        tuple(kept),
        left + more,
        weighted,
    )


def _pairs(table: Variables, kind: str) -> tuple[list[tuple[int, int]], int]:
    """Pairs of columns of a kind, one of which at least is generalized, and how many are left out.

    Pairs with a sensitive column come first.
    """
    columns = table.columns
    have = [i for i, one in enumerate(columns) if getattr(one, kind) is not None]
    roles = [one.role for one in columns]
    pairs = [
        (i, j)
        for at, i in enumerate(have)
        for j in have[at + 1 :]
        if "quasi" in (roles[i], roles[j])
    ]
    pairs.sort(key=lambda pair: "sensitive" not in (roles[pair[0]], roles[pair[1]]))
    return pairs[:MOST_PAIRS], max(0, len(pairs) - MOST_PAIRS)
