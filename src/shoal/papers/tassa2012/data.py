"""The four tables of Tassa 2012 (Sec. 9), and the sets of values that may be published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal import datasets
from shoal.base.errors import BadFile
from shoal.base.threads import cached_property
from shoal.base.wording import many
from shoal.datasets._find import File, given
from shoal.datasets.adult import TEST, TRAIN
from shoal.datasets.adult import hierarchies as of_adult
from shoal.datasets.artificial import hierarchies as of_artificial
from shoal.datasets.cmc import CMC as CMC_FILE
from shoal.datasets.nursery import NURSERY as NURSERY_FILE
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.io.frames import open_frame
from shoal.losses.entropy import entropy_below
from shoal.papers._printed import printed
from shoal.report.page import HtmlTable
from shoal.table.encode import encode
from shoal.table.roles import Column

SAMPLE = 200  # rows of a quick run
RECORDS: dict[str, int] = printed("tassa2012")["records"]
ATTRIBUTES: dict[str, int] = printed("tassa2012")["attributes"]  # public ones
PRIVATE = {"ADULT": "salary-class", "CMC": "method", "NURSERY": "class"}


class Source(NamedTuple):
    """A source of a table: its files, and the function that loads them from a folder."""

    files: tuple[File, ...]
    load: Callable[[Path | None], pa.Table]

    def inside(self, folder: Path) -> bool:
        """Whether the folder contains all files."""
        try:
            return all(given(file, folder) for file in self.files)
        except BadFile:
            return False


@dataclass(frozen=True)
class Subject:
    """A table with its hierarchies, by the name that the paper gives it."""

    name: str
    table: pa.Table  # the public attributes and the private one
    trees: Mapping[str, Hierarchy]
    private: str | None
    whole: int  # rows of the table that this is, or of which it is a sample

    @cached_property
    def columns(self) -> dict[str, Column]:
        """What a plan says of the columns."""
        columns = {
            name: Column(role="quasi", hierarchy=hierarchy)
            for name, hierarchy in self.trees.items()
        }
        return columns | ({self.private: Column(role="sensitive")} if self.private else {})

    @property
    def rows(self) -> int:
        """Number of records."""
        return int(self.table.num_rows)

    @property
    def bits(self) -> float:
        """The entropy of an attribute, mean over attributes: what a loss of 100 % is in bits."""
        domains = encode(open_frame(self.table), self.columns).domains
        return float(np.mean([entropy_below(domain)[0] for domain in domains]))

    @property
    def most_diverse(self) -> float:
        """1 / the share of the most frequent private value: no l-diversity can be above it."""
        counts = self.table[self.private].value_counts().field("counts").to_numpy()
        return float(counts.sum() / counts.max())

    def sample(self, rows: int) -> Subject:
        """A part of the rows, always the same, in their order."""
        drawn = np.random.default_rng(0).permutation(self.rows)[:rows]
        return replace(self, table=self.table.take(pa.array(np.sort(drawn))))


@dataclass(frozen=True)
class Loaded:
    """The tables that were found."""

    subjects: Mapping[str, Subject]
    lacking: Sequence[str]  # names of those that were not
    given: bool  # whether a folder was given
    adult: pa.Table | None = None  # ADULT with all its attributes, and all rows


def load(data: Path | None, quick: bool) -> Loaded:
    """Load the four tables; of Adult only the train part if its test part is not found."""
    if data is not None and not data.is_dir():
        raise BadFile(f"no folder {str(data)!r}; give a folder that contains the tables")
    found, lacking = {}, []
    adult = None
    for name, nested in NESTED.items():
        table = _first(SOURCES[name], data)
        if table is None:
            lacking.append(name)
            continue
        adult = table if name == "ADULT" else adult
        private = PRIVATE.get(name)
        trees = {column: Hierarchy.from_tree(tree) for column, tree in nested.items()}
        table = table.select([*trees, *([private] if private else [])])
        subject = Subject(name, table, trees, private, table.num_rows)
        found[name] = subject.sample(SAMPLE) if quick else subject
    return Loaded(found, lacking, data is not None, adult)


def _first(sources: Sequence[Source], data: Path | None) -> pa.Table | None:
    """The table from the first source that has it: in the folder, otherwise in its usual place."""
    for source in sources:
        if data is not None and source.inside(data):
            return source.load(data)
        with suppress(BadFile):
            return source.load(None)
    return None


def groups(*groups: str) -> dict[str, Any]:
    """A tree of groups, the values of each separated by blanks; a single value is not a group."""
    found: dict[str, Any] = {}
    for group in groups:
        values = group.split()
        if len(values) == 1:
            found[group] = None
        else:
            found[f"{{{', '.join(values)}}}"] = dict.fromkeys(values)
    return {"*": found}


def _ages() -> dict[str, Any]:
    """Put the ages 16 to 49 into intervals of 5 and 10 years."""
    root: dict[str, Any] = {}
    for age in range(16, 50):
        ten, five = age - age % 10, age - age % 5
        inside = root.setdefault(f"[{ten}, {ten + 10})", {})
        inside.setdefault(f"[{five}, {five + 5})", {})[str(age)] = None
    return {"*": root}


def leaves(tree: Tree) -> list[str]:
    """The leaves of a tree in its order."""
    return [str(label) for node, label in enumerate(tree.labels) if tree.end[node] == node + 1]


def _flat(values: str) -> dict[str, Any]:
    return {"*": dict.fromkeys(values.split())}


# The paper groups "values that are semantically close" and does not say which; these are ours.
CMC: dict[str, Any] = {
    "wife-age": _ages(),
    "wife-education": groups("1 2", "3 4"),  # from low to high
    "husband-education": groups("1 2", "3 4"),
    "children": {
        "*": {
            "0 to 4": {
                "0": None,
                "1 or 2": {"1": None, "2": None},
                "3 or 4": {"3": None, "4": None},
            },
            "5 or more": {
                "5 or 6": {"5": None, "6": None},
                "7 to 9": dict.fromkeys("789"),
                "10 or more": {str(i): None for i in range(10, 17)},
            },
        }
    },
    "wife-religion": _flat("0 1"),
    "wife-working": _flat("0 1"),
    "husband-occupation": _flat("1 2 3 4"),  # UCI does not say what they are
    "living-standard": groups("1 2", "3 4"),
    "media-exposure": _flat("0 1"),
}
NURSERY: dict[str, Any] = {
    "parents": groups("usual", "pretentious great_pret"),
    "has-nurs": groups("proper less_proper", "improper critical very_crit"),
    "form": groups("complete completed", "incomplete foster"),
    "children": groups("1 2", "3 more"),
    "housing": groups("convenient less_conv", "critical"),
    "finance": _flat("convenient inconv"),
    "social": groups("nonprob slightly_prob", "problematic"),
    "health": groups("recommended priority", "not_recom"),
}


NESTED: dict[str, Mapping[str, Any]] = {
    "ART": of_artificial(),
    "ADULT": {name: tree for name, tree in of_adult().items() if name != PRIVATE["ADULT"]},
    "CMC": CMC,
    "NURSERY": NURSERY,
}
SOURCES = {
    "ART": [Source((), lambda _: datasets.artificial())],
    "ADULT": [
        Source((TRAIN, TEST), lambda path: datasets.adult(path, part="all")),
        Source((TRAIN,), lambda path: datasets.adult(path)),
    ],
    "CMC": [Source((CMC_FILE,), datasets.cmc)],
    "NURSERY": [Source((NURSERY_FILE,), datasets.nursery)],
}


def shapes(loaded: Loaded) -> HtmlTable:
    """The tables that were used, compared with what the paper says about its own."""
    rows = []
    for name, subject in loaded.subjects.items():
        trees = [hierarchy.tree() for hierarchy in subject.trees.values()]
        rows.append(
            [
                name,
                f"{subject.rows:,} (paper {RECORDS[name]:,})",
                f"{len(trees)} (paper {ATTRIBUTES[name]})",
                ", ".join(
                    f"{column}\xa0{int(tree.leaves[0])}"
                    for column, tree in zip(subject.trees, trees, strict=True)
                ),
                subject.private or "none",
                f"{subject.bits:.3f}",
            ]
        )
    return HtmlTable(
        head=["table", "records", "public attributes", "their values", "private", "bits"],
        rows=rows,
        caption="Bits: what an entropy loss of 100 % is, in bits per cell.",
        widths=(10, 16, 14, 36, 14, 10),
    )


def differences(loaded: Loaded) -> list[str]:
    """How the tables differ from the paper's, in sentences."""
    said = [
        "ART is drawn again with seed 0 by the distributions that the paper prints (each sums to "
        "1), each attribute independently of the others, with the paper's own collections "
        "of sets. The paper's draw is not published."
    ]
    subjects = loaded.subjects
    if "ADULT" in subjects:
        said.append(
            f"ADULT: the paper has {ATTRIBUTES['ADULT']} public attributes and does not publish "
            "its collections of sets. We use the "
            f"{many(len(subjects['ADULT'].trees), 'attribute')} for which `shoal.datasets.adult` "
            "has hierarchies (age, sex, race, marital status, education, country, workclass, "
            "occupation). So only the order of the methods can be compared, not the height of "
            "the curves. With all attributes it is run on a sample, in a section of its own."
        )
        if subjects["ADULT"].whole < RECORDS["ADULT"]:
            said.append(
                f"Of ADULT only {subjects['ADULT'].whole:,} complete rows were found, those of the "
                "train part; give a folder that has `adult.data` and `adult.test` with `--data` "
                f"to get {RECORDS['ADULT']:,}."
            )
    if "CMC" in subjects:
        said.append(
            "CMC has 1,473 records at UCI; the paper says 1500. It and NURSERY have our own groups "
            "of values: intervals of ages and numbers, and grades that are neighbours. NURSERY is "
            "also run with flat sets."
        )
    for name in loaded.lacking:
        said.append(f"{name} was not found on this machine and is omitted; see `--data`.")
    return said
