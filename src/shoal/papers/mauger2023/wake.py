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
from shoal.papers._adult import Adult, Releases, shown
from shoal.papers._compare import Claim, listed
from shoal.papers._result import Row
from shoal.papers.mauger2023.part import Part
from shoal.papers.mauger2023.table_3 import (
    AROUND,
    CRITERIA,
    GENERALIZED,
    HIGH,
    READINGS,
    ROOT,
    Areas,
    Half,
    Weight,
    draw,
    extreme,
    points,
)
from shoal.report.page import Block, Plot, Section, Text

PLACES = ("voters/wake_county_nc.csv.gz", "wake_county_nc.csv.gz", "wake_county_nc.csv")
TABLE_ROWS = 30_162  # of florida_30162
SURVEYED = 2010  # the list is of that year, and has ages
KS = (3, 4, 5, 10, 20, 50, 100, 250, 500, 700, 1000, 2000)
QUICK = (3, 20, 250, 700, 2000)
RACES = {"majority": ("W",), "minority": ("B", "A", "I", "M"), "not stated": ("O", "U", "none")}
PARTIES = {"large": ("DEM", "REP"), "no party": ("UNA",), "small": ("LIB",)}
WORST = ["llm", "wllm"]  # of the seven guides, says the paper
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
    return HIGH * rows // TABLE_ROWS


def statements(table: Areas, releases: Releases, rows: int) -> list[Claim]:
    """What the paper says about florida_30162, tested on the voters of Wake County."""
    values, root = table[GENERALIZED.name], table[ROOT.name]
    begin = 250 * rows // TABLE_ROWS
    late = [
        GENERALIZED.measure(releases[guide, k])
        for guide in WORST
        for k in sorted({k for _, k in releases if k >= begin})
    ]
    ahead = min(value for guide, value in root.items() if guide != "total") - root["total"]
    return [
        *(
            extreme(table, criterion, end, guides)
            for criterion in CRITERIA
            for end, guides in (("lowest", ["total"]), ("highest", WORST))
        ),
        Claim(
            f"{listed(WORST)} generalize more than 99 % of the values.",
            "both do",
            [values[guide] > 99 for guide in WORST],
            ", ".join(f"{shown(guide)} {values[guide]:.1f}" for guide in WORST),
        ),
        Claim(
            f"{listed(WORST)} generalize 100 % from k = 250 on.",
            f"99.9 % and more from k = {begin} on, the same share of this table",
            [value >= 99.9 for value in late],
            f"at least {min(late):.1f}",
        ),
        Claim(
            "By values at the root, Total is 10 points below the second best.",
            f"{10 - AROUND:g} to {10 + AROUND:g} points below",
            [abs(ahead - 10) <= AROUND],
            f"{abs(ahead):.1f} points {'below' if ahead > 0 else 'above'} the best of the others",
        ),
    ]


def part(voters: Adult, readings: Mapping[Weight, Releases]) -> Part:
    """Figure 4 and the lower half of table 3."""
    rows = voters.table.num_rows
    share, whole = Half(florida=True, high=high(rows)), Half(florida=True)
    files: dict[str, Sequence[Row]] = {}
    plots: dict[str, str] = {}
    blocks: list[Block] = []
    for criterion in CRITERIA:
        panel = f"figure-4{criterion.panel}-wake"
        files[f"{panel}.csv"] = points(readings["unit"], 4, criterion)
        plots[f"{panel}.svg"] = draw(readings["unit"], criterion)
        blocks.append(
            Plot(
                plots[f"{panel}.svg"],
                f"Figure 4{criterion.panel}, Wake County, {READINGS['unit']}.",
                (f"{panel}.csv", f"{panel}.svg"),
            )
        )
    tables = {weight: share.areas(releases) for weight, releases in readings.items()}
    near = {weight: share.gap(table) for weight, table in tables.items()}
    claims = {weight: statements(table, readings[weight], rows) for weight, table in tables.items()}
    held = {weight: _compare.verdicts(some)["agrees"] for weight, some in claims.items()}
    compared: list[Block] = []
    for weight, table in tables.items():
        file = f"table-3-wake-{weight}.csv"
        files[file] = share.rows(table, "table 3, Wake County")
        compared += [
            Text(
                f"With {READINGS[weight]}. Over k up to {whole.high:,}, as in the paper but a "
                "larger share of a smaller table, the mean difference would be "
                f"{whole.gap(whole.areas(readings[weight])):.1f} points instead of "
                f"{near[weight]:.1f}."
            ),
            share.side_by_side(table, file, "Wake County next to florida_30162, another list. "),
            _compare.statements(claims[weight]),
        ]
    intro = Text(
        f"The list of Wake County, North Carolina, fall 2010, has {rows:,} voters with zip code, "
        "year of birth, gender, race and affiliation. It is real, but another place, another year "
        f"and a third of the rows of florida_30162: k = {share.high:,} here is the same share of "
        "the table as 2,000 there. The paper prints neither numbers of values nor hierarchies of "
        "its list; ours are prefixes of zip codes, spans of 5, 10 and 20 years, and groups of "
        "races and affiliations. Differences are shown, but a perfect reproduction could not make "
        "them 0."
    )
    summary = Text(
        "Voters (figure 4 and the lower half of table 3), on the real list of Wake County: "
        + "; ".join(
            f"{READINGS[weight]}, {near[weight]:.1f} points from the printed florida_30162, "
            f"{held[weight]} of {len(claims[weight])} statements hold"
            for weight in readings
        )
        + "."
    )
    return Part(
        [summary],
        [
            Section("Table 3, lower half: voters of Wake County", [intro, *compared]),
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
