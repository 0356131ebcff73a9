"""Figures 14 and 15 read in another way: S5 as t-closeness alone, by the merged class.

A labelled alternative, not the definition. Judging merged classes takes time that grows with the
square of the number of classes, so it is run on a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shoal.base.progress import Progress
from shoal.papers._adult import shown
from shoal.papers._compare import mean_difference
from shoal.papers._result import Row
from shoal.papers.mauger2023.figures_14_15 import FIGURES
from shoal.papers.mauger2023.paper import MEASURES, STRATEGIES
from shoal.papers.mauger2023.part import Part
from shoal.papers.mauger2023.ranks import Agreement, agreement, rank_agreement
from shoal.papers.mauger2023.real import columns, printed
from shoal.papers.mauger2023.simulated import Found, Setting, settings, simulated
from shoal.papers.mauger2023.strategies import (
    BY_CLASS,
    DEFINED,
    GUIDES,
    Areas,
    Reading,
    Real,
    area,
    curves,
    guided_by,
    most_diverse,
    with_columns,
)
from shoal.report.page import Cell, HtmlTable, Section, Text
from shoal.table.encode import Table

SAMPLE, QUICK_SAMPLE = 3_000, 400  # rows
LARGEST_SHARE = 3  # k goes up to a third of the sample

Source = tuple[Reading, str]  # how a strategy was run
OWN: dict[str, Source] = {strategy: (DEFINED, strategy) for strategy in STRATEGIES}
S5: dict[str, Source] = {**OWN, "S5": (BY_CLASS, "t-closeness")}
ALL: dict[str, Source] = {
    **S5,
    **{strategy: (BY_CLASS, strategy) for strategy in ("S2", "S4", "S7")},
}
ALTERNATIVES = {
    "as defined": OWN,
    "S5 = t-closeness alone, merged class judged": S5,
    "the same, and S2, S4 and S7 by the merged class": ALL,
}


class Sampled(NamedTuple):
    """By guide and alternative the results on the sample."""

    found: Mapping[tuple[str, str], Found]
    rows: int
    ks: Sequence[int]


def run(
    table: Table,
    ks: Sequence[int],
    sizes: Sequence[int],
    progress: Progress,
    begin: float,
    end: float,
) -> Sampled:
    """Run every strategy in every way that an alternative needs."""
    ks = [k for k in ks if LARGEST_SHARE * k <= table.rows]
    ways = list(dict.fromkeys(way for one in ALTERNATIVES.values() for way in one.values()))
    wanted = [(guide, setting) for guide in GUIDES for setting in settings(sizes)]
    found: dict[tuple[str, str], dict[Setting, Areas]] = {
        (guide, name): {} for guide in GUIDES for name in ALTERNATIVES
    }
    for done, (guide, setting) in enumerate(wanted):
        progress(
            f"sample by {shown(guide)}: {setting.size} values, {setting.shape}",
            begin + (end - begin) * done / len(wanted),
        )
        one = with_columns(table, [simulated(setting, table.rows)])
        most, loss = most_diverse(one), guided_by(guide)
        areas = {
            (reading, strategy): area(
                curves(one, reading.gaa(strategy, setting.name), loss, ks)[setting.name], most
            )
            for reading, strategy in ways
        }
        for name, sources in ALTERNATIVES.items():
            found[guide, name][setting] = {s: areas[sources[s]] for s in STRATEGIES}
    return Sampled(found, table.rows, ks)


def table_gaps(real: Real, sources: Mapping[str, Source]) -> list[float]:
    """How far tables 4 and 5 then are: alteration, l-diversity and t-closeness, halved."""
    pairs: list[list[tuple[float, float]]] = [[], [], [], []]
    for guide in GUIDES:
        for name in real.tables:
            areas = {
                strategy: real.areas(reading, guide, name)[other]
                for strategy, (reading, other) in sources.items()
            }
            for j, (ours, theirs) in enumerate(
                zip(columns(areas), printed(guide, name), strict=True)
            ):
                pairs[j] += zip(ours, theirs, strict=True)
    return [mean_difference(pairs[j]) for j in (0, 1, 3)]


def exact(sampled: Sampled, guide: str, name: str) -> Agreement:
    """The exact ranks over the three measures."""
    counts = [agreement(sampled.found[guide, name], guide, measure) for measure in MEASURES]
    return Agreement(
        sum(c.same for c in counts),
        sum(c.comparable for c in counts),
        sum(c.chance for c in counts),
    )


def part(sampled: Sampled, real: Real) -> Part:
    """The section on these readings."""
    rows: list[list[Cell | str]] = []
    lines: list[Row] = []
    for name, sources in ALTERNATIVES.items():
        row: list[Cell | str] = [name]
        for guide, figure in FIGURES.items():
            same = exact(sampled, guide, name)
            alike = rank_agreement(sampled.found[guide, name], guide)
            row += [
                Cell(f"{alike:.2f}", tone="strong"),
                Cell(f"{same.same} of {same.comparable}", f"by chance {same.chance:.0f}"),
            ]
            lines += [
                Row(f"figure {figure}a", None, name, "rank correlation on a sample", alike),
                Row(f"figure {figure}a", None, name, "exact ranks on a sample", same.same),
            ]
        row.append(" / ".join(f"{gap:.1f}" for gap in table_gaps(real, sources)))
        rows.append(row)
    best = {
        name: [rank_agreement(sampled.found[g, name], g) for g in GUIDES] for name in ALTERNATIVES
    }
    told = "; ".join(
        f"{name} " + " and ".join(f"{value:.2f}" for value in values)
        for name, values in best.items()
    )
    section = Section(
        "Figures 14 and 15: another reading of S5, on a sample",
        [
            Text(
                "The ranks printed for S5 are always the last by alteration and the first by "
                "l-diversity and t-closeness. As defined, S5 nearly ties with S1, which also "
                "shifts the rank of every other strategy by one. Below, S5 is read as t-closeness "
                "alone with the merged class judged, which came nearest to it in tables 4 and 5. "
                "It is an alternative, not what definition 17 says; other pages and tables keep "
                "to the definition."
            ),
            HtmlTable(
                head=[
                    "reading",
                    "rank correlation, NLLM",
                    "same ranks, NLLM",
                    "rank correlation, Total",
                    "same ranks, Total",
                    "points from tables 4 and 5",
                ],
                rows=rows,
                caption=f"Adult, a sample of {sampled.rows:,} rows, k = "
                f"{', '.join(f'{k:,}' for k in sampled.ks)}; all three measures. On the right, "
                "from the whole table: mean absolute differences in alteration, l-diversity and "
                "t-closeness (half of norm 1) under the same reading.",
                numbers=True,
                widths=(30, 14, 14, 14, 14, 14),
                files=("alternative.csv",),
            ),
        ],
    )
    return Part(
        [Text(f"Rank correlation with figures 14 and 15, NLLM and Total, on a sample: {told}.")],
        [section],
        {"alternative.csv": lines},
        {},
    )
