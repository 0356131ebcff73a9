"""k-concealment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from shoal.algorithms import Algorithm
from shoal.algorithms._shared.cells import cheapest_vectors, make_lattice
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.requirements import check_reachable
from shoal.attacks._weighed import SEED, weigh, weighed_values
from shoal.base.arrays import Bools, Ints, Longs
from shoal.base.errors import BadPlan, CannotReach, WayOut, did_you_mean
from shoal.base.pace import parts
from shoal.base.progress import Progress, silent
from shoal.base.settings import AtLeastTwo
from shoal.kernels.group import group_rows
from shoal.kernels.matching import components, conceal, diversify, groups, randomize, spread
from shoal.kernels.search import class_index as trie
from shoal.kernels.search import tuple_index as static
from shoal.losses import Loss
from shoal.losses._integer_costs import exact_costs
from shoal.models import TOLERANCE, LinkageModel, Model, SensitiveModel
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.models.k_belief import KBelief
from shoal.models.matching_belief import MatchingBelief
from shoal.models.p_sensitivity import PSensitivity
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from shoal.table.match_graph import MatchGraph, link, pairs, sorted_tuples
from shoal.table.published_table import Published
from shoal.table.recoding import Recoding
from shoal.table.sensitive import Histogram


class Concealment(Algorithm):
    """Generalizes each record separately until it has k possible originals (Tassa 2012).

    The steps are (k,1)-anonymity, then (1,k)-anonymity (Algorithm 3), then k-concealment
    (Algorithm 5), as far as the models require them. p-sensitivity and l-diversity are satisfied
    over the records that match a person (Algorithm 7). matching-belief and shares of sensitive
    values are limits on probabilities: whoever exceeds one gets more matches until none does.

    `start`: for (k,1)-anonymity each record is published as the cheapest values that cover k
    records. The paper considers them too expensive to find (Algorithm 1) and adds one nearest
    record after the other instead (Algorithm 2, `expansion`). On Adult the cheapest values lose a
    tenth to a quarter less in the end, and the most likely record of a person is more likely.

    The k records that could be a person's need not be equally likely: one of them can be almost
    certain. For the same certainty of an attacker `peel` and `freeform` lose less.

    `randomized` (Sec. 7): an attacker who knows the algorithm and all originals could run it again
    and see which record became which. So each record is published, with equal probability, as its
    expansion or as the closure of k - 1 random records among its `q` nearest (Algorithm 6; by
    default 2(k - 1) of them), and records are processed in random order.
    """

    name: ClassVar[str] = "concealment"
    works_in_parts: ClassVar[bool] = False
    pace: ClassVar[float] = 1.5
    randomized: bool = Field(
        default=True, description="randomize the choice, so that a rerun does not reveal records"
    )
    start: Literal["cheapest", "expansion"] = Field(
        default="cheapest",
        description="the first values of a record: the cheapest that cover k records, or those of "
        "the paper's expansion to k near records",
    )
    q: AtLeastTwo | None = Field(
        default=None,
        description="number of nearest records to choose from; 2(k - 1) if not given",
    )

    @property
    def has_random_values(self) -> bool:
        """Whether random choices hide who became which record."""
        return self.randomized

    def serves(self, model: Model) -> bool:
        """Whether the algorithm can satisfy this model."""
        kinds = LinkageModel, MatchingBelief, PSensitivity, DistinctLDiversity, FrequencyLDiversity
        return isinstance(model, kinds) and not isinstance(model, KBelief)

    def notes(self, seed: int | None) -> list[str]:
        """Remarks for the reader of a release about how it was made."""
        advice = (
            "the records that could be a person's are not equally likely, and one of them may be "
            "almost certain (see the attack matching); for the same certainty of an attacker, peel "
            "with k-anonymity or freeform with k-belief usually loses less"
        )
        if not self.randomized:
            return [
                advice,
                "made without randomization: an attacker who knows all originals and the algorithm "
                "can run it again and see which record became which",
            ]
        if seed is not None:
            return [
                advice,
                "made with a fixed seed: an attacker who knows all originals and the seed can run "
                "it again and see which record became which; set no seed for a release",
            ]
        return [advice]

    def recode(
        self,
        table: Table,
        models: Sequence[Model],
        loss: Loss,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> Recoding:
        """Generalize records until every model is satisfied."""
        needs = _needs(models)
        _check(table, models, needs, self.q if self.randomized else None)
        run = _Run(table, loss, progress)
        vectors = run.tuples.vector
        if needs.preimages > 1:
            cheapest = self.start == "cheapest"
            vectors = (run.cheapest if cheapest else run.expand)(needs.preimages)
        each = vectors[run.original]  # int32[n, q]
        if self.randomized and needs.preimages > 1:
            near = self.q or 2 * (needs.preimages - 1)
            each = run.randomize(vectors, needs.preimages, min(near, table.rows - 1), rng)
        run.publish(each)

        def visit() -> Longs:
            return rng.permutation(table.rows) if self.randomized else np.arange(table.rows)

        if needs.neighbours > 1:
            run.cover(needs.neighbours, visit())
        if needs.matches > 1:
            run.conceal(needs.matches, visit())
            if not run.settle(_Limits.of(models), visit):
                return Recoding(np.zeros_like(table.codes[:1]), np.zeros(table.rows, np.int64))
        return run.recoding()


ROUNDS = 40  # of new matches, before all records are published alike
MOST_NEW = 64  # new matches of a person in one round
TRIAL = 1  # the seed of samples until a limit holds; others then judge, as they will the release


class _Limits(NamedTuple):
    """What limits the beliefs of an attacker."""

    belief: float | None  # the highest probability that a record is a person's; None: any
    values: tuple[SensitiveModel, ...]

    @staticmethod
    def of(models: Sequence[Model]) -> _Limits:
        beliefs = [model.belief for model in models if isinstance(model, MatchingBelief)]
        values = tuple(model for model in models if isinstance(model, SensitiveModel))
        return _Limits(min(beliefs, default=None), values)

    @property
    def weighed(self) -> bool:
        """Whether probabilities matter."""
        return self.belief is not None or any(model.by_share for model in self.values)


class _Cause(NamedTuple):
    """Why an attacker is too sure of people."""

    fails: Bools  # bool[n], of whom
    secret: Ints  # int32[n], the sensitive value of each record
    unwanted: Longs  # int64[n], the value that is too likely; -1: it is not about values


def _most_likely(histogram: Histogram) -> Longs:
    """The most likely value of each original, int64[originals]."""
    order = np.lexsort((-histogram.count, histogram.of_class))
    return histogram.value[order[histogram.start[:-1]]].astype(np.int64)


class _Needs(NamedTuple):
    """The k required for each count of a linkage model; 1: no requirement."""

    preimages: int
    neighbours: int
    matches: int


def _needs(models: Sequence[Model]) -> _Needs:
    asked = {"preimages": 1, "neighbours": 1, "matches": 1}
    for model in models:
        if isinstance(model, LinkageModel):
            # Concealment starts from (k,k)-anonymity (Algorithm 5).
            views = {"both": ("preimages", "neighbours"), "matches": tuple(asked)}
            for view in views.get(model.view, (model.view,)):
                asked[view] = max(asked[view], model.k)
        if isinstance(model, MatchingBelief):
            # Probabilities add up to 1, so that the highest is 1 / the number of matches or more.
            least = ceil(1.0 / model.belief - TOLERANCE)
            asked = {view: max(k, least) for view, k in asked.items()}
    return _Needs(**asked)


def _check(table: Table, models: Sequence[Model], needs: _Needs, q: int | None) -> None:
    """Raise an error for requirements that cannot be satisfied."""
    linked = [model for model in models if isinstance(model, LinkageModel)]
    if any(isinstance(model, SensitiveModel) for model in models) and needs.matches == 1:
        raise BadPlan(
            "concealment satisfies models about sensitive values only together with "
            "k-concealment; add that model, or choose an algorithm that forms classes"
        ).offering(WayOut("add", "k-concealment", {"k": max(2, needs.preimages)}))
    for model in models:
        if isinstance(model, MatchingBelief) and not model.holds(best := 1.0 / table.rows):
            raise CannotReach(model.key, best, model.out_of_reach(best)).offering(
                *model.ways_out(best)
            )
    for model in linked:
        if model.k > table.rows:
            raise CannotReach(
                model.key,
                table.rows,
                f"{model.key} with k={model.k} cannot be reached: the table has {table.rows} rows; "
                f"the best k possible is {table.rows}: use that, or add rows",
            ).offering(WayOut("set", model.key, {"k": table.rows}), WayOut("remove", model.key))
    if q is not None and q < needs.preimages > 1:
        raise BadPlan(
            f"concealment: q={q} leaves no choice of {needs.preimages - 1} near records; use a "
            f"q of {needs.preimages} or more"
        )
    names = [one.name for one in table.sensitive]
    for one in models:
        if isinstance(one, SensitiveModel) and one.column not in names:
            raise BadPlan(
                f"{one.name} is about the column {one.column!r}, which is not a sensitive column "
                f"of the table; give it the role sensitive{did_you_mean(one.column, names)}"
            )
    check_reachable(table, [one for one in models if isinstance(one, SensitiveModel)])


class _Run:
    """The state of a run: the published records, and the graph of possible matches."""

    graph: components.Graph
    edges: components.Edges

    def __init__(self, table: Table, loss: Loss, progress: Progress) -> None:
        self.table, self.progress = table, progress
        start = tally(table.codes)
        costs = exact_costs(loss, table.domains, table.rows)
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

    def settle(self, limits: _Limits, visit: Callable[[], Longs]) -> bool:
        """Add matches until no limit is exceeded; False if it is not reached in this way.

        A record that is too likely a person's becomes less so by other records that could be
        theirs. Who needs more again gets twice as many: the table is not weighed too often.
        """
        many = np.ones(len(self.tuples.size), np.int64)
        for _ in range(ROUNDS):
            self.diversify(limits.values, visit)
            if not limits.weighed:
                return True
            causes = self._too_sure(limits)
            if not causes:
                return True
            if not sum(self._spread(one, visit(), many) for one in causes):
                return False
        return False

    def _too_sure(self, limits: _Limits) -> list[_Cause]:
        """Of whom an attacker is too sure, and why; if of nobody, judged as the release will be.

        Limits that hold by chance for some samples are thus judged by others.
        """
        linkage = link(self.table, self._as_published())
        return self._causes(linkage, limits, TRIAL) or self._causes(linkage, limits, SEED)

    def _causes(self, linkage: MatchGraph, limits: _Limits, seed: int) -> list[_Cause]:
        """Of whom an attacker is too sure by the samples of a seed; none if all are counted."""
        of_record, causes = linkage.original.label, []
        sampled = weigh(linkage, self.progress, seed).sampled_people
        if seed != SEED and not sampled:
            return []
        if limits.belief is not None:
            fails = weigh(linkage, seed=seed).highest() > limits.belief + TOLERANCE
            nothing = np.zeros(self.table.rows, np.int32)
            causes.append(_Cause(fails[of_record], nothing, np.full(self.table.rows, -1)))
        for model in limits.values:
            if model.by_share:
                view = weighed_values(linkage, model.column, seed)
                histogram = view.histograms[model.column]
                fails = ~model.satisfied(view)
                top = _most_likely(histogram)[of_record]
                causes.append(_Cause(fails[of_record], histogram.column.codes, top))
        return [cause for cause in causes if cause.fails.any()]

    def _as_published(self) -> Published:
        """The records as a reader of the release would see them."""
        codes = self.layout.restored(self.classes.vector[self.groups.of])
        for j, tree in enumerate(self.table.trees):
            if (missing := tree.node(None)) >= 0:
                codes[codes[:, j] == missing, j] = -1
        labels = tuple(list(tree.labels) for tree in self.table.trees)
        return Published(self.table.names, codes, labels, None, tuple(self.table.sensitive))

    def _spread(self, cause: _Cause, order: Longs, many: Longs) -> int:
        """New matches for these people, and twice as many the next time; returns how many."""
        people = order[cause.fails[order]]
        wanted = diversify.Wanted(
            cause.secret, 0, 0.0, np.zeros(int(cause.secret.max()) + 1, np.int64)
        )
        total = 0
        for part in self._parts("concealing", len(people)):
            asked = people[part]
            self.index, self.edges, made = spread.spread(
                self.index, self.trees, self.classes, self.groups, self.tuples, self.original,
                self.graph, self.edges, asked, cause.unwanted[asked], many[self.original[asked]],
                wanted, self.start, self.records, self.fan, self.stack,
            )  # fmt: skip
            total += made
        again = np.unique(self.original[people])
        many[again] = np.minimum(2 * many[again], MOST_NEW)
        return total

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
        vectors = self.classes.vector[self.groups.of]
        label, first, _ = group_rows(vectors)
        return Recoding(self.layout.restored(vectors[first]), label)


def _given(begin: Longs, fits: Ints, label: Longs, original: Longs) -> Longs:
    """The perfect matching of every original with its own published record, as counts of pairs."""
    tuples = int(original.max()) + 1
    key = np.repeat(np.arange(len(begin) - 1), np.diff(begin)) * tuples + fits
    place = np.argsort(key)
    given = np.zeros(len(fits), np.int64)
    np.add.at(given, place[np.searchsorted(key, label * tuples + original, sorter=place)], 1)
    return given
