"""Figures 14 and 15, Mauger 2023: our ranks and means against the printed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shoal.papers._compare import mean_difference, rank_correlation
from shoal.papers.mauger2023 import paper
from shoal.papers.mauger2023.paper import MEASURES, STRATEGIES, Measure
from shoal.papers.mauger2023.simulated import INSTEAD, Found, settings
from shoal.papers.mauger2023.strategies import Areas


def places(values: Mapping[str, float], highest: bool) -> dict[str, range]:
    """The ranks that each strategy may have: more than one where several are alike.

    >>> places({"S1": 5.0, "S2": 7.0, "S3": 5.0}, highest=False)
    {'S1': range(1, 3), 'S2': range(3, 4), 'S3': range(1, 3)}
    """
    sign = -1.0 if highest else 1.0
    rounded = {name: round(sign * value, 6) for name, value in values.items()}
    return {
        name: range(
            1 + sum(other < value for other in rounded.values()),
            1 + sum(other <= value for other in rounded.values()),
        )
        for name, value in rounded.items()
    }


class Agreement(NamedTuple):
    """How many ranks agree, of how many that can be read, and how many would by chance."""

    same: int
    comparable: int
    chance: float


def agreement(
    found: Found, guide: str, measure: Measure, names: Sequence[str] = STRATEGIES
) -> Agreement:
    """Compare our ranks on Adult with the paper's; one of several shared places will do."""
    theirs = paper.ranks(guide, measure)
    same, comparable, chance = 0, 0, 0.0
    for j, setting in enumerate(settings()):
        if setting not in found:
            continue
        ours = places(by_strategy(found[setting], measure), measure == "diversity")
        for strategy in names:
            rank = theirs[strategy][j]
            if rank is not None:
                comparable += 1
                same += rank in ours[strategy]
                chance += len(ours[strategy]) / len(STRATEGIES)
    return Agreement(same, comparable, chance)


def rank_agreement(found: Found, guide: str, measures: Sequence[Measure] = MEASURES) -> float:
    """The mean rank correlation with the paper, over columns and measures; 1: the same order.

    Only legible ranks count; a column without any order of ours counts as 0.
    """
    values = []
    for measure in measures:
        theirs = paper.ranks(guide, measure)
        sign = -1.0 if measure == "diversity" else 1.0
        for j, setting in enumerate(settings()):
            if setting not in found:
                continue
            legible = [s for s in STRATEGIES if theirs[s][j] is not None]
            ours = [round(sign * found[setting][s][measure], 6) for s in legible]
            printed = [float(theirs[s][j] or 0) for s in legible]
            values.append(rank_correlation(ours, printed) or 0.0)
    return sum(values) / len(values)


def instead(found: Found) -> Found:
    """The same with t-closeness alone in the place of S5."""
    return {setting: {**areas, "S5": areas[INSTEAD]} for setting, areas in found.items()}


def by_strategy(found: Areas, measure: Measure) -> dict[str, float]:
    """One measure of every strategy."""
    return {strategy: found[strategy][measure] for strategy in STRATEGIES}


def mean(found: Found, strategy: str, measure: Measure) -> float:
    """The mean NAUC over the columns, as in the last column of the figures."""
    return sum(areas[strategy][measure] for areas in found.values()) / len(found)


def _pairs(found: Found, guide: str, name: str, measure: Measure) -> list[tuple[float, float]]:
    printed = paper.means(guide, name, measure)
    return [
        (mean(found, strategy, measure) / (2 if measure == "closeness" else 1), theirs)
        for strategy, theirs in printed.items()
        if theirs is not None
    ]


def gap(found: Found, guide: str, measure: Measure) -> float:
    """The mean absolute difference of the means on Adult; t-closeness in half of norm 1."""
    return mean_difference(_pairs(found, guide, "Adult", measure))
