"""Section 4.3.3 of Mauger 2023: simulated sensitive columns and their releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shoal.base.progress import Progress
from shoal.papers._adult import shown
from shoal.papers.mauger2023 import paper
from shoal.papers.mauger2023.paper import STRATEGIES
from shoal.papers.mauger2023.strategies import (
    GUIDES,
    Areas,
    Point,
    Reading,
    area,
    curves,
    guided_by,
    most_diverse,
    with_columns,
)
from shoal.table.encode import Table
from shoal.table.sensitive import Sensitive

SEED = 2023
WIDE = 3.0  # standard deviations to each side that the values of a normal column divide
RATE = 2.5  # a geometric column of v values has the success probability RATE / v
INSTEAD = "t-closeness"  # what may be meant by S5


class Setting(NamedTuple):
    """Which simulated column."""

    shape: str
    size: int

    @property
    def name(self) -> str:
        """A name for the column."""
        return f"{self.shape} {self.size}"


Found = Mapping[Setting, Areas]  # our NAUC by column, strategy and measure
Everything = Mapping[tuple[str, str], Found]  # by table and guide


def settings(sizes: Sequence[int] = paper.SIZES) -> list[Setting]:
    """The columns in the order of the figures."""
    return [Setting(shape, size) for shape in paper.SHAPES for size in sizes]


def simulated(setting: Setting, rows: int) -> Sensitive:
    """Draw a column; the same one for the same setting.

    >>> column = simulated(Setting("geometric", 5), 1000)
    >>> len(column.values), np.bincount(column.codes).argmax()
    (5, np.int64(0))
    """
    shape, size = setting
    rng = np.random.default_rng([SEED, paper.SHAPES.index(shape), size])
    if shape == "equivalent":
        codes = rng.integers(size, size=rows)
    elif shape == "geometric":
        chance = (1 - RATE / size) ** np.arange(size)
        codes = rng.choice(size, size=rows, p=chance / chance.sum())
    else:
        place = (rng.standard_normal(rows) + WIDE) / (2 * WIDE)  # 0 to 1, hardly ever beyond
        codes = np.clip(np.floor(place * size), 0, size - 1)
    return Sensitive(setting.name, codes.astype(np.int32), tuple(range(size)))


def run(
    tables: Mapping[str, Table],
    reading: Reading,
    ks: Sequence[int],
    sizes: Sequence[int],
    progress: Progress,
    begin: float,
    end: float,
) -> Everything:
    """The NAUC of every strategy for every column of every table, guided by both metrics."""
    wanted = [(name, guide) for name in tables for guide in GUIDES]
    every = settings(sizes)
    found: dict[tuple[str, str], dict[Setting, Areas]] = {}
    for turn, (name, guide) in enumerate(wanted):
        columns = {setting: simulated(setting, tables[name].rows) for setting in every}
        loss = guided_by(guide)
        # S1 looks at no sensitive column: one merge serves all of them.
        first = curves(
            with_columns(tables[name], columns.values()), reading.gaa("S1", None), loss, ks
        )
        found[name, guide] = {}
        for done, (setting, column) in enumerate(columns.items()):
            share = (turn + done / len(columns)) / len(wanted)
            progress(
                f"{name} by {shown(guide)}: {setting.size} values, {setting.shape}",
                begin + (end - begin) * share,
            )
            table = with_columns(tables[name], [column])
            points: dict[str, list[Point]] = {"S1": first[column.name]}
            for strategy in (*STRATEGIES[1:], INSTEAD):
                gaa = reading.gaa(strategy, column.name)
                points |= {strategy: curves(table, gaa, loss, ks)[column.name]}
            most = most_diverse(table)
            found[name, guide][setting] = {s: area(points[s], most) for s in points}
    return found
