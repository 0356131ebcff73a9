"""The cells of figures 6 to 8, Mauger 2020, that cannot be: what the page says about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.papers._adult import METRICS, Releases, shown
from shoal.papers._compare import mean_difference
from shoal.papers._result import Row
from shoal.papers.mauger2020.paper import AVERAGES, FIGURES, TABLES, pairs, theirs
from shoal.papers.mauger2020.possible import LEAVES, Impossible, contradictions
from shoal.report.page import Block, Cell, HtmlTable, Section, Text


def section(releases: Releases) -> Section:
    """The columns that contradict figure 5, and what leaving their cells out would change."""
    by_all, by_leaves = contradictions(), contradictions(LEAVES)
    rows: list[list[Cell | str]] = []
    for (k, guide), cells in by_all.items():
        for cell in cells:
            alone = [one for one in by_leaves.get((k, guide), []) if one.metric == cell.metric]
            other = "–" if cell.metric not in LEAVES else "possible"
            if len(alone) == 1:
                other = f"{alone[0].low:.1f} to {alone[0].high:.1f}"
            rows.append(
                [
                    f"figure {FIGURES[k]}, k = {k:,}",
                    shown(guide),
                    cell.metric,
                    f"{cell.printed:g}",
                    f"{cell.low:.1f} to {cell.high:.1f}",
                    other,
                    f"{releases[guide, k].losses[cell.metric]:.1f}",
                ]
            )
    wrong = {(k, guide, guide) for k, guide in by_all}
    kept = [
        (releases[guide, 1500].losses[metric], percent)
        for (metric, guide), percent in theirs(1500).items()
        if (1500, guide, metric) not in wrong
    ]
    several = [shown(guide) for (_, guide), cells in by_all.items() if len(cells) > 1]
    columns = len(TABLES) * len(METRICS)
    blocks: list[Block] = [
        Text(
            "Each of the seven metrics is a weighted mean over the columns of the table, and the "
            "weights follow from the numbers of values and heights of figure 5. Five of them count "
            "leaves: what a column loses by one of these, it loses by all. Distortion and total "
            "count levels: a value at the root has lost all leaves, a value at level 0 none. So "
            "the percentages of one release satisfy linear constraints, whatever the table, the "
            "groups in the trees and the algorithm, and a linear program shows which percentages "
            "can go together. Printed whole numbers may be rounded by up to half a point."
        ),
        Text(
            f"Of the {columns} columns of figures 6 to 8, {len(by_all)} cannot be, all of them at "
            f"k = {', '.join(f'{k:,}' for k in sorted({k for k, _ in by_all}))}; every other one "
            "is possible. Below are the cells without which the rest of their column is possible, "
            "and what the rest would allow for them. "
            + (
                f"Under {' and '.join(several)} one of several cells must be wrong, and which one "
                "cannot be said; all others are on the diagonal, where the metric judges itself. "
                if several
                else ""
            )
            + _averages(by_all)
            + "Levels are the longest path down to a leaf, as in section 3. The last but one "
            "column uses only the metrics that count leaves, so that it holds for any reading "
            "of levels; distortion and total are not among them."
        ),
        HtmlTable(
            head=[
                "table",
                "guided by",
                "judged by",
                "paper",
                "possible",
                "possible by leaves alone",
                "ours",
            ],
            rows=rows,
            caption="Cells of the paper that contradict the rest of their column, in percent. "
            f"Without the {len(wrong)} on the diagonal, our mean absolute difference at k = 1,500 "
            f"is {mean_difference(kept):.2f} points instead of "
            f"{mean_difference(pairs(releases, 1500)):.2f}. Ours may lie outside what is possible "
            "with the rest of the paper's column, as the rest of our column is another.",
            numbers=True,
            files=("impossible.csv",),
        ),
    ]
    return Section("Cells of the paper that cannot be", blocks)


def _averages(found: Mapping[tuple[int, str], Sequence[Impossible]]) -> str:
    """Whether the paper's own averages were taken of the cells as they are printed."""
    told = []
    for k, guide in found:
        column = [theirs(k)[metric, guide] for metric in METRICS]
        average = AVERAGES[k][METRICS.index(guide)]
        if round(sum(column) / len(column)) != average:
            return ""
        told.append(f"{shown(guide)} {average}")
    return (
        f"These columns are not misread: the averages that the paper prints below them "
        f"({', '.join(told)}) are the means of the printed cells. "
    )


def csv_rows() -> list[Row]:
    """The span that the rest of a column allows for each of these cells."""
    return [
        Row(
            f"figure {FIGURES[cell.k]}",
            cell.k,
            cell.guide,
            f"{cell.metric}, {end}",
            value,
            cell.printed,
        )
        for cells in contradictions().values()
        for cell in cells
        for end, value in (("lowest possible", cell.low), ("highest possible", cell.high))
    ]
