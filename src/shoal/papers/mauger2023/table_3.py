"""Table 3 and its figures, Mauger 2023: three quality criteria of the releases of each guide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from shoal.papers._adult import METRICS, Releases, shown
from shoal.papers._compare import (
    DELETED,
    MEAN,
    MODIFIED,
    SHADING,
    Claim,
    Measure,
    highest,
    listed,
    lowest,
    mean_difference,
    nauc,
    ranked,
    same_order,
)
from shoal.papers._result import Row
from shoal.papers.mauger2023 import paper
from shoal.report.page import Cell, HtmlTable
from shoal.report.plots import Series, lines

LOW, HIGH = 3, 2000  # between which the paper takes its means
AROUND = 5.0  # points that we take "around" to mean

Weight = Literal["unit", "size"]
READINGS: dict[Weight, str] = {
    "unit": "each side of a merge counted once",
    "size": "each side weighted by its rows",
}


class Criterion(NamedTuple):
    """A quality criterion of Def. 9, with its column of table 3."""

    panel: str  # of figures 3 and 4
    name: str
    phrase: str  # the name in a sentence
    label: str  # of the axis
    measure: Measure


CRITERIA = (
    Criterion("a", "mean alteration", "mean alteration", "mean alteration, %", MEAN),
    Criterion(
        "b",
        "generalized values",
        "the share of generalized values",
        "generalized values, % of all values",
        MODIFIED,
    ),
    Criterion(
        "c",
        "values at the root",
        "the share of values at the root",
        "values at the root, % of all values",
        DELETED,
    ),
)
ALTERATION, GENERALIZED, ROOT = CRITERIA

Areas = Mapping[str, Mapping[str, float]]  # by criterion and guide


class Half(NamedTuple):
    """One half of table 3: where its printed numbers are, and over which k the means are taken."""

    florida: bool
    high: int = HIGH

    def areas(self, releases: Releases) -> Areas:
        """Mean values over k of every criterion and guide: our half of table 3."""
        ks = sorted({k for _, k in releases})
        return {
            one.name: {
                guide: nauc(((k, one.measure(releases[guide, k])) for k in ks), LOW, self.high)
                for guide in METRICS
            }
            for one in CRITERIA
        }

    def pairs(self, table: Areas, criterion: Criterion) -> list[tuple[float, float]]:
        """Ours and what the paper prints, guide by guide."""
        theirs = paper.criterion(criterion.name, self.florida)
        return [(table[criterion.name][guide], theirs[guide]) for guide in METRICS]

    def gaps(self, table: Areas) -> list[float]:
        """The mean absolute difference by each criterion."""
        return [mean_difference(self.pairs(table, one)) for one in CRITERIA]

    def gap(self, table: Areas) -> float:
        """The mean absolute difference over the three criteria."""
        return sum(self.gaps(table)) / len(CRITERIA)

    def rows(self, table: Areas, name: str) -> list[Row]:
        """Our half of table 3, cell by cell."""
        return [
            Row(name, None, guide, f"mean of {one.name} for k from {LOW} to {self.high}", *both)
            for one in CRITERIA
            for guide, both in zip(METRICS, self.pairs(table, one), strict=True)
        ]

    def side_by_side(self, table: Areas, file: str, about: str = "") -> HtmlTable:
        """Ours, theirs, differences and ranks."""
        columns = [ranked(*zip(*self.pairs(table, one), strict=True)) for one in CRITERIA]
        rows: list[list[Cell | str]] = [
            [shown(guide), *(column[i] for column in columns)] for i, guide in enumerate(METRICS)
        ]
        apart: list[Cell | str] = ["mean absolute difference"]
        order: list[Cell | str] = ["pairs of guides in the same order"]
        for one, gap in zip(CRITERIA, self.gaps(table), strict=True):
            apart.append(Cell(f"{gap:.2f}", tone="strong"))
            alike, compared = same_order(*zip(*self.pairs(table, one), strict=True))
            order.append(Cell(f"{alike} of {compared}", tone="strong"))
        return HtmlTable(
            head=["guided by", *(one.name for one in CRITERIA)],
            rows=[*rows, apart, order],
            caption=f"{about}Mean value over k from {LOW} to {self.high:,}, in percent (NAUC). In "
            "each cell: ours with its rank in the column; below the paper's with its rank, and "
            f"ours minus theirs. {SHADING}",
            numbers=True,
            widths=(28, 24, 24, 24),
            files=(file,),
        )


def extreme(table: Areas, criterion: Criterion, end: str, guides: list[str]) -> Claim:
    """The statement that these guides have the lowest or the highest values."""
    values = table[criterion.name]
    order = sorted(METRICS, key=lambda guide: values[guide], reverse=end == "highest")
    test = lowest if end == "lowest" else highest
    verb, which = ("has", "it is") if len(guides) == 1 else ("have", "they are")
    told = order[: len(guides) + 1]
    told += [guide for guide in order if guide in guides and guide not in told]
    return Claim(
        f"{listed(guides)} {verb} the {end} {criterion.phrase.removeprefix('the ')}.",
        f"{which} the {end} of the seven",
        [test(values, guides)],
        ", ".join(f"{shown(guide)} {values[guide]:.1f}" for guide in told),
    )


def points(releases: Releases, figure: int, criterion: Criterion) -> list[Row]:
    """The points of a panel of figure 3 or 4."""
    panel = f"figure {figure}{criterion.panel}"
    return [
        Row(panel, k, guide, criterion.name, criterion.measure(release))
        for (guide, k), release in releases.items()
    ]


def draw(releases: Releases, criterion: Criterion) -> str:
    """Draw a panel of figure 3 or 4, a line for each guide."""
    ks = sorted({k for _, k in releases})
    return lines(
        [
            Series(shown(guide), [(k, criterion.measure(releases[guide, k])) for k in ks])
            for guide in METRICS
        ],
        "requested k",
        criterion.label,
        log_x=True,
        top=100,
    )
