"""Figures 9 to 13 of Mauger 2020: curves over k."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from shoal.papers._adult import METRICS, Releases, shown
from shoal.papers._compare import DELETED, MEAN, MINIMUM, MODIFIED, PART, Measure
from shoal.papers._result import Row
from shoal.papers.mauger2020.paper import AVERAGES, MINIMA
from shoal.report.plots import Series, lines


class Curve(NamedTuple):
    """A figure that the paper shows as curves over k."""

    figure: int
    title: str
    metric: str  # what the CSV file calls it
    measure: Measure


CURVES = (
    Curve(9, "Smallest class", "minimum k", MINIMUM),
    Curve(10, "Average alteration", "average alteration", MEAN),
    Curve(11, "Modified values", "modified values", MODIFIED),
    Curve(12, "Deleted values of all values", "deleted values", DELETED),
    Curve(13, "Deleted values among the modified", "deleted of modified values", PART),
)
LABELS = {  # of the axes
    9: "rows of the smallest class",
    10: "average percentage of alteration",
    11: "modified values, % of all values",
    12: "deleted values, % of all values",
    13: "deleted values, % of modified values",
}


def points(releases: Releases, curve: Curve) -> list[Row]:
    """The points of a curve, with the few that the paper gives as numbers."""
    known = stated(curve)
    return [
        Row(
            f"figure {curve.figure}",
            k,
            guide,
            curve.metric,
            curve.measure(release),
            known.get((guide, k)),
        )
        for (guide, k), release in releases.items()
    ]


def stated(curve: Curve) -> Mapping[tuple[str, int], float]:
    """The numbers that the paper gives for a curve, by guide and k."""
    if curve.figure == 9:
        return MINIMA
    if curve.figure == 10:
        return {
            (guide, k): average
            for k, averages in AVERAGES.items()
            for guide, average in zip(METRICS, averages, strict=True)
        }
    return {}


def draw(releases: Releases, curve: Curve) -> str:
    """Draw a curve for each guide."""
    ks = sorted({k for _, k in releases})
    known = stated(curve)
    counted = curve.figure == 9
    return lines(
        [
            Series(
                shown(guide),
                [(k, curve.measure(releases[guide, k])) for k in ks],
                [(k, known[guide, k]) for k in ks if (guide, k) in known],
            )
            for guide in METRICS
        ],
        "requested k",
        LABELS[curve.figure],
        log_x=True,
        top=None if counted else 100,
        reference=[(k, k) for k in ks] if counted else (),
    )


def caption(curve: Curve) -> str:
    """What is shown, and where the paper's numbers are."""
    hollow = {
        9: "Dashed: what was requested. Hollow marks: the few values that the paper's text states.",
        10: "Hollow marks: the averages of the paper's figures 6, 7 and 8.",
    }
    lost = "The paper's own curves are not in the text we have."
    return f"Ours. {hollow.get(curve.figure, lost)}"
