"""The tables of the experiment on Wang 2018 (Sec. 5), and what may be published of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal import datasets
from shoal.base.errors import BadFile
from shoal.base.threads import cached_property
from shoal.datasets.hospital import hospital_hierarchies
from shoal.datasets.informs import FILES, holds_informs
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.papers._printed import printed
from shoal.report.page import Cell, HtmlTable
from shoal.table.roles import Column

INFORMS, HOSPITAL = "INFORMS", "hospital"
PERSON, SENSITIVE = "person", "diagnosis"
STAYS = 60_000  # of the synthetic hospital
SAMPLE = 500  # people of a quick run
RECORDS, PATIENTS = 456_767, 49_384  # in the paper
DISTINCT: list[int] = printed("wang2018")["distinct"]  # values of each attribute


@dataclass(frozen=True, eq=False)
class Subject:
    """A table of people with one or several records, and trees of its quasi-identifiers."""

    name: str
    table: pa.Table  # person, quasi-identifiers, diagnosis
    trees: Mapping[str, Hierarchy]  # the quasi-identifiers, in the order in which they are used
    numbers: frozenset[str]  # those of them that are numbers
    whole: int  # people of the table that this is, or of which it is a sample

    @property
    def rows(self) -> int:
        """Number of records."""
        return int(self.table.num_rows)

    @cached_property
    def people(self) -> int:
        """Number of people."""
        return len(self.table[PERSON].unique())

    def first(self, qi: int) -> list[str]:
        """The first quasi-identifiers."""
        return list(self.trees)[:qi]

    def part(self, qi: int) -> pa.Table:
        """The table with the first quasi-identifiers alone."""
        return self.table.select([PERSON, *self.first(qi), SENSITIVE])

    def columns(self, qi: int, algorithm: str) -> dict[str, Column]:
        """What a plan says of the columns."""
        ways = hierarchies(self, algorithm)
        return {
            PERSON: Column(role="person"),
            **{name: Column(role="quasi", hierarchy=ways[name]) for name in self.first(qi)},
            SENSITIVE: Column(role="sensitive"),
        }

    def sample(self, people: int) -> Subject:
        """All records of some people, always the same ones."""
        everybody = self.table[PERSON].unique()
        drawn = np.random.default_rng(0).permutation(len(everybody))[:people]
        chosen = pc.is_in(self.table[PERSON], everybody.take(pa.array(np.sort(drawn))))
        return replace(self, table=self.table.filter(chosen))


def hierarchies(subject: Subject, algorithm: str) -> Mapping[str, Hierarchy]:
    """How each quasi-identifier may be published: geneir climbs trees, danonyir is free.

    Sets have the values of the tree in its order, so that both are asked the same queries and
    lose of the same domain.
    """
    if algorithm != "danonyir":
        return subject.trees
    return {
        name: Hierarchy.free_ranges()
        if name in subject.numbers
        else Hierarchy.free_sets(leaves(tree.tree(subject.table[name].unique().to_pylist())))
        for name, tree in subject.trees.items()
    }


def leaves(tree: Tree) -> list[str]:
    """The leaves of a tree in its order."""
    return [str(label) for node, label in enumerate(tree.labels) if tree.end[node] == node + 1]


@dataclass(frozen=True)
class Loaded:
    """The tables that were found."""

    subjects: Mapping[str, Subject]
    given: bool  # whether a folder was given, which then has INFORMS


def load(data: Path | None, quick: bool) -> Loaded:
    """Load INFORMS if the folder has it, and generate the hospital."""
    found = []
    if data is not None:
        if not data.is_dir():
            raise BadFile(f"no folder {str(data)!r}; give a folder that contains the INFORMS files")
        if not holds_informs(data):
            names = " and ".join(file.names[0] for file in FILES)
            raise BadFile(
                f"folder {str(data)!r} does not contain {names}, nor does its folder 'informs'; "
                "omit --data to run on the synthetic hospital only"
            )
        found.append(of_informs(datasets.informs(data)))
    found.append(of_hospital(STAYS))
    subjects = {one.name: one.sample(SAMPLE) if quick else one for one in found}
    return Loaded(subjects, data is not None)


def of_informs(table: pa.Table) -> Subject:
    """INFORMS with our own trees; the paper prints none."""
    trees = {
        "month of birth": Hierarchy.ranges([3, 6], start=1),
        "year of birth": Hierarchy.ranges([5, 10, 50]),
        "sex": Hierarchy.flat(),
        "race": Hierarchy.flat(),
        "education": Hierarchy.ranges([3, 9]),
        "marital status": Hierarchy.flat(),
        "poverty": Hierarchy.from_tree({"*": {"1 to 3": ["1", "2", "3"], "4 or 5": ["4", "5"]}}),
        "hispanic": Hierarchy.flat(),
    }
    numbers = frozenset({"month of birth", "year of birth", "education"})
    # Years of school below 0 are codes for "not known": no range of years may contain them.
    years = table["education"]
    known = pc.if_else(pc.less(years, 0), pa.scalar(None, years.type), years)
    table = table.set_column(table.column_names.index("education"), "education", known)
    return _subject(INFORMS, table, trees, numbers)


def of_hospital(rows: int) -> Subject:
    """People of the synthetic hospital who came with several diagnoses, one record per diagnosis.

    Their eight quasi-identifiers are the same in all records of a person, as in the paper.
    """
    stays = datasets.hospital(rows)
    told = ["birth date", "sex", "job", "postcode", "smoker", "admission"]
    one = stays.group_by("patient", use_threads=False).aggregate(
        [(name, "first") for name in told]  # the first that is not missing
    )
    first = {name: one[f"{name}_first"] for name in told}
    of_person = {
        "month of birth": pc.month(first["birth date"]),
        "year of birth": pc.year(first["birth date"]),
        "sex": first["sex"],
        "job": first["job"].fill_null(UNKNOWN),
        "region": pc.utf8_slice_codeunits(first["postcode"], 0, 2),
        "smoker": first["smoker"].fill_null(UNKNOWN),
        "year of first stay": pc.year(first["admission"]),
        "month of first stay": pc.month(first["admission"]),
    }
    told_of = stays.group_by(["patient", "diagnosis"], use_threads=False).aggregate([])
    several = told_of.group_by("patient", use_threads=False).aggregate([("diagnosis", "count")])
    several = several.filter(pc.greater(several["diagnosis_count"], 1))["patient"]
    told_of = told_of.filter(pc.is_in(told_of["patient"], several.combine_chunks()))
    place = pc.index_in(told_of["patient"], one["patient"].combine_chunks())
    columns = {name: values.take(place) for name, values in of_person.items()}
    table = pa.table({PERSON: told_of["patient"], **columns, SENSITIVE: told_of["diagnosis"]})
    jobs: Any = hospital_hierarchies()["job"]
    quarters = Hierarchy.ranges([3, 6], start=1)
    trees = {
        "month of birth": quarters,
        "year of birth": Hierarchy.ranges([5, 10, 50]),
        "sex": Hierarchy.flat(),
        "job": Hierarchy.from_tree({"*": {**jobs["*"], UNKNOWN: None}}),
        "region": Hierarchy.prefixes(),
        "smoker": Hierarchy.flat(),
        "year of first stay": Hierarchy.ranges([2], start=2015),
        "month of first stay": quarters,
    }
    numbers = frozenset(name for name in trees if name.startswith(("month", "year")))
    return _subject(HOSPITAL, table, trees, numbers)


def _subject(
    name: str, table: pa.Table, trees: Mapping[str, Hierarchy], numbers: frozenset[str]
) -> Subject:
    table = table.select([PERSON, *trees, SENSITIVE])
    return Subject(name, table, trees, numbers, len(table[PERSON].unique()))


UNKNOWN = "unknown"


class Prevalent(NamedTuple):
    """Decades of birth in which one diagnosis is that of more than a share of the people."""

    decades: int
    all_decades: int
    people: float  # percent of all people who were born in them
    most: float  # percent of the people of a decade who share a diagnosis, at most


def prevalent(subject: Subject, share: float) -> Prevalent:
    """How common the most common diagnoses are among people of an age."""
    table = subject.table.select([PERSON, SENSITIVE])
    table = table.append_column("decade", pc.divide(subject.table["year of birth"], 10))
    told = table.group_by(["decade", SENSITIVE]).aggregate([(PERSON, "count_distinct")])
    most = told.group_by("decade").aggregate([(f"{PERSON}_count_distinct", "max")])
    born = table.group_by("decade").aggregate([(PERSON, "count_distinct")])
    both = most.join(born, "decade")
    people = both[f"{PERSON}_count_distinct"].to_numpy()
    shares = both[f"{PERSON}_count_distinct_max"].to_numpy() / people
    return Prevalent(
        int((shares > share).sum()),
        len(shares),
        100.0 * float(people[shares > share].sum() / people.sum()),
        100.0 * float(shares.max()),
    )


def shapes(loaded: Loaded) -> HtmlTable:
    """The tables that were used, compared with what the paper says about its own."""
    rows: list[Sequence[Cell | str]] = []
    for name, one in loaded.subjects.items():
        theirs = name == INFORMS
        sizes = [len(one.table[column].unique()) for column in (*one.trees, SENSITIVE)]
        said: Sequence[int | None] = DISTINCT if theirs else [None] * len(sizes)
        values = ", ".join(
            f"{column}\xa0{ours}" + (f"\xa0({other})" if other not in (None, ours) else "")
            for column, ours, other in zip((*one.trees, SENSITIVE), sizes, said, strict=True)
        )
        rows.append(
            [
                name,
                f"{one.people:,}" + (f" (paper {PATIENTS:,})" if theirs else ""),
                f"{one.rows:,}" + (f" (paper {RECORDS:,})" if theirs else ""),
                f"{one.rows / one.people:.2f}"
                + (f" (paper {RECORDS / PATIENTS:.2f})" if theirs else ""),
                values,
            ]
        )
    return HtmlTable(
        head=["table", "people", "records", "records per person", "attributes and their values"],
        rows=rows,
        caption="Attributes in the order in which they become quasi-identifiers; the last one is "
        "sensitive. In brackets: how many values the paper's table has, where it differs.",
        widths=(10, 15, 15, 15, 45),
    )


def differences(loaded: Loaded) -> list[str]:
    """How the tables differ from the paper's, in sentences."""
    said = []
    if INFORMS in loaded.subjects:
        said.append(
            "INFORMS: the paper has the whole contest data, of which only the year 2005 is "
            "available here. A diagnosis that a person has twice is one record. Codes for missing "
            "values are values like others. Attributes are taken in the order of the paper's "
            "table 5."
        )
    else:
        said.append(
            "The paper's table, INFORMS, is not part of the package, so only the synthetic "
            "hospital was run. With `--data DIR`, a folder that has `demographics05.csv` and "
            "`conditions05.csv`, INFORMS is run as well."
        )
    said.append(
        f"The hospital is generated by `shoal.datasets.hospital`. Of {STAYS:,} stays those people "
        "are taken who came with two or more different diagnoses; each of these is a record. "
        "Every quasi-identifier is the same in all records of a person (the first that is not "
        "missing), as in the paper."
    )
    return said
