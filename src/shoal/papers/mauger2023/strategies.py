"""Releases by strategy: alteration, l-diversity and t-closeness of every k-anonymous table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from shoal import catalog, datasets
from shoal.algorithms.gaa import GAA
from shoal.base.errors import NotHeld
from shoal.base.progress import Progress
from shoal.datasets.voters import hierarchies as voter_trees
from shoal.hierarchies.base import Hierarchy
from shoal.io.frames import open_frame
from shoal.losses import Loss, alteration
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.papers._adult import Adult, shown
from shoal.papers._compare import nauc
from shoal.papers.mauger2023.paper import MEASURES, STRATEGIES, Measure
from shoal.table.encode import Table, encode
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import check_covers
from shoal.table.roles import Column
from shoal.table.sensitive import Sensitive
from shoal.table.weighted import Weighted

Alone: TypeAlias = Literal["l-diversity", "t-closeness"]
ALONE: tuple[Alone, ...] = ("l-diversity", "t-closeness")
GUIDES = ("nllm", "total")  # of tables 4 and 5
LIKE = "voter-like"  # our table in the place of florida_30162


class Reading(NamedTuple):
    """What the definitions leave open, or what the authors may have done instead."""

    weight: Literal["size", "unit"]
    scope: Literal["table", "class"]

    @property
    def words(self) -> str:
        """The reading in a phrase."""
        sides = "weighted by its rows" if self.weight == "size" else "counted once"
        judged = "the whole table" if self.scope == "table" else "the merged class alone"
        return f"each side {sides}, {judged} judged"

    def gaa(self, strategy: str, column: str | None) -> GAA:
        """The algorithm with one of the strategies."""
        return GAA(strategy=strategy, column=column, weight=self.weight, scope=self.scope)  # type: ignore[arg-type]


DEFINED = Reading("size", "table")
BY_CLASS = Reading("size", "class")
READINGS = (DEFINED, Reading("unit", "table"), BY_CLASS)


class Point(NamedTuple):
    """What is measured on one k-anonymous table."""

    k: int
    classes: int
    alteration: float  # percent, by the metric that guided (Def. 7)
    diversity: float  # the l-diversity value (Def. 11)
    closeness: float  # the t-closeness value, norm 1 (Def. 14)


Curve: TypeAlias = Sequence[Point]
Curves: TypeAlias = Mapping[str, Curve]  # by strategy
Areas: TypeAlias = Mapping[str, Mapping[Measure, float]]  # by strategy and measure


def curves(table: Table, gaa: GAA, loss: Loss, ks: Iterable[int]) -> dict[str, list[Point]]:
    """Make the table k-anonymous for rising k, and measure each sensitive column.

    Where partners are sought among all classes, k only says when to stop: what is merged up to
    some k is merged for every larger one too. So each k continues from the previous table,
    with the same result as from the start. Every table is judged by its own published codes.
    """
    table = Weighted(table).table(together=False)  # in the order in which ties are decided
    if gaa.candidates != "all":
        raise ValueError("with other candidates than all, k changes what is merged")
    costs = loss.costs(table.domains)
    before = [domain.counts.astype(np.float64) for domain in table.domains]
    found: dict[str, list[Point]] = {column.name: [] for column in table.sensitive}
    rng = np.random.default_rng(0)  # not used: the merge is deterministic
    reached = table
    for k in sorted(ks):
        model = KAnonymity(k=k)
        recoding = gaa.recode(reached, [model], loss, rng)
        check_covers(reached, recoding)
        reached = replace(reached, codes=recoding.codes())
        classes = tally(reached.codes, None, table.sensitive)
        if not model.check(classes).holds:
            raise NotHeld(f"k-anonymity requires k={k}, the table reaches {classes.smallest}")
        after = [domain.counts.astype(np.float64) for domain in reached.domains]
        lost = alteration(costs, before, after)
        for name, points in found.items():
            diversity = EntropyLDiversity(column=name, l=2).reached(classes)
            closeness = TCloseness(column=name, t=2, distance="l1").reached(classes)
            points.append(Point(k, len(classes), lost, diversity, closeness))
    return found


def most_diverse(table: Table) -> float:
    """The l-diversity value of the table as one class: no partition has a higher one."""
    (column,) = table.sensitive
    whole = tally(np.zeros((table.rows, 1), np.int32), None, [column])
    return EntropyLDiversity(column=column.name, l=2).reached(whole)


def areas(found: Curves, most: float) -> Areas:
    """The NAUC of every strategy: alteration, l-diversity in percent of the most, t times 100."""
    return {strategy: area(curve, most) for strategy, curve in found.items()}


def area(curve: Curve, most: float) -> dict[Measure, float]:
    """The NAUC of one strategy, from its first k to its last."""
    low, high = curve[0].k, curve[-1].k
    scale: dict[Measure, float] = {
        "alteration": 1.0,
        "diversity": 100.0 / most,
        "closeness": 100.0,
    }
    return {
        measure: nauc(((p.k, scale[measure] * getattr(p, measure)) for p in curve), low, high)
        for measure in MEASURES
    }


def all_strategies(
    table: Table, reading: Reading, guide: str, ks: Sequence[int], names: Sequence[str] = STRATEGIES
) -> dict[str, list[Point]]:
    """The curves of several strategies for a table with one sensitive column."""
    (column,) = table.sensitive
    loss = guided_by(guide)
    return {
        name: curves(table, reading.gaa(name, column.name), loss, ks)[column.name] for name in names
    }


@dataclass(frozen=True)
class Real:
    """All curves, and the highest l-diversity value of each table."""

    curves: Mapping[tuple[Reading, str, str], Curves]  # by reading, guide and table
    most: Mapping[str, float]
    rows: int

    def areas(self, reading: Reading, guide: str, name: str) -> Areas:
        """The NAUC of every strategy: our part of table 4 or 5."""
        return areas(self.curves[reading, guide, name], self.most[name])

    @property
    def tables(self) -> list[str]:
        """The tables that are the paper's own."""
        return [name for name in self.most if name != LIKE]


def run_real(
    tables: Mapping[str, Table],
    voters: Table,
    ks: Sequence[int],
    progress: Progress,
    begin: float,
    end: float,
) -> Real:
    """Run every strategy, and those by sensitive values alone, in every reading."""
    wanted = [(r, guide, name) for r in READINGS for guide in GUIDES for name in tables]
    wanted += [(DEFINED, guide, LIKE) for guide in GUIDES]
    encoded = {**tables, LIKE: voters}
    strategies = (*STRATEGIES, *ALONE)
    found: dict[tuple[Reading, str, str], Curves] = {}
    for turn, (reading, guide, name) in enumerate(wanted):
        some: dict[str, Curve] = {}
        for done, strategy in enumerate(strategies):
            share = (turn + done / len(strategies)) / len(wanted)
            step = f"{name} by {shown(guide)} and {strategy}, {reading.scope} judged"
            progress(step, begin + (end - begin) * share)
            some |= all_strategies(encoded[name], reading, guide, ks, [strategy])
        found[reading, guide, name] = some
    most = {name: most_diverse(table) for name, table in encoded.items()}
    return Real(found, most, max(table.rows for table in tables.values()))


def guided_by(guide: str) -> Loss:
    """The metric with this name."""
    loss = catalog.losses[guide]()
    assert isinstance(loss, Loss)
    return loss


def encoded(frame: pa.Table, trees: Mapping[str, Hierarchy], sensitive: str | None = None) -> Table:
    """A table in which all columns but the sensitive one are quasi-identifiers."""
    columns = {
        name: Column(role="sensitive")
        if name == sensitive
        else Column(role="quasi", hierarchy=tree)
        for name, tree in trees.items()
    }
    return encode(open_frame(frame), columns)


def real_tables(adult: Adult) -> dict[str, Table]:
    """The configurations of Adult in section 4.3.1."""
    return {
        "Adult_Age": encoded(adult.table, adult.hierarchies, "age"),
        "Adult_Mar": encoded(adult.table, adult.hierarchies, "marital-status"),
    }


def voter_table(rows: int, sensitive: str | None = None) -> Table:
    """Our list of synthetic voters, with a sensitive column or none."""
    trees = {name: Hierarchy.from_tree(tree) for name, tree in voter_trees().items()}  # type: ignore[arg-type]
    return encoded(datasets.voters(rows), trees, sensitive)


def with_columns(table: Table, columns: Iterable[Sensitive]) -> Table:
    """The same table with other sensitive columns."""
    return replace(table, sensitive=tuple(columns))
