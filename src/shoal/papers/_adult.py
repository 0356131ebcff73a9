"""Adult with its hierarchies, and its releases guided by each of the seven metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal import catalog, datasets
from shoal.algorithms.gaa import GAA
from shoal.base.errors import BadFile, preview
from shoal.base.progress import Progress
from shoal.datasets._find import given
from shoal.datasets.adult import TRAIN, hierarchies
from shoal.flow.anonymize import anonymize
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Label, Tree
from shoal.models.k_anonymity import KAnonymity
from shoal.papers._printed import printed
from shoal.plan import Plan
from shoal.report.page import Cell, HtmlTable
from shoal.table.roles import Column

# The seven metrics of Mauger 2020 and 2023, in the order of their tables.
METRICS = ("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")
SAMPLE = 2_000  # rows of a quick run
AGES = range(17, 91)  # figure 5, Mauger 2020, has 74 values of age
UNCUT = "workclass, all values"
FOLDERS = ("adult/hierarchies/arx", "hierarchies/arx", ".")  # where hierarchies may be in --data

# Number of values, and nodes from leaf to root.
SHAPES: dict[str, list[int]] = printed("mauger2020")["hierarchies"]


class Release(NamedTuple):
    """What is measured on one verified release."""

    classes: int
    minimum: int  # rows of the smallest class
    losses: dict[str, float]  # percent of alteration by each of the seven metrics
    mean: float  # their mean
    modified: float  # percent of all values that differ from the original
    deleted: float  # percent of all values that are at the root

    @property
    def deleted_of_modified(self) -> float:
        """Percent of the modified values that are at the root."""
        return 100.0 * self.deleted / self.modified if self.modified else 0.0


Releases = Mapping[tuple[str, int], Release]  # by the metric that guided, and the requested k


@dataclass(frozen=True)
class Adult:
    """The table, its hierarchies, and where these come from."""

    table: pa.Table
    hierarchies: dict[str, Hierarchy]
    given: bool  # whether the hierarchies were found in --data
    uncut: Hierarchy | None = None  # that of workclass with all values that --data has for it

    def sample(self, rows: int) -> pa.Table:
        """A sample of the rows, always the same, in their order."""
        chosen = np.random.default_rng(0).permutation(self.table.num_rows)[:rows]
        return self.table.take(pa.array(np.sort(chosen)))

    def release(self, guide: str, k: int, algorithm: GAA) -> Release:
        """Anonymize and verify the table, and measure it."""
        plan = Plan(
            columns={
                name: Column(role="quasi", hierarchy=hierarchy)
                for name, hierarchy in self.hierarchies.items()
            },
            models=[KAnonymity(k=k)],
            algorithm=algorithm,
            loss=catalog.losses[guide](),  # type: ignore[arg-type]
            seed=0,  # for the order of the rows only: the merge is deterministic
        )
        release = anonymize(self.table, plan)
        return Release(
            release.classes,
            release.smallest_class,
            {metric: release.losses[metric] for metric in METRICS},
            release.quality.mean_loss,
            release.quality.generalized_percent,
            release.quality.root_percent,
        )

    def releases(
        self, algorithm: GAA, ks: Sequence[int], progress: Progress, begin: float, end: float
    ) -> Releases:
        """Releases for every guide and every k; progress goes from `begin` to `end`."""
        wanted = [(guide, k) for k in ks for guide in METRICS]
        found = {}
        for done, (guide, k) in enumerate(wanted):
            share = begin + (end - begin) * done / len(wanted)
            progress(f"k = {k:,}, guided by {shown(guide)}", share)
            found[guide, k] = self.release(guide, k, algorithm)
        return found


def load(data: Path | None, quick: bool) -> Adult:
    """Load the complete rows of Adult, or a sample of them, with hierarchies."""
    if data is not None and not data.is_dir():
        raise BadFile(f"no folder {str(data)!r}; give a folder with the table or its hierarchies")
    theirs = None if data is None else _given_hierarchies(data)
    own = {name: Hierarchy.from_tree(tree) for name, tree in hierarchies().items()}  # type: ignore[arg-type]
    table = _table(data).select(list(own))
    uncut = None if theirs is None else theirs.pop(UNCUT)
    adult = Adult(table, theirs or own, theirs is not None, uncut)
    return replace(adult, table=adult.sample(SAMPLE)) if quick else adult


def _table(data: Path | None) -> pa.Table:
    """Adult from the folder if it is there, otherwise from its usual place."""
    if data is not None:
        try:
            found = given(TRAIN, data)
        except BadFile:  # a folder with hierarchies only
            return datasets.adult()
        return datasets.adult(found)
    return datasets.adult()


def _given_hierarchies(data: Path) -> dict[str, Hierarchy] | None:
    """The level tables of the nine columns, from the first folder that has any of them."""
    for folder in (data / inside for inside in FOLDERS):
        lacking = [name for name in SHAPES if not (folder / f"{name}.csv").is_file()]
        if len(lacking) == len(SHAPES):
            continue
        if lacking:
            raise BadFile(
                f"{folder} has some hierarchies of Adult but lacks those of {preview(lacking)}"
            )
        found = {name: Hierarchy.from_csv(folder / f"{name}.csv") for name in SHAPES}
        found["age"] = only(found["age"].tree(), {str(age) for age in AGES})
        found[UNCUT] = found["workclass"]
        found["workclass"] = only(found["workclass"].tree(), _values("workclass"))
        return found
    return None


def _values(name: str) -> set[str]:
    """The values of a column that occur in complete rows: figure 5 has no others."""
    tree = Hierarchy.from_tree(hierarchies()[name]).tree()  # type: ignore[arg-type]
    return {str(tree.labels[v]) for v in range(tree.size) if tree.end[v] == v + 1}


def only(tree: Tree, wanted: set[str]) -> Hierarchy:
    """The same hierarchy with only the wanted leaves.

    >>> tree = Tree.from_rows([["1", "low", "*"], ["2", "low", "*"], ["9", "high", "*"]])
    >>> only(tree, {"1", "2"}).tree().labels
    ('*', 'low', '1', '2')
    """
    rows: list[list[Label]] = []
    for node, label in enumerate(tree.labels):
        if tree.end[node] == node + 1 and label in wanted:
            row: list[Label] = [label]
            while node:
                node = int(tree.parent[node])
                row.append(tree.labels[node])
            rows.append(row)
    return Hierarchy.from_levels(rows)


def shown(name: str) -> str:
    """A metric as the papers write it when it guides the merge.

    >>> shown("nllm"), shown("total")
    ('NLLM', 'Total')
    """
    return name.capitalize() if name in ("distortion", "total") else name.upper()


def shapes(adult: Adult) -> HtmlTable:
    """The hierarchies that were used, compared with figure 5."""
    rows: list[list[Cell | str]] = []
    for name, (values, height) in SHAPES.items():
        tree = adult.hierarchies[name].tree()
        groups = tree.size - int(tree.leaves[0]) - 1
        rows.append(
            [
                name,
                _beside(int(tree.leaves[0]), values),
                _beside(tree.height, height),
                str(groups) if groups else "none",
            ]
        )
    return HtmlTable(
        head=["quasi-identifier", "values", "height", "groups in between"],
        rows=rows,
        caption="The hierarchies used here. The height counts the nodes from a value to the root. "
        "Where the number of values or the height differs from figure 5 of the 2020 paper, the "
        "paper's is below ours.",
        numbers=True,
        widths=(34, 22, 22, 22),
    )


def _beside(ours: int, theirs: int) -> Cell:
    return Cell(str(ours)) if ours == theirs else Cell(str(ours), f"paper {theirs}", "off")


def origin(adult: Adult) -> str:
    """Which hierarchies were used, in a sentence."""
    if adult.given:
        return (
            "We used the level tables in the folder given with `--data`; of the ages "
            f"only {AGES[0]} to {AGES[-1]} are kept, as the paper has {len(AGES)} of them, and "
            f"of workclass the {SHAPES['workclass'][0]} values that occur."
        )
    return (
        "We used the hierarchies built into `shoal.datasets.adult`, which have the paper's "
        "numbers of values and heights, but groups of our own."
    )


def sample_warning(adult: Adult) -> str:
    """The warning at the top of a quick run."""
    return (
        f"Quick run on a sample of {adult.table.num_rows:,} rows and few values of k, to see "
        "whether everything works. Its numbers cannot be compared with the paper's; omit "
        "`--quick` to get those that can."
    )


def again(paper: str, adult: Adult, quick: bool) -> str:
    """The command that makes this page again."""
    options = (" --data DIR" if adult.given else "") + (" --quick" if quick else "")
    return f"To repeat this run: `shoal reproduce {paper}{options}`"
