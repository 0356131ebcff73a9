"""The matching attack."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any, ClassVar

import numpy as np
from pydantic import field_validator

from shoal.attacks import LinkageAttack
from shoal.base.arrays import Floats, Ints, Longs
from shoal.base.pace import INTERVAL, Pace, parts
from shoal.base.progress import Progress, silent
from shoal.kernels.matching.matchings import Side, State, solve, sweep, write_down
from shoal.table.match_graph import MatchGraph

CHAINS = 2  # that choose whom to look at, and as many that judge
BATCHES = 5  # of a chain, for the error
EASY = 40_000  # people in components that are sampled; with fewer there is time for more samples
MOST_EXACT = 16  # beyond it, counts could pass what a float64 holds


class Matching(LinkageAttack):
    """Somebody knows all originals and weighs the records that could be a person's: which is it?

    The chance that a published record is a person's is the share of perfect matchings that pair
    them (Sec. 5.2, Tassa 2012). k-concealment leaves everybody k records that could be theirs,
    but not equally likely ones; the paper holds counting for infeasible, and so it is. Sampling is
    not. Strongly connected components are independent; those of up to `exact` records are
    counted exactly, and larger ones too if published alike enough to have no more states
    (2 ** `exact`). In the others perfect matchings are drawn by Markov chains that begin with one
    that fits, sweep over all records half as often as `samples` says unwatched, and then
    `samples` times watched, in equal parts by four chains.

    Two chains find each person's most likely record, the other two say how likely it is, so that
    it is not chosen for its error. The error is that of batch means, and no smaller than
    1 / (visits + 1): a pair which the chain rarely entered is not known, however still it stood.
    That the chains have forgotten where they began is not proven. Beside chains eight to thirteen
    times as long on three releases of Adult, one to two in a hundred estimates of the same pair
    differed by more than three errors: the errors are somewhat too small.

    The attack succeeds on people for whom some record is theirs with a chance of more than
    `sure`, by more than three errors. `people_above_one_in_fewest` are those whom k-anonymity with
    the k that the release reaches would have protected better.
    """

    name: ClassVar[str] = "matching"
    samples: int = 60
    exact: int = 12
    sure: float = 0.5
    seed: int = 0

    @field_validator("samples")
    @classmethod
    def _some(cls, samples: int) -> int:
        least = 2 * CHAINS * BATCHES
        if samples < least:
            raise ValueError(f"needs samples of {least} or more, got samples={samples}")
        return samples

    @field_validator("exact")
    @classmethod
    def _countable(cls, exact: int) -> int:
        if not 0 <= exact <= MOST_EXACT:
            raise ValueError(f"needs exact between 0 and {MOST_EXACT}, got exact={exact}")
        return exact

    @field_validator("sure")
    @classmethod
    def _chance(cls, sure: float) -> float:
        if not 0 <= sure <= 1:
            raise ValueError(f"needs sure between 0 and 1, got sure={sure:g}")
        return sure

    @field_validator("seed")
    @classmethod
    def _not_negative(cls, seed: int) -> int:
        if seed < 0:
            raise ValueError(f"needs seed of 0 or more, got seed={seed}")
        return seed

    @property
    def each(self) -> int:
        """Sweeps in a batch of a chain."""
        return self.samples // (2 * CHAINS * BATCHES)

    def run_on(self, linkage: MatchGraph, progress: Progress = silent) -> dict[str, Any]:
        """How likely people's most likely records are theirs."""
        graph = matches_of(linkage, self.exact)
        likely = self.likeliest(graph, progress)
        people, even = graph.originals, 1.0 / graph.degree
        surely = likely.chance - 3.0 * likely.error
        best = int(np.argmax(likely.rank))
        fewest = int(graph.degree.min())
        everybody = int(people.sum())
        found = int(people[surely > self.sure + 1e-9].sum())
        return {
            "largest_probability": float(likely.chance[best]),
            "error": float(likely.error[best]),
            "mean_largest_probability": float(likely.chance @ people) / everybody,
            "mean_if_equally_likely": float(even @ people) / everybody,
            "people_above_equally_likely": int(people[surely > even + 1e-9].sum()),
            "fewest_left": fewest,
            "people_above_one_in_fewest": int(people[surely > 1.0 / fewest + 1e-9].sum()),
            "people": found,
            "percent": 100.0 * found / everybody,
            "exact_people": everybody - graph.sampled_people,
            "samples": 2 * CHAINS * BATCHES * self.each * graph.ease if graph.sampled_people else 0,
        }

    def of_rows(self, linkage: MatchGraph) -> Floats:
        """For each class the chance that one of its records is found to be its person's.

        That of the person who most likely has it, float64[classes].
        """
        graph = matches_of(linkage, self.exact)
        chance = np.zeros(len(graph.classes))
        np.maximum.at(chance, graph.group, self.likeliest(graph).each)
        found = np.empty_like(chance)
        found[graph.published] = chance
        return np.maximum(found, 1.0 / linkage.owners)  # never less than a blind guess

    def likeliest(self, graph: Matches, progress: Progress = silent) -> Likeliest:
        """The most likely record of each original."""
        share = graph.solved()  # float64[pairs]
        visits = np.zeros(len(share))
        each = self.each * graph.ease
        rngs = np.random.default_rng(self.seed).spawn(2 * CHAINS)
        chains = [_Chain(graph, rng) for rng in rngs] if graph.sampled_people else []

        def look(chain: _Chain) -> tuple[Floats, Longs]:
            chain.run(-(-each * BATCHES // 2))
            return chain.run(each * BATCHES)

        if chains:
            sweeps = each * BATCHES + -(-each * BATCHES // 2)
            seen = _at_once(look, chains[:CHAINS], sweeps, lambda x: progress("sampling", x / 2))
            share[: graph.pairs] = np.mean([one for one, _ in seen], axis=0)
            visits[: graph.pairs] = np.sum([one for _, one in seen], axis=0)
        size = graph.classes[graph.group]
        top = np.lexsort((-share / size, graph.of_original))[graph.start[:-1]]  # int64[originals]
        chance, error = share[top] / size[top], np.zeros(len(top))
        part = slice(graph.sampled[0])
        wanted = top[part]
        # With a single class there is nothing that could have been seen otherwise.
        unsure = np.where(np.diff(graph.start)[part] == 1, 0.0, 1.0 / size[wanted])
        rank = chance.copy()
        rank[part] -= 3.0 * unsure / (visits[wanted] + 1.0)

        def judge(chain: _Chain) -> tuple[Floats, Longs]:
            chain.run(-(-each * BATCHES // 2))
            runs = [chain.run(each) for _ in range(BATCHES)]
            entered = np.array([often[wanted] for _, often in runs])
            return np.array([held[wanted] for held, _ in runs]), entered.sum(axis=0)

        if chains:
            judged = _at_once(
                judge, chains[CHAINS:], sweeps, lambda x: progress("sampling", 0.5 + x / 2)
            )
            batches = np.concatenate([one for one, _ in judged]) / size[wanted]
            entered = np.sum([one for _, one in judged], axis=0)
            spread = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
            chance[part] = batches.mean(axis=0)
            error[part] = np.maximum(spread, unsure / (entered + 1.0))
        return Likeliest(top, chance, error, rank, share / size)


@dataclass(frozen=True, eq=False)
class Likeliest:
    """The most likely record of each original."""

    pair: Longs  # int64[originals], the pair with its class
    chance: Floats  # float64[originals], of one record of that class
    error: Floats  # float64[originals], of the chance
    rank: Floats  # float64[originals], by which the largest is chosen: not by the same samples
    each: Floats  # float64[pairs], the chance of one record of its class, by fewer samples


@dataclass(frozen=True, eq=False)
class Matches:
    """The matches of a graph, component by component: first those to be sampled."""

    originals: Longs  # int64[originals], records of each
    classes: Longs  # int64[classes], published records of each
    start: Longs  # int64[originals + 1]
    group: Longs  # int64[pairs], the class of each pair
    given: Longs  # int64[pairs], records of the original that hold the class in some matching
    sampled: tuple[int, int]  # how many originals and how many classes are sampled
    first: Longs  # int64[components, 2], first original and class of each solved component
    last: Longs  # int64[components, 2]
    original: Longs  # int64[originals], the number in the linkage
    published: Longs  # int64[classes], the number in the linkage

    @cached_property
    def of_original(self) -> Longs:
        """The original of each pair, int64[pairs]."""
        return np.repeat(np.arange(len(self.originals)), np.diff(self.start))

    @cached_property
    def degree(self) -> Longs:
        """Matches of each original, int64[originals]."""
        return np.add.reduceat(self.classes[self.group], self.start[:-1])

    @property
    def sampled_people(self) -> int:
        """Records in components that are too large to be counted."""
        return int(self.originals[: self.sampled[0]].sum())

    @property
    def ease(self) -> int:
        """How many times as often a graph can be swept as one of the size of Adult."""
        return int(np.clip(EASY // max(self.sampled_people, 1), 1, 32))

    @property
    def pairs(self) -> int:
        """Pairs in those components."""
        return int(self.start[self.sampled[0]])

    def solved(self) -> Floats:
        """The share of matchings in which a record holds the class, where it is counted."""
        share = np.zeros(len(self.group))
        for part in parts(len(self.first)):
            solve(
                self.start, self.group, self.originals, self.classes, self.first, self.last, share,
                *part,
            )  # fmt: skip
        return share

    @cached_property
    def sides(self) -> tuple[Side, Side, Ints]:
        """The sampled originals and classes, and which pair of the former each of the latter is."""
        m, p = self.sampled
        o, g = self.of_original[: self.pairs], self.group[: self.pairs]
        twin = np.lexsort((o, g))
        one = _side(self.originals[:m], o, g, self.classes[:p])
        other = _side(self.classes[:p], g[twin], o[twin], self.originals[:m])
        return one, other, twin.astype(np.int32)


def _side(size: Longs, group: Longs, other: Longs, sizes: Longs) -> Side:
    """One side: its groups' sizes, the pairs sorted by group, the sizes on the other side."""
    m = len(size)
    start = np.append(0, np.cumsum(np.bincount(group, minlength=m)))
    upto = np.append(0, np.cumsum(sizes[other]))
    return Side(
        np.repeat(np.arange(m, dtype=np.int32), size),
        start,
        other.astype(np.int32),
        (upto[:-1] - upto[start[group]]).astype(np.int32),
        np.diff(upto[start]),
        np.cumsum(size) - size,
    )


def matches_of(linkage: MatchGraph, exact: int) -> Matches:
    """Sort the matches of a graph by component, those to be sampled first."""
    of_original, of_class = linkage.components
    many = int(of_original.max()) + 1
    bits = np.bincount(of_class, np.log2(linkage.classes.size + 1), many)
    countable = (bits <= exact + 1e-9) | (np.bincount(of_class, minlength=many) == 1)
    place = np.empty(many, np.int64)
    place[np.argsort(countable, kind="stable")] = np.arange(many)
    component, owner = place[of_original], place[of_class]
    by, by_class = (np.argsort(one, kind="stable") for one in (component, owner))
    number, class_number = np.empty_like(by), np.empty_like(by_class)
    number[by], class_number[by_class] = np.arange(len(by)), np.arange(len(by_class))
    held = np.flatnonzero(linkage.match)
    o, g = number[linkage.fits[held]], class_number[linkage.of_class[held]]
    order = np.lexsort((g, o))
    both = component[by], owner[by_class]
    solved = np.arange(many - int(countable.sum()), many)  # every component has both sides
    first = np.stack([np.searchsorted(one, solved) for one in both], 1)
    last = np.stack([np.searchsorted(one, solved, "right") for one in both], 1)
    return Matches(
        linkage.original.size[by],
        linkage.classes.size[by_class],
        np.append(0, np.cumsum(np.bincount(o, minlength=len(by)))),
        g[order],
        linkage.given[held][order],
        (int((~countable[of_original]).sum()), int((~countable[of_class]).sum())),
        first,
        last,
        by,
        by_class,
    )


class _Chain:
    """A Markov chain over the perfect matchings of the sampled components."""

    def __init__(self, graph: Matches, rng: np.random.Generator) -> None:
        self.sides, self.rng = graph.sides, rng
        self.stop = Event()
        self.sweeps = 0
        self.pace = Pace()  # kept from run to run: a small graph is swept many times at once
        pair = np.repeat(np.arange(graph.pairs), graph.given[: graph.pairs])  # int64[n]
        n = len(pair)
        holder = np.argsort(graph.group[pair], kind="stable").astype(np.int32)
        held = np.empty(n, np.int32)
        held[holder] = np.arange(n)
        self.state = State(
            holder=holder,
            held=held,
            pair=pair,
            since=np.zeros(n, np.int64),
            time=np.zeros(graph.pairs, np.int64),
            visits=np.zeros(graph.pairs, np.int64),
            clock=np.zeros(1, np.int64),
            seen=np.zeros(n, np.int64),
            place=np.zeros(n, np.int32),
            path=np.zeros(n, np.int32),
            wish=np.zeros(n, np.int32),
            by=np.zeros(n, np.int64),
        )
        self.records = graph.originals[graph.of_original[: graph.pairs]]

    def run(self, times: int) -> tuple[Floats, Longs]:
        """Sweep; the share of time in which a record held each pair, and how often it came to."""
        state, before, at = self.state, self.sweeps, np.zeros(2, np.int64)
        state.time[:], state.visits[:] = 0, 0
        since = int(state.clock[0])
        while at[1] < times and not self.stop.is_set():
            sweep(*self.sides, state, at, times, self.pace.begin(), self.rng)
            self.pace.end()
            self.sweeps = before + int(at[1])
        write_down(state)
        return state.time / (self.records * (state.clock[0] - since)), state.visits.copy()


def _at_once(
    job: Callable[[_Chain], tuple[Floats, Longs]],
    chains: list[_Chain],
    sweeps: int,
    tell: Callable[[float], None],
) -> Any:
    """Run chains side by side; each has chance of its own, so the order does not matter.

    Tells what share of so many sweeps is done.
    """
    with ThreadPoolExecutor(len(chains)) as pool:
        try:
            jobs = [pool.submit(job, chain) for chain in chains]
            while wait(jobs, timeout=INTERVAL).not_done:
                tell(min(1.0, min(chain.sweeps for chain in chains) / sweeps))
            return [job.result() for job in jobs]
        except BaseException:  # Ctrl-C: the others need not go on
            for chain in chains:
                chain.stop.set()
            raise
