"""Mauger, Le Mahec, Dequen 2020: seven metrics guide the merge of Adult, figures 6 to 13."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shoal.algorithms.gaa import GAA
from shoal.base.progress import Progress
from shoal.base.version import __version__
from shoal.papers import _adult, _compare
from shoal.papers._adult import METRICS, Adult, Releases, shown
from shoal.papers._compare import SHADING, Claim, mean_difference, ranked, signed, tone
from shoal.papers._result import Result, Row
from shoal.papers.mauger2020 import impossible, variants
from shoal.papers.mauger2020.curves import CURVES, caption, draw, points
from shoal.papers.mauger2020.paper import (
    AVERAGES,
    FIGURES,
    NAMED,
    TABLES,
    conclusion,
    of_curves,
    of_tables,
    pairs,
    theirs,
)
from shoal.report.page import Block, Bullets, Cell, HtmlTable, Numbers, Page, Plot, Section, Text

# All twelve that the paper names, and nine of our own.
KS = tuple(sorted({*NAMED, 3, 5, 10, 20, 150, 200, 300, 2000, 3000}))
QUICK = (2, 10, 100, 500, 1500)
ALGORITHM = GAA(weight="size", candidates="small")  # MC and Algorithm 1 of the paper


Gap = tuple[float, int, str, str, float]  # ours minus theirs, k, guide, judge, theirs


def run(data: Path | None, quick: bool, progress: Progress) -> Result:
    """Run the experiment and compare our results with the paper's."""
    adult = _adult.load(data, quick)
    releases = adult.releases(ALGORITHM, QUICK if quick else KS, progress, 0.0, 0.6)
    tried = None if quick else variants.run(adult, releases, ALGORITHM, progress, 0.6, 0.97)
    progress("drawing", 0.97)
    result = compare(adult, releases, quick, tried)
    progress("drawing", 1.0)
    return result


def compare(
    adult: Adult,
    releases: Releases,
    quick: bool,
    tried: variants.Tried | None = None,
) -> Result:
    """Build page, tables and plots from the releases."""
    files: dict[str, Sequence[Row]] = {
        f"figure-{FIGURES[k]}.csv": cells(releases, k) for k in TABLES
    }
    files["impossible.csv"] = impossible.csv_rows()
    if tried is not None:
        files["variants.csv"] = variants.csv_rows(tried)
    plots = {}
    for curve in CURVES:
        files[f"figure-{curve.figure}.csv"] = points(releases, curve)
        plots[f"figure-{curve.figure}.svg"] = draw(releases, curve)
    about_tables, about_curves = of_tables(releases), of_curves(releases)
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
            for k in TABLES
        ),
        Section("Where we differ most", _largest(releases)),
        impossible.section(releases),
        *([] if tried is None else variants.sections(tried)),
        *(
            Section(
                f"Figure {curve.figure}: {curve.title.lower()}",
                [
                    Plot(
                        plots[f"figure-{curve.figure}.svg"],
                        caption(curve),
                        (f"figure-{curve.figure}.csv", f"figure-{curve.figure}.svg"),
                    ),
                    _compare.statements(about_curves[curve.figure]),
                ],
            )
            for curve in CURVES
        ),
        Section("The paper's conclusion", [_compare.statements([overall])]),
        Section("Why we may differ", _reasons(adult)),
    ]
    page = Page(
        title="Seven loss metrics as guides: our results and the paper's",
        about="`shoal reproduce mauger2020`",
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


def side_by_side(releases: Releases, k: int) -> HtmlTable:
    """A table of figures 6 to 8: ours, theirs, the difference, and the ranks in both."""
    paper = theirs(k)
    rows: list[list[Cell | str]] = []
    for metric in METRICS:
        rows.append(
            [
                metric,
                *ranked(
                    [releases[guide, k].losses[metric] for guide in METRICS],
                    [paper[metric, guide] for guide in METRICS],
                ),
            ]
        )
    rows.append(["average", *ranked([releases[g, k].mean for g in METRICS], AVERAGES[k])])
    gap = mean_difference(pairs(releases, k))
    return HtmlTable(
        head=["judged by ↓ guided by →", *map(shown, METRICS)],
        rows=rows,
        caption=f"Percentage of alteration. In each cell: ours with its rank in the row; below "
        f"the paper's with its rank, and ours minus theirs. {SHADING} Mean absolute difference of "
        f"the 49 cells: {gap:.2f} points.",
        numbers=True,
        files=(f"figure-{FIGURES[k]}.csv",),
    )


def _what_was_run(adult: Adult, releases: Releases, quick: bool) -> Section:
    ks = sorted({k for _, k in releases})
    ours = [k for k in ks if k not in NAMED]
    return Section(
        "What was run",
        [
            Text(
                f"The table is UCI Adult without records that have missing values: "
                f"{adult.table.num_rows:,} rows{' (a sample)' if quick else ''}, nine "
                "quasi-identifiers. The greedy algorithm merges a class that is too small with the "
                "small class that costs least by the guiding metric, each side weighted by its "
                "rows (Algorithm 1 and MC of the paper). Each run starts from the original table."
            ),
            Text(
                f"Each of the seven metrics guided it for {len(ks)} values of k: "
                f"{', '.join(f'{k:,}' for k in ks)}. The paper ran 21 and names twelve of them; "
                f"{', '.join(f'{k:,}' for k in ours)} are our choice. Each of the "
                f"{len(releases)} tables went through `shoal.anonymize`, which measures k on the "
                "table as it would be published; a violation would have stopped the run."
            ),
            Text(_adult.origin(adult)),
            Text(
                "Alteration is what was lost by a metric, in percent of what would be lost if "
                "every value were generalized to the root. A modified value differs from the "
                "original; a deleted value is at the root of its hierarchy."
            ),
        ],
    )


def _largest(releases: Releases) -> list[Block]:
    gaps = [
        (releases[guide, k].losses[metric] - other, k, guide, metric, other)
        for k in TABLES
        for (metric, guide), other in theirs(k).items()
    ]
    gaps.sort(key=lambda gap: -abs(gap[0]))
    ten: list[list[Cell | str]] = [
        [
            f"figure {FIGURES[k]}, k = {k:,}",
            shown(guide),
            metric,
            f"{other + gap:.1f}",
            f"{other:g}",
            Cell(signed(gap), tone=tone(gap)),
        ]
        for gap, k, guide, metric, other in gaps[:10]
    ]
    return [
        HtmlTable(
            head=["table", "guided by", "judged by", "ours", "paper", "difference"],
            rows=ten,
            caption="The ten cells of figures 6 to 8 in which we differ most, in points.",
            numbers=True,
        ),
        _leaning(gaps, 3, "judged by", "Ours minus theirs on average over a row of a table."),
        _leaning(
            gaps,
            2,
            "guided by",
            "Ours minus theirs on average over a column of a table. LLM and WLLM count lost values "
            "without scaling, so the two widest hierarchies, age and native-country, decide them: "
            "groups that differ from the authors' would show there most.",
        ),
    ]


def _leaning(gaps: Sequence[Gap], side: int, head: str, caption: str) -> HtmlTable:
    """The mean difference of the cells that share a metric as their judge or as their guide."""
    rows: list[list[Cell | str]] = []
    for name in METRICS:
        row: list[Cell | str] = [shown(name) if head == "guided by" else name]
        for k in TABLES:
            ours = [gap[0] for gap in gaps if gap[side] == name and gap[1] == k]
            mean = sum(ours) / len(ours)
            row.append(Cell(signed(mean), tone=tone(mean)))
        rows.append(row)
    return HtmlTable(
        head=[head, *(f"k = {k:,}" for k in TABLES)],
        rows=rows,
        caption=caption,
        numbers=True,
        widths=(25, 25, 25, 25),
    )


def _reasons(adult: Adult) -> list[Block]:
    return [
        Bullets(
            [
                "The authors' hierarchies are not published: figure 5 gives only how many values "
                "a column has and how high its tree is. All metrics are computed from the trees, "
                "so this alone moves every number.",
                "The paper picks the small class arbitrarily, the first in an order of its own; "
                "we begin with the smallest class. At k = 2 every small class has one record, so "
                "both rules pick any of them: the paper in its order, we in the order of a hash "
                "of the records' values. At larger k the rules differ. Putting merged classes at "
                'the end of the list, another way to read "the first element", was tried with '
                "changed code: 0.41, 5.54 and 7.86 points from the paper at k = 2, 100 and 1,500.",
                "When only one small class is left, there is none to merge it with. The paper "
                "does not say what happens then; we merge it with the cheapest of all classes.",
                "Figures 6 to 8 print whole numbers, so that even perfect agreement would show "
                "a mean difference of about 0.25 points.",
                "Figures 9 to 13 are missing from our text of the paper; there we can only test "
                "what the text says about them. Some ranks in its tables are misread, so ranks "
                "are computed from the percentages. For NLLM judged by distortion at k = 100 the "
                "text says 24 where the table has 27; we took the table.",
                "Some cells of figure 8 cannot be, whatever the trees and the table: see above.",
                "What counts as agreement with a statement is our choice: the paper gives no "
                "tolerances, and ours were set with first results already known.",
                "The remark that the curves are chaotic above k = 10,000 is not tested: "
                "it says nothing that a number could contradict.",
            ]
        ),
        _adult.shapes(adult),
    ]


def _summary(
    adult: Adult, releases: Releases, claims: Sequence[Claim], overall: Claim
) -> list[Block]:
    gaps = {k: mean_difference(pairs(releases, k)) for k in TABLES}
    every = [pair for k in TABLES for pair in pairs(releases, k)]
    far, k, guide, metric = max(
        (abs(releases[guide, k].losses[metric] - other), k, guide, metric)
        for k in TABLES
        for (metric, guide), other in theirs(k).items()
    )
    count = _compare.verdicts(claims)
    settled = len(claims) - count["not run"]
    best = {"agrees": "So it is here", "differs": "Here it is not"}
    growing = "The differences grow with k. " if gaps[2] < gaps[100] < gaps[1500] else ""
    return [
        Text(
            f"We anonymized {adult.table.num_rows:,} rows of Adult {len(releases)} times, as the "
            f"paper did, and checked each table before we measured it. {growing}We could not "
            "reproduce the authors' hierarchies or the order in which they took "
            "classes; neither is published."
        ),
        Numbers(
            [
                *(
                    (f"{gaps[k]:.2f}", f"points from the paper on average at k = {k:,}")
                    for k in TABLES
                ),
                (f"{mean_difference(every):.2f}", f"points over all {len(every)} cells"),
                (
                    f"{count['agrees']} of {settled}",
                    f"statements hold; {count['in part']} in part, {count['differs']} not",
                ),
            ]
        ),
        Text(
            f"The largest difference is {far:.1f} points: guided by {shown(guide)}, judged by "
            f"{metric}, k = {k:,}. The paper concludes that NLLM is the best guide overall. "
            f"{best.get(overall.verdict, 'That was not run')}: {overall.found}."
        ),
    ]
