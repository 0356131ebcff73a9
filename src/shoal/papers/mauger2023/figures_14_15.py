"""Figures 14 and 15, Mauger 2023: what the page says about simulated sensitive columns."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.papers._adult import shown
from shoal.papers._compare import signed, tone
from shoal.papers._result import Row
from shoal.papers.mauger2023 import paper
from shoal.papers.mauger2023.paper import MEASURES, STRATEGIES, Measure
from shoal.papers.mauger2023.part import Part
from shoal.papers.mauger2023.ranks import (
    Agreement,
    agreement,
    by_strategy,
    gap,
    instead,
    mean,
    places,
    rank_agreement,
)
from shoal.papers.mauger2023.simulated import INSTEAD, RATE, WIDE, Everything, Found, settings
from shoal.papers.mauger2023.strategies import GUIDES, LIKE
from shoal.report.page import Block, Bullets, Cell, HtmlTable, Section, Text

FIGURES = {"nllm": 14, "total": 15}
LABELS: dict[Measure, str] = {
    "alteration": "alteration",
    "diversity": "l-diversity value",
    "closeness": "t-closeness value",
}


def part(found: Everything, ks: Sequence[int], sizes: Sequence[int]) -> Part:
    """The sections on simulated columns."""
    files: dict[str, Sequence[Row]] = {}
    sections = [_how(ks, sizes)]
    for guide, figure in FIGURES.items():
        adult, voters = found["Adult", guide], found[LIKE, guide]
        names = f"figure-{figure}a-ranks.csv", f"figure-{figure}a-means.csv"
        like = f"figure-{figure}b-voter-like.csv"
        files[names[0]] = _rank_rows(adult, guide)
        files[names[1]] = _mean_rows(adult, guide, "Adult", f"figure {figure}a")
        files[like] = _mean_rows(voters, guide, "florida_30162", f"figure {figure}b, voter-like")
        sections.append(
            Section(
                f"Figure {figure}: simulated columns, guided by {shown(guide)}",
                [
                    _means_table(adult, guide, "Adult", [names[1]]),
                    _ranks_table(adult, guide, [names[0]]),
                    Text(
                        "Below the same on our table of synthetic voters. It is not florida_30162: "
                        "what the paper prints for that one is there for orientation only, and "
                        "no difference is counted."
                    ),
                    _means_table(voters, guide, "florida_30162", [like]),
                ],
            )
        )
    return Part(_summary(found), sections, files, {})


def _how(ks: Sequence[int], sizes: Sequence[int]) -> Section:
    return Section(
        "Simulated columns: what was run",
        [
            Text(
                "Section 4.3.3 adds a sensitive column of 5 to 500 possible values to a table "
                "whose own columns are all quasi-identifiers, distributed as Equivalent, "
                "Geometric or Standard Normal, and takes the NAUC from k = 3 to 5,000. The paper "
                "does not say how the columns were drawn; ours are:"
            ),
            Bullets(
                [
                    "equivalent: every value is equally likely;",
                    f"geometric: with v values the success probability is {RATE:g}/v, cut off "
                    "after v values, so that the shape is the same for every v;",
                    f"normal: from {WIDE:g} standard deviations below the mean to {WIDE:g} above, "
                    "v steps of equal width; what lies beyond goes to the first or last step.",
                ]
            ),
            Text(
                f"Here: {', '.join(map(str, sizes))} values, k = "
                f"{', '.join(f'{k:,}' for k in ks)}, one draw for each column. S1 does not use "
                "the sensitive column, so one merge serves all columns. t-closeness alone, the "
                "whole table judged, was run too, as the paper's S5 is not S5 as defined. With "
                "the merged class judged, which came nearest to it in tables 4 and 5, it takes "
                "much longer, so it was run on a sample only; see the last of these sections."
            ),
        ],
    )


def _summary(found: Everything) -> list[Block]:
    replaced = {key: instead(some) for key, some in found.items()}
    counts = [_total(found), _total(replaced), _total(replaced, ["S5"])]
    gaps = (
        f"{LABELS[m]} " + " and ".join(f"{gap(found['Adult', g], g, m):.1f}" for g in GUIDES)
        for m in MEASURES
    )
    return [
        Text(
            f"Simulated columns (figures 14 and 15, Adult): {counts[0].same} of "
            f"{counts[0].comparable} legible ranks are the same, where chance would give "
            f"{counts[0].chance:.0f}. With t-closeness alone in the place of S5 it is "
            f"{counts[1].same}, {counts[2].same} of them S5's own, chance giving "
            f"{counts[1].chance:.0f}. The rank correlation is "
            + " and ".join(f"{rank_agreement(found['Adult', g], g):.2f}" for g in GUIDES)
            + " (NLLM and Total), with t-closeness alone "
            + " and ".join(f"{rank_agreement(replaced['Adult', g], g):.2f}" for g in GUIDES)
            + f". The means differ, guided by NLLM and Total, by "
            f"{'; '.join(gaps)} points on average."
        )
    ]


def _total(found: Everything, names: Sequence[str] = STRATEGIES) -> Agreement:
    counted = [agreement(found["Adult", g], g, m, names) for g in GUIDES for m in MEASURES]
    same, comparable, chance = (sum(some) for some in zip(*counted, strict=True))
    return Agreement(int(same), int(comparable), chance)


def _means_table(found: Found, guide: str, name: str, files: Sequence[str]) -> HtmlTable:
    same_table = name == "Adult"
    rows: list[list[Cell | str]] = []
    for label, strategy, other in (
        *((strategy, strategy, strategy) for strategy in STRATEGIES),
        ("t-closeness alone, against S5", INSTEAD, "S5"),
    ):
        row: list[Cell | str] = [label]
        for measure in MEASURES:
            value = mean(found, strategy, measure) / (2 if measure == "closeness" else 1)
            theirs = paper.means(guide, name, measure)[other]
            row.append(_beside(value, theirs, same_table))
        rows.append(row)
    if same_table:
        for label, some in (
            ("mean absolute difference", found),
            ("the same with t-closeness alone for S5", instead(found)),
        ):
            rows.append(
                [label, *(Cell(f"{gap(some, guide, m):.2f}", tone="strong") for m in MEASURES)]
            )
    return HtmlTable(
        head=["strategy", *LABELS.values()],
        rows=rows,
        caption=f"{'Adult' if same_table else 'Voter-like, not the same table'}: mean NAUC over "
        f"{len(found)} simulated columns. t-closeness in half of norm 1, which comes nearer to "
        "tables 4 and 5; the CSV has both. The paper's value is below ours.",
        numbers=True,
        widths=(31, 23, 23, 23),
        files=files,
    )


def _beside(value: float, theirs: float | None, same_table: bool) -> Cell:
    if theirs is None:
        return Cell(f"{value:.2f}", "not legible")
    if same_table:
        apart = value - theirs
        return Cell(f"{value:.2f}", f"{theirs:g} · {signed(apart)}", tone(apart))
    return Cell(f"{value:.2f}", f"florida_30162: {theirs:g}")


def _ranks_table(found: Found, guide: str, files: Sequence[str]) -> HtmlTable:
    rows: list[list[Cell | str]] = []
    for measure in MEASURES:
        both = (found, instead(found))
        rows.append(
            [
                LABELS[measure],
                *(_agreement_cell(agreement(some, guide, measure)) for some in both),
                *(Cell(f"{rank_agreement(some, guide, [measure]):.2f}") for some in both),
                _first_and_last(found, measure),
            ]
        )
    return HtmlTable(
        head=[
            "rank by",
            "same rank as in the paper",
            "with t-closeness alone for S5",
            "rank correlation",
            "with t-closeness alone for S5",
            "ours, best to worst mean",
        ],
        rows=rows,
        caption="Adult, strategy by strategy and column by column. Strategies with equal results "
        "share their ranks, and any of these counts as the same rank, so that some agree by "
        "chance. Ranks that our text of the paper has lost are omitted, or inferred if the other "
        "six of a column are known. The rank correlation (Spearman's, equal results sharing their "
        "mean rank) is the mean over the columns: 1 is the same order, 0 what chance gives.",
        widths=(15, 18, 18, 11, 12, 26),
        files=files,
    )


def _agreement_cell(count: Agreement) -> Cell:
    return Cell(f"{count.same} of {count.comparable}", f"by chance {count.chance:.0f}", "strong")


def _first_and_last(found: Found, measure: Measure) -> str:
    values = {strategy: mean(found, strategy, measure) for strategy in STRATEGIES}
    order = places(values, measure == "diversity")
    groups: dict[int, list[str]] = {}
    for strategy in STRATEGIES:
        groups.setdefault(order[strategy].start, []).append(strategy)
    return ", ".join(" = ".join(groups[rank]) for rank in sorted(groups))


def _rank_rows(found: Found, guide: str) -> list[Row]:
    figure = f"figure {FIGURES[guide]}a"
    rows = []
    for j, setting in enumerate(settings()):
        if setting not in found:
            continue
        for measure in MEASURES:
            ours = places(by_strategy(found[setting], measure), measure == "diversity")
            for strategy in STRATEGIES:
                theirs = paper.ranks(guide, measure)[strategy][j]
                named = f"rank by {LABELS[measure]}, {setting.name}"
                rows.append(Row(figure, None, strategy, named, ours[strategy].start, theirs))
    return rows


def _mean_rows(found: Found, guide: str, name: str, figure: str) -> list[Row]:
    units: list[tuple[Measure, str, float]] = [
        ("alteration", "percent", 1.0),
        ("diversity", "percent of the most", 1.0),
        ("closeness", "norm 1 times 100", 1.0),
        ("closeness", "norm 1 times 50", 0.5),
    ]
    return [
        Row(
            figure,
            None,
            strategy,
            f"mean {LABELS[measure]}, {unit}",
            scale * mean(found, strategy, measure),
            paper.means(guide, name, measure)[strategy],
        )
        for measure, unit, scale in units
        for strategy in STRATEGIES
    ]
