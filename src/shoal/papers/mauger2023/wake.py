"""Figure 4 and the lower half of table 3, Mauger 2023, on real voters of Wake County.

The list of Florida that the authors drew from is not public any more. That of Wake County, North
Carolina, has the same five columns and 10,000 rows; it is used if it is in the folder of the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from shoal.algorithms.gaa import GAA
from shoal.base.errors import BadFile
from shoal.base.progress import Progress
from shoal.datasets.voters import _groups, _prefixes, _spans
from shoal.hierarchies.base import Hierarchy
from shoal.papers import _compare
from shoal.papers._adult import METRICS, Adult, Releases, shown
from shoal.papers._compare import (
    SHADING,
    Claim,
    highest,
    lowest,
    mean_difference,
    nauc,
    ranked,
    same_order,
)
from shoal.papers._result import Row
from shoal.papers.mauger2023 import paper
from shoal.papers.mauger2023.metrics import (
    CRITERIA,
    LABELS,
    LOW,
    READINGS,
    Areas,
    Criterion,
    Weight,
)
from shoal.papers.mauger2023.part import Part
from shoal.report.page import Block, Cell, HtmlTable, Plot, Section, Text
from shoal.report.plots import Series, lines

PLACES = ("voters/wake_county_nc.csv.gz", "wake_county_nc.csv.gz", "wake_county_nc.csv")
TABLE_ROWS = 30_162  # of florida_30162
SURVEYED = 2010  # the list is of that year, and has ages
KS = (3, 4, 5, 10, 20, 50, 100, 250, 500, 700, 1000, 2000)
QUICK = (3, 20, 250, 700, 2000)
RACES = {"majority": ("W",), "minority": ("B", "A", "I", "M"), "not stated": ("O", "U", "none")}
PARTIES = {"large": ("DEM", "REP"), "no party": ("UNA",), "small": ("LIB",)}
SOURCE = {"zip code": "res_zip_code", "gender": "gender", "race": "race", "affiliation": "party"}


def find(data: Path | None) -> Path | None:
    """The list in the folder of the data, or None."""
    if data is None:
        return None
    return next((data / place for place in PLACES if (data / place).is_file()), None)


def load(path: Path) -> Adult:
    """The five columns with hierarchies like those of our synthetic voters."""
    texts = csv.ConvertOptions(
        column_types={name: pa.string() for name in (*SOURCE.values(), "Age")},
        include_columns=[*SOURCE.values(), "Age"],
        strings_can_be_null=False,
    )
    try:
        read = csv.read_csv(path, convert_options=texts)
    except (pa.ArrowInvalid, KeyError) as error:
        raise BadFile(f"cannot read voters from {path}: {error}") from error
    born = pc.subtract(SURVEYED, read["Age"].cast(pa.int64()))
    race = pc.if_else(pc.equal(read["race"], ""), "none", read["race"])
    table = pa.table(
        {
            "zip code": read["res_zip_code"],
            "year of birth": born.cast(pa.string()),
            "gender": read["gender"],
            "race": race,
            "affiliation": read["party"],
        }
    )
    years = pc.min_max(born).as_py()
    trees = {
        "zip code": {"*": _prefixes(sorted(set(table["zip code"].to_pylist())), 2)},
        "year of birth": {"*": _spans(list(range(years["min"], years["max"] + 1)), (20, 10, 5))},
        "gender": {"*": dict.fromkeys(sorted(set(table["gender"].to_pylist())))},
        "race": {"*": _groups(RACES)},
        "affiliation": {"*": _groups(PARTIES)},
    }
    return Adult(table, {name: Hierarchy.from_tree(tree) for name, tree in trees.items()}, True)


def run(
    voters: Adult, quick: bool, progress: Progress, begin: float, end: float
) -> Mapping[Weight, Releases]:
    """Make and verify the releases in both readings."""
    middle = (begin + end) / 2
    ks = QUICK if quick else KS
    return {
        weight: voters.releases(GAA(weight=weight), ks, progress, first, last)
        for weight, first, last in zip(READINGS, (begin, middle), (middle, end), strict=True)
    }


def high(rows: int) -> int:
    """The k that is the same share of this table as 2,000 of florida_30162."""
    return 2000 * rows // TABLE_ROWS


def areas(releases: Releases, end: int) -> Areas:
    """Mean values over k from 3 to the end, by criterion and guide."""
    ks = sorted({k for _, k in releases})
    return {
        criterion.name: {
            guide: nauc(((k, criterion.measure(releases[guide, k])) for k in ks), LOW, end)
            for guide in METRICS
        }
        for criterion in CRITERIA
    }


def pairs(table: Areas, criterion: Criterion) -> list[tuple[float, float]]:
    """Ours and what the paper prints for florida_30162, guide by guide."""
    theirs = paper.criterion(criterion.name, florida=True)
    return [(table[criterion.name][guide], theirs[guide]) for guide in METRICS]


def gap(table: Areas) -> float:
    """The mean absolute difference over the three criteria."""
    return sum(mean_difference(pairs(table, one)) for one in CRITERIA) / len(CRITERIA)


def statements(table: Areas) -> list[Claim]:
    """What the paper says about florida_30162, tested on the voters of Wake County."""
    claims = []
    for criterion in CRITERIA:
        values = table[criterion.name]
        order = sorted(METRICS, key=lambda guide: values[guide])
        claims += [
            Claim(
                f"Total has the lowest {criterion.phrase.removeprefix('the ')}.",
                "it is the lowest of the seven",
                [lowest(values, ["total"])],
                ", ".join(f"{shown(guide)} {values[guide]:.1f}" for guide in order[:3]),
            ),
            Claim(
                f"LLM and WLLM have the highest {criterion.phrase.removeprefix('the ')}.",
                "no other guide is above them",
                [highest(values, ["llm", "wllm"])],
                ", ".join(f"{shown(guide)} {values[guide]:.1f}" for guide in order[:-4:-1]),
            ),
        ]
    return claims


def _side_by_side(table: Areas, end: int, file: str) -> HtmlTable:
    cells = [ranked(*zip(*pairs(table, criterion), strict=True)) for criterion in CRITERIA]
    rows: list[list[Cell | str]] = [
        [shown(guide), *(column[i] for column in cells)] for i, guide in enumerate(METRICS)
    ]
    apart: list[Cell | str] = ["mean absolute difference"]
    order: list[Cell | str] = ["pairs of guides in the same order"]
    for criterion in CRITERIA:
        both = pairs(table, criterion)
        apart.append(Cell(f"{mean_difference(both):.2f}", tone="strong"))
        alike, compared = same_order([ours for ours, _ in both], [other for _, other in both])
        order.append(Cell(f"{alike} of {compared}", tone="strong"))
    return HtmlTable(
        head=["guided by", *(criterion.name for criterion in CRITERIA)],
        rows=[*rows, apart, order],
        caption=f"Wake County, mean value over k from {LOW} to {end:,}, in percent (NAUC); below "
        f"what the paper prints for florida_30162, another list. {SHADING}",
        numbers=True,
        widths=(28, 24, 24, 24),
        files=(file,),
    )


def part(voters: Adult, readings: Mapping[Weight, Releases]) -> Part:
    """Figure 4 and the lower half of table 3."""
    rows = voters.table.num_rows
    end = high(rows)
    files: dict[str, Sequence[Row]] = {}
    plots: dict[str, str] = {}
    blocks: list[Block] = []
    for criterion in CRITERIA:
        panel = f"figure-4{criterion.panel}-wake"
        files[f"{panel}.csv"] = [
            Row(f"figure 4{criterion.panel}", k, guide, criterion.name, criterion.measure(release))
            for (guide, k), release in readings["unit"].items()
        ]
        ks = sorted({k for _, k in readings["unit"]})
        plots[f"{panel}.svg"] = lines(
            [
                Series(
                    shown(guide),
                    [(k, criterion.measure(readings["unit"][guide, k])) for k in ks],
                )
                for guide in METRICS
            ],
            "requested k",
            LABELS[criterion.panel],
            log_x=True,
            top=100,
        )
        blocks.append(
            Plot(
                plots[f"{panel}.svg"],
                f"Figure 4{criterion.panel}, Wake County, {READINGS['unit']}.",
                (f"{panel}.csv", f"{panel}.svg"),
            )
        )
    tables: list[Block] = []
    for weight, releases in readings.items():
        found = areas(releases, end)
        file = f"table-3-wake-{weight}.csv"
        files[file] = [
            Row("table 3, Wake County", None, guide, f"mean of {one.name} to k = {end}", *values)
            for one in CRITERIA
            for guide, values in zip(METRICS, pairs(found, one), strict=True)
        ]
        whole = gap(areas(releases, 2000))
        tables += [
            Text(
                f"With {READINGS[weight]}. Over k up to 2,000, as in the paper but a larger share "
                f"of a smaller table, the mean difference would be {whole:.1f} points instead of "
                f"{gap(found):.1f}."
            ),
            _side_by_side(found, end, file),
            _compare.statements(statements(found)),
        ]
    near = {weight: gap(areas(releases, end)) for weight, releases in readings.items()}
    held = {
        weight: _compare.verdicts(statements(areas(releases, end)))["agrees"]
        for weight, releases in readings.items()
    }
    intro = Text(
        f"The list of Wake County, North Carolina, fall 2010, has {rows:,} voters with zip code, "
        "year of birth, gender, race and affiliation. It is real, but another place, another year "
        f"and a third of the rows of florida_30162: k = {end:,} here is the same share of the "
        "table as 2,000 there. The paper prints neither numbers of values nor hierarchies of its "
        "list; ours are prefixes of zip codes, spans of 5, 10 and 20 years, and groups of races "
        "and affiliations. Differences are shown, but a perfect reproduction could not make them 0."
    )
    summary = Text(
        "Voters (figure 4 and the lower half of table 3), on the real list of Wake County: "
        + "; ".join(
            f"{READINGS[weight]}, {near[weight]:.1f} points from the printed florida_30162, "
            f"{held[weight]} of 6 statements hold"
            for weight in readings
        )
        + "."
    )
    return Part(
        [summary],
        [
            Section("Table 3, lower half: voters of Wake County", [intro, *tables]),
            Section("Figure 4: voters of Wake County", blocks),
        ],
        files,
        plots,
    )


def skipped() -> Part:
    """What the page says where the list is missing."""
    return Part(
        [],
        [
            Section(
                "Table 3, lower half, and figure 4: not run",
                [
                    Text(
                        "The list florida_30162 is not public. If the folder given with `--data` "
                        f"has the voters of Wake County ({PLACES[0]}), these are used instead."
                    )
                ],
            )
        ],
        {},
        {},
    )
