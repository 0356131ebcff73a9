"""Mauger, Le Mahec, Dequen 2020: seven loss metrics guide the greedy merge of Adult, 2 ≤ k ≤ 15000."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from shoal.algorithms.gaa import GAA
from shoal.progress import Progress
from shoal.quality import METRICS
from shoal.report.page import Block, Bullets, Cell, Numbers, Page, Plot, Section, Table, Text
from shoal.report.plots import Series, lines
from shoal.reproduce import _adult, _compare
from shoal.reproduce._adult import Adult, Releases, shown
from shoal.reproduce._claims2020 import conclusion, curves, tables
from shoal.reproduce._compare import Claim, Measure, by_guide, difference, mean_difference, ranks
from shoal.reproduce._result import Result, Row
from shoal.version import __version__

# The paper ran 21 values of k and names twelve of them, which are all here; the others are ours.
NAMED = (2, 50, 100, 500, 750, 1000, 1500, 4000, 5000, 7500, 10000, 15000)
KS = tuple(sorted({*NAMED, 3, 5, 10, 20, 150, 200, 300, 2000, 3000}))
QUICK = (2, 10, 100, 500, 1500)
ALGORITHM = GAA(weight="size", candidates="small")  # MC and Algorithm 1 of the paper

# Figures 6, 7, 8: a row for each metric, a column for each optimization, in the order of METRICS.
# Only the percentages: ranks follow from them.
THEIRS = {
    2: """ 2  2  3  5  2  4  2
           4  3  4  5  3  5  4
           5  5  5  7  5  6  6
           8  5  5  3  6  5  8
           3  3  3  5  2  4  3
           4  4  5  3  4  3  4
           2  3  4  5  2  4  2""",
    100: """24 34 30 56 27 47 28
            35 38 38 52 34 50 37
            35 42 39 58 37 54 39
            54 48 52 30 53 43 57
            28 33 32 57 27 53 30
            39 45 43 32 43 26 43
            28 35 33 56 28 47 30""",
    1500: """72 68 61 86 58 73 65
             67 82 67 81 63 78 70
             67 72 73 86 63 79 70
             83 86 80 59 83 65 85
             60 65 59 85 59 80 63
             79 85 75 58 80 52 82
             63 69 62 85 59 75 75""",
}
AVERAGES = {  # the last row of each table
    2: (4, 4, 4, 5, 3, 4, 4),
    100: (35, 39, 38, 49, 36, 46, 38),
    1500: (70, 75, 68, 77, 66, 72, 73),
}
FIGURES = {2: 6, 100: 7, 1500: 8}
MINIMA = {  # all that the text tells of figure 9
    ("llm", 7500): 12307,
    ("distortion", 10000): 30162,
    ("total", 10000): 30162,
    **{(guide, 15000): 30162 for guide in METRICS},
}


class Curve(NamedTuple):
    """A figure that the paper shows as curves over k."""

    figure: int
    title: str
    metric: str  # what the CSV file calls it
    measure: Measure


CURVES = (
    Curve(9, "Smallest class", "minimum k", lambda release: release.minimum),
    Curve(10, "Average alteration", "average alteration", lambda release: release.mean),
    Curve(11, "Modified values", "modified values", lambda release: release.modified),
    Curve(12, "Deleted values of all values", "deleted values", lambda release: release.deleted),
    Curve(
        13,
        "Deleted values among the modified",
        "deleted of modified values",
        lambda release: release.deleted_of_modified,
    ),
)
LABELS = {  # of the axes
    9: "rows of the smallest class",
    10: "average percentage of alteration",
    11: "modified values, % of all values",
    12: "deleted values, % of all values",
    13: "deleted values, % of modified values",
}


def theirs(k: int) -> dict[tuple[str, str], int]:
    """The paper's percentages at one k, by metric and optimization."""
    numbers = iter(map(int, THEIRS[k].split()))
    return {(metric, guide): next(numbers) for metric in METRICS for guide in METRICS}


def run(data: Path | None, quick: bool, progress: Progress) -> Result:
    """Run the experiment and put ours beside theirs."""
    adult = _adult.load(data, quick)
    releases = adult.releases(ALGORITHM, QUICK if quick else KS, progress, 0.0, 0.97)
    progress("drawing", 0.97)
    result = compare(adult, releases, quick)
    progress("drawing", 1.0)
    return result


def compare(adult: Adult, releases: Releases, quick: bool) -> Result:
    """Build page, tables and plots from the releases."""
    files: dict[str, Sequence[Row]] = {f"figure-{FIGURES[k]}.csv": cells(releases, k) for k in THEIRS}
    plots = {}
    for curve in CURVES:
        files[f"figure-{curve.figure}.csv"] = points(releases, curve)
        plots[f"figure-{curve.figure}.svg"] = draw(releases, curve)
    about_tables, about_curves = tables(releases), curves(releases)
    overall = conclusion(releases)
    claims = [
        *(claim for some in about_tables.values() for claim in some),
        *(claim for some in about_curves.values() for claim in some),
        overall,
    ]
    sections = [
        _what_was_run(adult, releases, quick),
        *(
            Section(
                f"Figure {FIGURES[k]}: k = {k:,}",
                [side_by_side(releases, k), _compare.statements(about_tables[FIGURES[k]])],
            )
            for k in THEIRS
        ),
        Section("Where we differ most", _largest(releases)),
        *(
            Section(
                f"Figure {curve.figure}: {curve.title.lower()}",
                [
                    Plot(
                        plots[f"figure-{curve.figure}.svg"],
                        _caption(curve),
                        (f"figure-{curve.figure}.csv", f"figure-{curve.figure}.svg"),
                    ),
                    _compare.statements(about_curves[curve.figure]),
                ],
            )
            for curve in CURVES
        ),
        Section("The paper's conclusion", [_compare.statements([overall])]),
        Section("Why we may differ", _reasons(adult, releases)),
    ]
    page = Page(
        title="Seven metrics as guides of k-anonymization: ours beside theirs",
        about="shoal reproduce mauger2020",
        source="C. Mauger, G. Le Mahec, G. Dequen: Modeling and Evaluation of k-anonymization "
        "Metrics. Workshop on Privacy-Preserving Artificial Intelligence at AAAI 2020.",
        warning=_adult.sample_warning(adult) if quick else "",
        summary=_summary(adult, releases, claims, overall),
        sections=sections,
        foot=f"Made by shoal {__version__}. {_adult.again('mauger2020', adult, quick)}",
    )
    return Result(page, files, plots)


def cells(releases: Releases, k: int) -> list[Row]:
    """A table of figures 6 to 8, cell by cell, with its averages."""
    paper = theirs(k)
    figure = f"figure {FIGURES[k]}"
    rows = [
        Row(figure, k, guide, metric, releases[guide, k].losses[metric], paper[metric, guide])
        for metric in METRICS
        for guide in METRICS
    ]
    for guide, average in zip(METRICS, AVERAGES[k], strict=True):
        rows.append(Row(figure, k, guide, "average", releases[guide, k].mean, average))
    return rows


def points(releases: Releases, curve: Curve) -> list[Row]:
    """The points of a curve, with the few that the paper gives in figures."""
    known = stated(curve)
    return [
        Row(f"figure {curve.figure}", k, guide, curve.metric, curve.measure(release), known.get((guide, k)))
        for (guide, k), release in releases.items()
    ]  # fmt: skip


def stated(curve: Curve) -> Mapping[tuple[str, int], float]:
    """What the paper says in figures of a curve, by guide and k."""
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
        log_y=counted,
        top=None if counted else 100,
        reference=[(ks[0], ks[0]), (ks[-1], ks[-1])] if counted else (),
    )


def _caption(curve: Curve) -> str:
    hollow = {
        9: "Dashed: what was requested. Hollow marks: the few values that the paper's text tells.",
        10: "Hollow marks: the averages of the paper's figures 6, 7 and 8.",
    }
    lost = "The paper's own curves are not in the text we have."
    return f"Ours. {hollow.get(curve.figure, lost)}"


def side_by_side(releases: Releases, k: int) -> Table:
    """A table of figures 6 to 8: ours, theirs, the difference, and the ranks in both."""
    paper = theirs(k)
    rows: list[list[Cell | str]] = []
    for metric in METRICS:
        rows.append(
            [
                metric,
                *_ranked(
                    [releases[guide, k].losses[metric] for guide in METRICS],
                    [paper[metric, guide] for guide in METRICS],
                ),
            ]
        )
    rows.append(["average", *_ranked([releases[g, k].mean for g in METRICS], AVERAGES[k])])
    gap = mean_difference(pairs(releases, k))
    return Table(
        head=["judged by ↓ guided by →", *map(shown, METRICS)],
        rows=rows,
        caption=f"Percentage of alteration. In each cell: ours with its rank in the row; below "
        f"the paper's with its rank, and ours minus theirs. Shaded from {_compare.NEAR:g} point, "
        f"darker from {_compare.FAR:g} points on. Mean absolute difference of the 49 cells: "
        f"{gap:.2f} points.",
        numbers=True,
        files=(f"figure-{FIGURES[k]}.csv",),
    )


def _ranked(ours: Sequence[float], paper: Sequence[float]) -> list[Cell]:
    row = []
    our_ranks = ranks([round(value, 1) for value in ours])
    for value, rank, other, other_rank in zip(ours, our_ranks, paper, ranks(paper), strict=True):
        cell = difference(value, other)
        row.append(
            Cell(
                f"{value:.1f} ({rank})",
                f"{other:g} ({other_rank}) · {value - other:+.1f}",
                cell.tone,
            )
        )
    return row


def pairs(releases: Releases, k: int) -> list[tuple[float, float]]:
    """Ours and theirs in the 49 cells of one table."""
    return [
        (releases[guide, k].losses[metric], other) for (metric, guide), other in theirs(k).items()
    ]
