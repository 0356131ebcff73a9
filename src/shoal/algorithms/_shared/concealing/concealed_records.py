"""The state of concealment: published records, and who could be whose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from shoal.algorithms._shared.cells import cheapest_vectors, make_lattice
from shoal.algorithms._shared.layout import Layout
from shoal.base.arrays import Ints, Longs
from shoal.base.pace import parts
from shoal.base.progress import Progress
from shoal.kernels.group import group_rows
from shoal.kernels.matching import components, conceal, diversify, groups, randomize
from shoal.kernels.search import class_index as trie
from shoal.kernels.search import tuple_index as static
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import SensitiveModel
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from shoal.table.match_graph import MatchGraph, pairs, sorted_tuples
from shoal.table.published_table import Published
from shoal.table.recoding import Recoding


class ConcealedRecords:
    """The records as they are published so far, and the graph of possible matches."""

    graph: components.Graph
    edges: components.Edges

    def __init__(self, table: Table, loss: Loss, progress: Progress) -> None:
        self.table, self.progress = table, progress
        start = tally(table.codes)
        self.costs = costs = exact_costs(loss, table.domains, table.rows)
        self.layout = Layout.of(table, start, costs)
        self.trees = self.layout.trees._replace(ahead=False)
        self.tuples, back = sorted_tuples(table.codes, start, self.layout.order)
        place = np.empty(len(back), np.int64)
        place[back] = np.arange(len(back))
        self.original = place[start.label]  # int64[n], the tuple of each record
        self.records = np.argsort(self.original, kind="stable")
        self.start = np.append(0, np.cumsum(self.tuples.size))  # the records of each tuple
        self.fan = max(tree.size for tree in table.trees)
        n, q = table.rows, len(costs)
        self.stack = np.empty((q, 9), np.int64)
        most = n + 2  # groups
        self.classes = trie.IndexedClasses(
            np.zeros((most, q), np.int32),
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
            np.zeros(most, np.bool_),
        )
        self.groups = groups.Groups(
            of=np.zeros(n, np.int64),
            head=np.full(most, -1),
            next=np.full(n, -1),
            last=np.full(n, -1),
            free=np.arange(most)[::-1].copy(),
            mark=np.array([most]),
            old=np.zeros(q, np.int32),
            new=np.zeros(q, np.int32),
        )
        self.index = trie.empty_index(
            most, len(self.trees.cost), 3 * n + 4 * q + 8, 4 * n + 2 * self.fan + 8 * q + 64
        )

    def _parts(self, word: str, total: int) -> Iterator[slice]:
        """Short parts of the work, so that progress is shown and Ctrl-C works in between."""
        self.progress(word, 0.0)
        for begin, stop in parts(total):
            yield slice(begin, stop)
            self.progress(word, stop / total)

    def expand(self, k: int) -> Ints:
        """What Algorithm 2 publishes of each tuple, int32[tuples, q]."""
        vectors = np.empty_like(self.tuples.vector)
        for part in self._parts("expanding", len(vectors)):
            static.expand(self.tuples, self.trees, part.start, part.stop, k, self.stack, vectors)
        return vectors

    def cheapest(self, k: int) -> Ints:
        """The cheapest values of each tuple that cover k records, int32[tuples, q].

        What a search that was stopped did not find is expanded.
        """
        lattice = make_lattice(self.layout, self.tuples.vector, self.tuples.size)
        vectors, found = cheapest_vectors(lattice, k, lambda x: self.progress("expanding", x))
        for i in np.flatnonzero(~found):
            static.expand(self.tuples, self.trees, i, i + 1, k, self.stack, vectors)
        return vectors

    def randomize(self, expanded: Ints, k: int, near: int, rng: np.random.Generator) -> Ints:
        """What Algorithm 6 publishes of each record, int32[n, q]."""
        each = np.empty((self.table.rows, expanded.shape[1]), np.int32)
        for part in self._parts("tossing", len(expanded)):
            randomize.randomized(
                self.tuples, self.trees, expanded, k, near, part.start, part.stop,
                self.start, self.records, rng, each,
            )  # fmt: skip
        return each

    def publish(self, each: Ints) -> None:
        """Publish each record as its vector."""
        for begin, stop in parts(len(each)):
            self.index = groups.start_groups(
                self.index, self.trees, self.classes, self.groups, each, begin, stop, self.fan
            )

    def cover(self, k: int, order: Longs) -> None:
        """Algorithm 3."""
        done = np.zeros(len(self.tuples.size), np.bool_)
        for part in self._parts("covering", len(order)):
            self.index = conceal.anonymize_1k(
                self.index, self.trees, self.classes, self.groups, self.tuples, self.original,
                order[part], done, k, self.fan, self.stack,
            )  # fmt: skip

    def conceal(self, k: int, order: Longs) -> None:
        """Algorithm 5."""
        matches = self._build_graph()
        done = matches >= k
        for part in self._parts("concealing", len(order)):
            self.index, self.edges = conceal.conceal(
                self.index, self.trees, self.classes, self.groups, self.tuples, self.original,
                self.graph, self.edges, order[part], done, k, self.fan, self.stack,
            )  # fmt: skip

    def diversify(self, models: Sequence[SensitiveModel], visit: Callable[[], Longs]) -> None:
        """Algorithm 7, until no model fails.

        It takes several rounds: a new match for one person may make its value too frequent for
        another.
        """
        made = 1 if models else 0
        while made:
            made = 0
            for model in models:
                made += self._diversify(model, visit())

    def _diversify(self, model: SensitiveModel, order: Longs) -> int:
        column = next(one for one in self.table.sensitive if one.name == model.column)
        by_share = isinstance(model, FrequencyLDiversity)
        wanted = diversify.Wanted(
            column.codes,
            0 if by_share else int(np.ceil(model.required - 1e-9)),
            model.required if by_share else 0.0,
            np.zeros(len(column.values), np.int64),
        )
        total = 0
        for part in self._parts("diversifying", len(order)):
            self.index, self.edges, made = diversify.diversify(
                self.index, self.trees, self.classes, self.groups, self.tuples, self.original,
                self.graph, self.edges, order[part], wanted, self.start, self.records,
                self.fan, self.stack,
            )  # fmt: skip
            total += made
        return total

    def vectors(self) -> Ints:
        """What is published of each record, int32[n, q], with attributes in the table's order."""
        return self.layout.restored(self.classes.vector[self.groups.of])

    def as_published(self, vectors: Ints) -> Published:
        """Records published as these vectors, as a reader of the release would see them."""
        codes = vectors.copy()
        for j, tree in enumerate(self.table.trees):
            if (missing := tree.node(None)) >= 0:
                codes[codes[:, j] == missing, j] = -1
        labels = tuple(list(tree.labels) for tree in self.table.trees)
        return Published(self.table.names, codes, labels, None, tuple(self.table.sensitive))

    def _build_graph(self) -> Longs:
        """Build the graph between components; returns the matches of each tuple (Algorithm 4)."""
        vectors = self.classes.vector[self.groups.of]
        label, first, size = group_rows(vectors)
        begin, fits = pairs(self.tuples, self.trees, vectors[first])
        given = _given(begin, fits, label, self.original)
        linkage = MatchGraph.of_groups(self.tuples.size, size, begin, fits, given)
        of_tuple, of_class = linkage.components
        names, component = np.unique(of_tuple, return_inverse=True)
        apart = ~linkage.match
        many = len(names)
        start = component[linkage.fits[apart]].astype(np.int64)
        end = np.searchsorted(names, of_class[linkage.of_class[apart]])
        edge = np.unique(start * many + end)
        self.graph = components.Graph(
            into=np.arange(many),
            of=component.astype(np.int64),
            out_head=np.full(many, -1),
            out_tail=np.full(many, -1),
            in_head=np.full(many, -1),
            in_tail=np.full(many, -1),
            seen=np.zeros(many, np.int64),
            back=np.zeros(many, np.int64),
            met=np.zeros(many, np.int64),
            queue=np.zeros(many, np.int64),
            mark=np.zeros(3, np.int64),
        )
        self.edges = components.start_graph(self.graph, edge // many, edge % many)
        return linkage.matches

    def recoding(self) -> Recoding:
        """The published records, with attributes in the order of the table."""
        vectors = self.vectors()
        label, first, _ = group_rows(vectors)
        return Recoding(vectors[first], label)


def _given(begin: Longs, fits: Ints, label: Longs, original: Longs) -> Longs:
    """The perfect matching of every original with its own published record, as counts of pairs."""
    tuples = int(original.max()) + 1
    key = np.repeat(np.arange(len(begin) - 1), np.diff(begin)) * tuples + fits
    place = np.argsort(key)
    given = np.zeros(len(fits), np.int64)
    np.add.at(given, place[np.searchsorted(key, label * tuples + original, sorter=place)], 1)
    return given
