"""Our results against the paper's: differences, ranks, areas under curves, tested statements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from operator import attrgetter
from statistics import correlation
from typing import Literal

from shoal.papers._adult import METRICS, Release, Releases, shown
from shoal.report.page import Cell, HtmlTable, Tone

Verdict = Literal["agrees", "in part", "differs", "not run"]
VERDICTS: dict[Verdict, Cell] = {
    "agrees": Cell("✓ agrees", tone="good"),
    "in part": Cell("~ in part", tone="mixed"),
    "differs": Cell("✗ differs", tone="bad"),
    "not run": Cell("– not run", tone="unknown"),
}
NEAR, FAR = 1.0, 5.0  # percentage points from which a difference is worth a colour


def ranks(values: Sequence[float]) -> list[int]:
    """The rank of each value, the smallest first; equal ones share a rank.

    >>> ranks([2, 3, 2, 5])
    [1, 3, 1, 4]
    """
    return [1 + sum(other < value for other in values) for value in values]


def mean_difference(pairs: Collection[tuple[float, float]]) -> float:
    """The mean absolute difference of pairs.

    >>> mean_difference([(1, 3), (5, 4)])
    1.5
    """
    return sum(abs(a - b) for a, b in pairs) / len(pairs)


def same_order(ours: Sequence[float], theirs: Sequence[float]) -> tuple[int, int]:
    """How many pairs have the same order in both, and how many pairs have an order in theirs.

    >>> same_order([1, 2, 3], [10, 30, 20])
    (2, 3)
    """
    compared = [(a, b) for a, b in combinations(range(len(theirs)), 2) if theirs[a] != theirs[b]]
    alike = sum((ours[a] < ours[b]) == (theirs[a] < theirs[b]) for a, b in compared)
    return alike, len(compared)


def rank_correlation(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Spearman's rank correlation; equal values share the mean of their ranks.

    None if one side has no order at all.

    >>> rank_correlation([1, 2, 3], [10, 30, 20])
    0.5
    >>> rank_correlation([2, 2, 2], [1, 2, 3]) is None
    True
    """
    a, b = _mean_ranks(ours), _mean_ranks(theirs)
    if len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return round(correlation(a, b), 12)


def _mean_ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share the mean of theirs."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


def nauc(points: Iterable[tuple[float, float]], low: float, high: float) -> float:
    """The mean height of the curve between two ends (Sec. 3.3.1, Mauger 2023).

    The curve joins the points by straight lines.

    >>> nauc([(0, 0), (10, 10)], 2, 4)
    3.0
    """
    curve = sorted(points)
    if not curve[0][0] <= low < high <= curve[-1][0]:
        raise ValueError(f"the curve does not reach from {low:g} to {high:g}")
    area = 0.0
    for (x0, y0), (x1, y1) in pairwise(curve):
        a, b = max(x0, low), min(x1, high)
        if a < b:
            middle = ((a + b) / 2 - x0) / (x1 - x0)
            area += (b - a) * (y0 + (y1 - y0) * middle)
    return area / (high - low)


def signed(gap: float) -> str:
    """A difference with its sign.

    >>> signed(-1.25), signed(0.5), signed(-0.01)
    ('−1.2', '+0.5', '0.0')
    """
    return "0.0" if abs(gap) < 0.05 else f"{gap:+.1f}".replace("-", "−")


def tone(gap: float) -> Tone:
    """How strongly a difference in percentage points is shaded."""
    return "far" if abs(gap) >= FAR else "off" if abs(gap) >= NEAR else ""


def ranked(ours: Sequence[float], theirs: Sequence[float], *, highest: bool = False) -> list[Cell]:
    """Cells with ours above theirs and the difference; ranks in brackets, the best first."""
    sign = -1 if highest else 1
    our_ranks = ranks([sign * round(value, 1) for value in ours])  # as they are shown
    their_ranks = ranks([sign * value for value in theirs])
    return [
        Cell(
            f"{value:.1f} ({rank})",
            f"{other:g} ({other_rank}) · {signed(value - other)}",
            tone(value - other),
        )
        for value, rank, other, other_rank in zip(ours, our_ranks, theirs, their_ranks, strict=True)
    ]


SHADING = (
    f"Differences of {NEAR:g} point or more are shaded, those of {FAR:g} points or more darker."
)


@dataclass(frozen=True)
class Claim:
    """What the paper says, what would count as agreeing, and what we found."""

    says: str
    meant: str
    held: Sequence[bool]  # one per case; empty: nothing was run that could show it
    found: str = ""

    @property
    def verdict(self) -> Verdict:
        """All cases, at least half of them, or fewer."""
        if not self.held:
            return "not run"
        if all(self.held):
            return "agrees"
        return "in part" if 2 * sum(self.held) >= len(self.held) else "differs"


def listed(guides: Sequence[str]) -> str:
    """Guides in a sentence.

    >>> listed(["ncp", "nllm", "total"])
    'NCP, NLLM and Total'
    """
    names = [shown(guide) for guide in guides]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def statements(claims: Sequence[Claim]) -> HtmlTable:
    """The statements and whether our results agree."""
    return HtmlTable(
        head=["the paper says", "we count it as agreement if", "ours", ""],
        rows=[
            [claim.says, claim.meant, claim.found or "–", VERDICTS[claim.verdict]]
            for claim in claims
        ],
        widths=(34, 26, 28, 12),
    )


def verdicts(claims: Sequence[Claim]) -> Mapping[Verdict, int]:
    """How many statements have each verdict."""
    return {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in VERDICTS}


Measure = Callable[[Release], float]
MINIMUM: Measure = attrgetter("minimum")
MEAN: Measure = attrgetter("mean")
MODIFIED: Measure = attrgetter("modified")
DELETED: Measure = attrgetter("deleted")
PART: Measure = attrgetter("deleted_of_modified")


def by_guide(releases: Releases, k: int, measure: Measure) -> dict[str, float]:
    """One number for each guide at one k."""
    return {guide: measure(releases[guide, k]) for guide in METRICS}


def lowest(values: Mapping[str, float], names: Collection[str], sign: float = 1.0) -> bool:
    """Whether none of the others is below any of these.

    >>> lowest({"a": 1, "b": 2, "c": 2}, {"a", "b"})
    True
    """
    worst = max(sign * values[name] for name in names)
    return all(sign * value >= worst - 1e-9 for name, value in values.items() if name not in names)


def highest(values: Mapping[str, float], names: Collection[str]) -> bool:
    """Whether none of the others is above any of these."""
    return lowest(values, names, -1.0)


def at_each(
    releases: Releases,
    ks: Sequence[int],
    measure: Measure,
    holds: Callable[[Mapping[str, float]], bool],
) -> tuple[list[bool], str]:
    """Whether something holds at each of these k, and in words at which it does not."""
    held = [holds(by_guide(releases, k, measure)) for k in ks]
    failing = [f"{k:,}" for k, good in zip(ks, held, strict=True) if not good]
    if not ks:
        return [], ""
    if not failing:
        return held, "at every k" if len(ks) > 1 else f"so at k = {ks[0]:,}"
    if not any(held):
        return held, "at no k" if len(ks) > 1 else f"not so at k = {ks[0]:,}"
    return held, f"at {sum(held)} of {len(ks)} k; not at {', '.join(failing)}"
