"""Random releases in which columns depend on quasi-identifiers, for the attack and its twin."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from shoal.attacks._unchanged import Truth, Unchanged, unchanged_of
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.free_values import Covers, FreeTree
from shoal.io.frames import Counted, Frame
from shoal.table.encode import Table, encode
from shoal.table.published_table import Published, read_published
from shoal.table.recoding import SUPPRESSED, Recoding, decode
from shoal.table.roles import Column
from tests.naive.attack_dependency import Record

NOTHING = "missing"  # an exact value, as every other
KINDS = {
    "prefixes": Hierarchy.prefixes(),
    "ranges": Hierarchy.ranges([2, 4, 8]),
    "flat": None,
    "tree": Hierarchy.from_levels(
        [[str(10 + i), f"g{i // 2}", f"h{i // 6}", "*"] for i in range(12)]
    ),
    "free_ranges": Hierarchy.free_ranges(),
    "free_sets": Hierarchy.free_sets(),
}
NUMBERS = {"free_ranges", "ranges"}


@dataclass
class Case:
    """A published table with its original, and the same as records of the twin."""

    published: Published
    frame: Frame
    columns: dict[str, Column]
    truth: Truth
    records: list[Record] = field(default_factory=list)
    known: list[Record] = field(default_factory=list)  # with what an outsider may know as the truth
    cells: dict[str, list] = field(default_factory=dict)  # of the original, by column

    @property
    def unchanged(self) -> list[str]:
        return [name for name, one in self.columns.items() if one.role in ("other", "sensitive")]

    def read(self, k: int, original: bool = True) -> Unchanged:
        """What the attack gets."""
        return unchanged_of(
            self.frame, self.columns, self.published, [""], k=k,
            truth=self.truth if original else None,
        )  # fmt: skip


def random_case(seed, people=90, persons=None, weights=None, together=False) -> Case:
    """A random table, recoded in random classes; many records are published exactly."""
    rng = np.random.default_rng(seed)
    persons = bool(rng.integers(2)) if persons is None else persons
    weights = bool(rng.integers(2)) if weights is None else weights
    who = np.sort(rng.integers(0, people, 2 * people)) if persons else np.arange(people)
    who = np.unique(who, return_inverse=True)[1]
    n = len(who)
    columns, cells, places = {}, {}, []
    for j in range(int(rng.integers(1, 4))):
        kind = str(rng.choice(list(KINDS)))
        place = rng.integers(0, int(rng.choice([4, 8, 12])), int(who.max()) + 1)
        of_records = rng.random() < 0.3
        place = rng.integers(0, 8, n) if of_records else place[who]
        value = [str(10 + one) for one in place]
        if rng.random() < 0.2:
            value = [None if rng.random() < 0.1 else one for one in value]
        if rng.random() < 0.2 and kind != "free_sets":  # general already
            value = ["*" if rng.random() < 0.1 else one for one in value]
        columns[f"q{j}"] = Column(role="quasi", hierarchy=KINDS[kind])
        cells[f"q{j}"] = value
        places.append(place)
    for name, cell in _others(rng, places, n).items():
        columns[name] = Column(role="sensitive" if name == "s" else "other")
        cells[name] = cell
    if persons:
        columns["who"] = Column(role="person", publish=bool(rng.integers(2)))
        cells["who"] = [f"p{one}" for one in who]
    weight = rng.integers(1, 4, int(who.max()) + 1)[who] if weights else None
    frame = Frame(pa.table(cells), None if weight is None else Counted(weight, None))
    table = encode(frame, columns, "value", [""])
    recoding = _recoding(rng, table, who)
    made = decode(frame, columns, table, recoding, rng, bool(rng.integers(2)), [""])
    published = read_published(made.frame, columns, [""], made.people)
    if together:
        published = published.together()
    case = Case(published, made.frame, columns, Truth(table, made.rows))
    case.records = _records(case, cells, made.rows, recoding, table, who, weight)
    case.known = _if_known(case, table)
    case.cells = cells
    return case


def _others(rng, places, n):
    """Columns of the kinds that matter: determining, coarse, drawn by chance, telling as a pair."""
    one, size = places[int(rng.integers(len(places)))], int(places[0].max()) + 1
    found = {}
    if rng.random() < 0.6:
        noise = rng.random(n) < rng.choice([0.0, 0.02, 0.1])
        fine = 2 * one + rng.integers(0, 2, n)
        found["fine"] = [None if x % 7 == 3 else f"f{x}" for x in np.where(noise, one[::-1], fine)]
    if rng.random() < 0.5:
        found["coarse"] = [f"c{x // 3}" for x in one]
    if rng.random() < 0.5:
        found["chance"] = [f"x{x}" for x in rng.integers(0, int(rng.choice([2, 9, 50])), n)]
    if rng.random() < 0.4:
        key = rng.integers(0, size, n)
        found["key"] = [int(x) for x in key]
        found["lock"] = [int(x) for x in (key + places[0]) % size]
    if rng.random() < 0.2:
        found["same"] = ["x"] * n
    if rng.random() < 0.5:
        found["s"] = [f"s{x % 2}" for x in one]
    return found or {"chance": [f"x{x}" for x in rng.integers(0, 4, n)]}


def _recoding(rng, table: Table, who) -> Recoding:
    """Random classes: some rows by themselves, some in groups, some suppressed."""
    n = len(who)
    unit = who if rng.random() < 0.5 else np.arange(n)  # all records of a person together, or not
    many = int(unit.max()) + 1
    first = np.unique(unit, return_index=True)[1]
    j = int(rng.integers(len(table.trees)))  # which many groups have in common
    place = np.lexsort((rng.random(many), table.codes[first, j]))
    group = np.empty(many, np.int64)
    group[place] = np.arange(many) // int(rng.integers(3, 9))
    group = np.where(rng.random(many) < rng.choice([0.2, 0.5, 0.8]), -1, group)[unit]
    covers = tuple(Covers(tree) for tree in table.trees)
    vectors, record = [], np.empty(n, np.int64)
    for one in np.unique(group):
        rows = np.flatnonzero(group == one)
        if one < 0:
            for row in rows:
                record[row] = len(vectors)
                vectors.append(table.codes[row].tolist())
            continue
        record[rows] = len(vectors)
        vectors.append([
            _join(tree, covers[j], table.codes[rows, j]) for j, tree in enumerate(table.trees)
        ])  # fmt: skip
        if rng.random() < 0.05 and len(rows) < n // 3:
            record[rows] = SUPPRESSED
    free = covers if table.free else ()
    return Recoding(np.array(vectors, np.int32), record, free)


def _join(tree, covers, nodes):
    if isinstance(tree, FreeTree):
        return covers.code(tree.code(nodes.tolist()))
    top = int(nodes[0])
    for node in nodes.tolist():
        top = tree.join(top, node)
    return top


def _records(case, cells, rows, recoding, table, who, weight):
    published = recoding.vectors[recoding.record[rows]]
    names = [name for name, one in case.columns.items() if one.role == "quasi"]
    labels = [[NOTHING if x is None else x for x in tree.labels] for tree in table.trees]
    leaf = [[tree.end[v] == v + 1 for v in range(tree.size)] for tree in table.trees]

    def below(j, code):
        """The leaves that a node or a free value covers, by their labels."""
        tree = table.trees[j]
        if code >= tree.size:
            cover = recoding.covers[j].covers[code - tree.size]
            return {labels[j][v] for v in tree.members(cover)}
        return {labels[j][v] for v in range(code, tree.end[code]) if leaf[j][v]}

    def exact(j, code):
        return labels[j][code] if code < table.trees[j].size and leaf[j][code] else None

    seen = [
        {exact(j, code) for code in published[:, j].tolist()} - {None} for j in range(len(names))
    ]
    each = range(len(names))
    found = []
    for row, vector in zip(rows.tolist(), published.tolist(), strict=True):
        true = [below(j, int(table.codes[row, j])) for j in each]
        found.append(Record(
            exact=tuple(exact(j, vector[j]) for j in each),
            classed=tuple(vector),
            truth=tuple(
                one if exact(j, int(table.codes[row, j])) is not None else one & seen[j]
                for j, one in enumerate(true)
            ),
            values={name: cells[name][row] for name in case.unchanged},
            person=int(who[row]),
            weight=1 if weight is None else int(weight[row]),
            inside=tuple(below(j, vector[j]) & seen[j] for j in each),
        ))  # fmt: skip
    return found


def _if_known(case, table):
    """The same records; the truth is among all values that occur in the original, not only among
    those that the release shows.
    """

    def own(j, row):
        tree, node = table.trees[j], int(table.codes[row, j])
        return {
            (v, tree.labels[v]) for v in range(node, tree.end[node]) if tree.end[v] == v + 1
        }  # with its number, as missing has no label

    each, rows = range(len(table.trees)), case.truth.rows.tolist()
    true = [[own(j, row) for row in rows] for j in each]
    there = [
        {one for row, some in zip(rows, true[j], strict=True) for one in some
         if int(table.codes[row, j]) == one[0]}
        for j in each
    ]  # fmt: skip
    return [
        replace(record, truth=tuple(true[j][at] & there[j] for j in each))
        for at, record in enumerate(case.records)
    ]
