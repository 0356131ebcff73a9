"""Match graph: which original each published record could be (Sec. 4.2 and 6.2, Tassa 2012).

Original and release form a graph: an edge joins an original with every published record that
covers it. An attacker who knows all originals can build that graph. An edge is a match if it is in
some perfect matching; only matches can be true, and an attacker can exclude all other edges.

Equal originals share a node, and so do records with equal published values (a class). Only pairs
of nodes that fit are stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.base.arrays import Bools, Floats, Ints, Longs
from shoal.base.errors import BadPlan, BadTable, preview
from shoal.base.pace import parts
from shoal.base.threads import cached_property
from shoal.kernels.histogram import sum_groups
from shoal.kernels.search.class_index import Trees
from shoal.kernels.search.tuple_index import Tuples, count_covered, list_covered, make_tuples
from shoal.table.covering import selective_order
from shoal.table.encode import Table
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.published_table import Published
from shoal.table.sensitive import Histogram

MOST_PAIRS = 30_000_000  # pairs of original and class; 100 bytes each make 3 GB


@dataclass(frozen=True, eq=False)
class MatchGraph:
    """The graph of an original and its release, with one perfect matching."""

    original: Classes  # the distinct originals: tally of the original table
    classes: Classes  # the classes of the published table
    start: Longs  # int64[classes + 1]
    fits: Ints  # int32[pairs]: class g covers the originals fits[start[g]:start[g + 1]]
    given: Longs  # int64[pairs], originals that the perfect matching assigns to the class

    @staticmethod
    def of_groups(
        originals: Longs, published: Longs, start: Longs, fits: Ints, given: Longs
    ) -> MatchGraph:
        """The graph of groups of equal originals and groups of equal published records."""
        return MatchGraph(_sized(originals), _sized(published), start, fits, given)

    @cached_property
    def of_class(self) -> Longs:
        """The class of each pair, int64[pairs]."""
        return np.repeat(np.arange(len(self.classes)), np.diff(self.start))

    @cached_property
    def neighbours(self) -> Longs:
        """Published records that cover each original: its degree, int64[originals]."""
        return self._sum(self.fits, self.classes.size[self.of_class], len(self.original))

    @cached_property
    def preimages(self) -> Longs:
        """Records of the original that each class covers, int64[classes]."""
        return self._sum(self.of_class, self.original.size[self.fits], len(self.classes))

    @cached_property
    def components(self) -> tuple[Longs, Longs]:
        """The strongly connected component of each original and of each class.

        In H an edge leads from a record to all whose published vector covers it (Sec. 6.2.1).
        Equal originals reach each other, and so do equal published records, so they may share a
        node: an original leads to the classes that cover it, a class to the originals that the
        perfect matching assigns to it.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        m, p = len(self.original), len(self.classes)
        back = self.given > 0
        start = np.concatenate([self.fits, m + self.of_class[back]])
        end = np.concatenate([m + self.of_class, self.fits[back]])
        graph = csr_array((np.ones(len(start), np.int8), (start, end)), shape=(m + p, m + p))
        _, label = connected_components(graph, directed=True, connection="strong")
        return label[:m].astype(np.int64), label[m:].astype(np.int64)

    @cached_property
    def match(self) -> Bools:
        """Whether each pair is in some perfect matching (Algorithm 4), bool[pairs]."""
        original, published = self.components
        return np.asarray(original[self.fits] == published[self.of_class])

    @cached_property
    def matches(self) -> Longs:
        """Published records that are a match of each original (Def. 6), int64[originals]."""
        held = self.match
        return self._sum(
            self.fits[held], self.classes.size[self.of_class[held]], len(self.original)
        )

    @cached_property
    def owners(self) -> Longs:
        """Originals that match the records of each class, int64[classes]."""
        held = self.match
        return self._sum(
            self.of_class[held], self.original.size[self.fits[held]], len(self.classes)
        )

    @property
    def candidates(self) -> Longs:
        """The number of published records that match each original, int64[n]."""
        return self.matches[self.original.label]

    @cached_property
    def largest_factor(self) -> int:
        """The largest k such that the graph has a k-factor.

        A k-factor is a choice of pairs in which every original has k published records, and every
        published record k originals. Then each pair of it can have the probability 1/k. It is a
        k-regular bipartite graph, which has a perfect matching (König 1916). Without one of them
        it is a (k - 1)-factor, so that all smaller k are possible too.
        """
        low, high = 1, int(min(self.neighbours.min(), self.preimages.min()))
        while low < high:
            middle = (low + high + 1) // 2
            if self.has_factor(middle):
                low = middle
            else:
                high = middle - 1
        return low

    def has_factor(self, k: int) -> bool:
        """Whether the graph has a k-factor: a flow of k from each original to each record.

        A pair of groups has as many pairs of an original and a record as their sizes multiply to.
        By whole flows between the groups, all originals and records have k pairs each: the flow of
        a group can be split equally, and then there is a whole flow too (Hoffman 1960).
        """
        originals, published = k * self.original.size, k * self.classes.size
        room = self.original.size[self.fits] * self.classes.size[self.of_class]
        value, _ = _flow(originals, published, self.start, self.fits, room)
        return value == int(originals.sum())

    @cached_property
    def views(self) -> dict[str, Classes]:
        """What each linkage model counts, as classes of so many people.

        The sensitive values of `matches` are those of all matching records, which is what an
        attacker can learn (Sec. 8, Tassa 2012).
        """
        both = np.concatenate([self.neighbours, self.preimages])
        return {
            "neighbours": _sized(self.neighbours),
            "preimages": _sized(self.preimages),
            "both": _sized(both),
            "matches": _sized(self.matches, self._histograms()),
        }

    def view(self, name: str) -> Classes:
        """The view that a linkage model names; a factor takes several flows to find."""
        return self._factor_view if name == "factor" else self.views[name]

    @cached_property
    def _factor_view(self) -> Classes:
        """The largest k-factor, as what is seen of each original."""
        return _sized(np.full(len(self.original), self.largest_factor))

    def _histograms(self) -> dict[str, Histogram]:
        """The sensitive values of the matches of each original."""
        held = np.flatnonzero(self.match)
        held = held[np.argsort(self.fits[held], kind="stable")]
        many = np.bincount(self.fits[held], minlength=len(self.original))
        start = np.append(0, np.cumsum(many))
        owned = self.of_class[held]
        summed = {}
        for name, old in self.classes.histograms.items():
            first, value, count = sum_groups(
                start, owned, old.start, old.value, old.count, len(old.total)
            )
            summed[name] = Histogram(old.column, first, value, count, old.total)
        return summed

    @staticmethod
    def _sum(place: npt.NDArray[np.integer], amount: Longs, size: int) -> Longs:
        # Sums of whole numbers far below 2 ** 53 are exact in floating point.
        return np.bincount(place, amount, size).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Believed(Classes):
    """What is seen of each original, with the probability of the most likely record."""

    belief: Floats = field(default_factory=lambda: np.zeros(0))  # float64[originals]


def _sized(people: Longs, histograms: dict[str, Histogram] | None = None) -> Classes:
    """Classes of so many people each, in the form that models take."""
    each = np.arange(len(people))
    return Classes(each, each, people, people, people, histograms or {})


def link(original: Table, published: Published) -> MatchGraph:
    """Build the graph of an original and its release; raise an error unless they fit together."""
    if original.people is not None and original.person_count < original.rows:
        raise BadPlan(
            "linkage models are about records, and this table has people with several records; "
            "remove the person column if each record may count as one person, or choose another "
            "model"
        )
    if original.rows != published.rows:
        raise BadTable(
            f"the release has {published.rows} rows and its original {original.rows}: there is no "
            "perfect matching between them, so matches are not defined; if records were "
            "suppressed, give the original without these records"
        )
    if original.free:
        raise BadPlan(
            f"linkage models need hierarchies, and {preview(original.free)} may be published as "
            "free ranges or sets; give these columns trees, or choose another model"
        )
    vectors, _ = published.vectors(original, "original")  # int32[classes, q]
    start = tally(original.codes)
    order = selective_order(vectors, original)
    tuples, back = sorted_tuples(original.codes, start, order)
    trees, vectors = _bare_trees(original, order), np.ascontiguousarray(vectors[:, order])
    begin, fits = pairs(tuples, trees, vectors)
    fits = back[fits].astype(np.int32)
    lonely = np.ones(len(start), np.bool_)
    lonely[fits] = False
    if lonely.any():
        rows = np.flatnonzero(lonely[start.label])
        raise BadTable(
            f"{len(rows)} rows of the original fit no row of the release (rows "
            f"{preview((rows[:6] + 1).tolist())}): there is no perfect matching between them"
        )
    given = perfect_matching(start.size, published.classes.size, begin, fits)
    return MatchGraph(start, published.classes, begin, fits, given)


def pairs(tuples: Tuples, trees: Trees, vectors: Ints) -> tuple[Longs, Ints]:
    """The tuples that each vector covers: those of v are fits[start[v]:start[v + 1]]."""
    m, q = vectors.shape
    count = np.empty(m, np.int64)
    scratch = np.empty((q, 2), np.int64), np.empty(len(tuples.size), np.int64)
    for part in parts(m):
        count_covered(tuples, trees, vectors, *part, count, *scratch)
    start = np.append(0, np.cumsum(count))
    if start[-1] > MOST_PAIRS:
        raise BadTable(
            f"too many pairs: {start[-1]:,} pairs of an original and a published vector fit, and "
            f"memory allows {MOST_PAIRS:,}; use a smaller k, finer hierarchies or fewer "
            "quasi-identifiers"
        )
    fits = np.empty(int(start[-1]), np.int32)
    for part in parts(m):
        list_covered(tuples, trees, vectors, *part, start, fits, *scratch)
    return start, fits


def sorted_tuples(codes: Ints, start: Classes, order: Longs) -> tuple[Tuples, Longs]:
    """The prefix tree over the distinct records, and the place of each tuple in `start`."""
    vector = np.ascontiguousarray(codes[start.first][:, order])  # int32[tuples, q]
    back = np.lexsort(vector.T[::-1])
    return make_tuples(vector[back], start.size[back], start.first[back]), back


def _bare_trees(table: Table, order: Longs) -> Trees:
    """The concatenated hierarchies; costs are not used here."""
    trees = [table.trees[j] for j in order]
    start = np.concatenate([[0], np.cumsum([tree.size for tree in trees])])
    nothing = np.zeros(start[-1], np.int64)
    parent, end = (np.concatenate([getattr(t, part) for t in trees]) for part in ("parent", "end"))
    return Trees(start, parent, end, nothing, nothing, False)


def perfect_matching(originals: Longs, published: Longs, start: Longs, fits: Ints) -> Longs:
    """How many records of each original a perfect matching assigns to each class, int64[pairs].

    If it does not assign all records, there is no perfect matching.
    """
    from scipy.sparse import csr_array

    m, p = len(originals), len(published)
    of_class = np.repeat(np.arange(p), np.diff(start))
    value, flow = _flow(originals, published, start, fits, originals[fits])
    total = int(originals.sum())
    if value < total:
        raise BadTable(
            f"{total - value} rows of the original cannot be matched with rows of "
            "the release of their own: there is no perfect matching between them, so the release "
            "was not made from this original"
        )
    flow = csr_array(flow)
    given = np.zeros(len(fits), np.int64)
    row, column = np.repeat(np.arange(m + p + 2), np.diff(flow.indptr)), flow.indices
    held = (flow.data > 0) & (row < m)
    # Pairs are sorted by class; a flow is found by its class and original.
    key = of_class * m + fits
    place = np.argsort(key)
    wanted = (column[held].astype(np.int64) - m) * m + row[held]
    given[place[np.searchsorted(key, wanted, sorter=place)]] = flow.data[held]
    return given


def _flow(
    originals: Longs, published: Longs, start: Longs, fits: Ints, room: Longs
) -> tuple[int, Any]:
    """A maximum flow from the originals to the classes, and its value.

    So much comes from each original and goes to each class, and so much fits through each pair.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    m, p = len(originals), len(published)
    if max(int(originals.max()), int(published.max())) > np.iinfo(np.int32).max:
        raise BadTable(
            f"too many pairs: {int(originals.sum()):,} pairs of an original and a published record "
            "would have to be chosen; use a smaller k, or more specific values"
        )
    of_class = np.repeat(np.arange(p), np.diff(start))
    source, sink = m + p, m + p + 1
    begin = np.concatenate([np.full(m, source), fits, m + np.arange(p)])
    end = np.concatenate([np.arange(m), m + of_class, np.full(p, sink)])
    narrow = np.minimum(np.minimum(originals[fits], published[of_class]), room)
    capacity = np.concatenate([originals, narrow, published])
    graph = csr_array((capacity.astype(np.int32), (begin, end)), shape=(m + p + 2, m + p + 2))
    found = maximum_flow(graph, source, sink)
    return int(found.flow_value), found.flow
