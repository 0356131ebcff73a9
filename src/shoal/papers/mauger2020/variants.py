"""Mauger 2020 in other ways: where the merge begins, how ties are decided, the tree of workclass.

Many merges cost the same, and GAA then decides by a hash of the values. Other orders of the columns
give other hashes and nothing else, so they show how much of a difference from the paper is luck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from shoal.algorithms.gaa import GAA
from shoal.base.progress import Progress
from shoal.papers._adult import Adult, Releases
from shoal.papers._compare import mean_difference
from shoal.papers._result import Row
from shoal.papers.mauger2020.paper import TABLES, pairs
from shoal.report.page import Block, Cell, HtmlTable, Section, Text

ORDERS = 5  # orders of the columns: the one of the table, and rotations of it
STARTS = ("smallest", "first", "arbitrary")
Gaps = Mapping[int, float]  # by k: mean absolute difference of the 49 cells from the paper
Ways = Mapping[tuple[str, str], Sequence[Gaps]]  # by start and tree: one per order of the columns


@dataclass(frozen=True)
class Tried:
    """How far each variant is from the paper."""

    ways: Ways
    cut: str  # the name of the tree that the page uses


def rotated(adult: Adult, by: int) -> Adult:
    """The same table with its columns in another order: only ties are decided otherwise."""
    names = list(adult.hierarchies)
    names = names[by:] + names[:by]
    trees = {name: adult.hierarchies[name] for name in names}
    return replace(adult, table=adult.table.select(names), hierarchies=trees)


def gaps(releases: Releases) -> Gaps:
    """The mean absolute difference at each k of figures 6 to 8."""
    return {k: mean_difference(pairs(releases, k)) for k in TABLES}


def trees(adult: Adult) -> dict[str, Adult]:
    """The table with workclass cut as in figure 5, and with all values of the given hierarchy."""
    found = {_named(adult): adult}
    if adult.uncut is not None:
        whole = {**adult.hierarchies, "workclass": adult.uncut}
        uncut = replace(adult, hierarchies=whole)
        found[_named(uncut)] = uncut
    return found


def _named(adult: Adult) -> str:
    return f"{int(adult.hierarchies['workclass'].tree().leaves[0])} values"


def run(
    adult: Adult, releases: Releases, algorithm: GAA, progress: Progress, begin: float, end: float
) -> Tried:
    """Every start with the tree of the page, and the default start with the other tree."""
    both = trees(adult)
    cut = _named(adult)
    wanted = [(start, cut) for start in STARTS]
    wanted += [(algorithm.start, name) for name in both if name != cut]
    ks, step = sorted(TABLES), (end - begin) / (len(wanted) * ORDERS)
    ways: dict[tuple[str, str], list[Gaps]] = {}
    for start, name in wanted:
        one = algorithm.model_copy(update={"start": start})
        ways[start, name] = []
        for by in range(ORDERS):
            if (start, name, by) == (algorithm.start, cut, 0):
                found = releases
            else:
                found = rotated(both[name], by).releases(one, ks, progress, begin, begin + step)
            ways[start, name].append(gaps(found))
            begin += step
    return Tried(ways, cut)


def _cells(orders: Sequence[Gaps]) -> list[Cell | str]:
    """At each k the mean over the orders, and below the lowest and the highest."""
    cells: list[Cell | str] = []
    for k in TABLES:
        values = [one[k] for one in orders]
        cells.append(Cell(f"{fmean(values):.2f}", f"{min(values):.2f} to {max(values):.2f}"))
    return cells


def _table(first: str, rows: Mapping[str, Sequence[Gaps]]) -> HtmlTable:
    return HtmlTable(
        head=[first, *(f"k = {k:,}" for k in TABLES)],
        rows=[[name, *_cells(orders)] for name, orders in rows.items()],
        caption=f"Mean absolute difference of the 49 cells from the paper, in points: the mean "
        f"over {ORDERS} orders of the columns, and below the lowest and the highest.",
        numbers=True,
        files=("variants.csv",),
    )


def sections(tried: Tried) -> list[Section]:
    """What each choice changes."""
    starts = {start: tried.ways[start, tried.cut] for start in STARTS}
    begins: list[Block] = [
        Text(
            "Algorithm 1 chooses a small class arbitrarily; the text adds that it was the first "
            "element of their list of classes, and the paper of 2023 says that it is one of "
            'minimal size. GAA begins with the smallest; `start = "first"` takes the first in the '
            "order of a hash of the values, which then grows until it has k records, and "
            '`start = "arbitrary"` draws one with the seed. ' + _nearest(starts)
        ),
        _table("start", starts),
    ]
    found = [Section("Where the merge begins", begins)]
    others = {name: orders for (_, name), orders in tried.ways.items() if name != tried.cut}
    if others:
        by_tree = {tried.cut: starts["smallest"], **others}
        found.append(Section("Ties, and the tree of workclass", _of_trees(by_tree)))
    return found


def overall(orders: Sequence[Gaps]) -> float:
    """The mean over the three figures and all orders."""
    return fmean(gap for one in orders for gap in one.values())


def _nearest(starts: Mapping[str, Sequence[Gaps]]) -> str:
    ordered = sorted(starts, key=lambda start: overall(starts[start]))
    values = ", ".join(f"{start} {overall(starts[start]):.2f}" for start in ordered)
    return f"Over the three figures, the mean difference is: {values} points."


def _of_trees(by_tree: Mapping[str, Sequence[Gaps]]) -> list[Block]:
    widest = max(_width(orders) for orders in by_tree.values())
    return [
        Text(
            "Figure 5 has seven values of workclass; the given hierarchy has one more, which no "
            "complete row has. This page uses the seven. Many merges cost the same, and GAA "
            "decides such ties by a hash of the values. Another order of the columns, or another "
            "tree, gives another hash, so one run of each tree must not be compared: at k = 1,500 "
            f"the orders of one tree differ by up to {widest:.2f} points."
        ),
        _table("workclass with", by_tree),
    ]


def _width(orders: Sequence[Gaps]) -> float:
    values = [one[1500] for one in orders]
    return max(values) - min(values)


def csv_rows(tried: Tried) -> list[Row]:
    """Every difference that the sections summarize."""
    return [
        Row(f"order {number} of the columns", k, start, f"mean difference, workclass {name}", gap)
        for (start, name), orders in tried.ways.items()
        for number, one in enumerate(orders)
        for k, gap in one.items()
    ]
