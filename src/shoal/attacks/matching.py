"""The matching attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from pydantic import Field

from shoal.attacks import LinkageAttack
from shoal.attacks._chains import CHAINS, Chain, sampled
from shoal.attacks._matches import Matches, matches_of
from shoal.attacks._words import Label
from shoal.base.arrays import Floats, Longs
from shoal.base.progress import Progress, silent
from shoal.base.settings import NotNegative, Share
from shoal.base.wording import percent
from shoal.table.match_graph import MatchGraph

BATCHES = 5  # per chain, for the error
# Where burn-in finds a probability of more than this share of `sure`, the chains look closer: at
# one in so many originals at most.
CLOSER, MOST_CLOSER = 0.8, 8
MOST_EXACT = 16  # with more records, counts could exceed a float64


class Matching(LinkageAttack):
    """Which record is most likely a person's, over all perfect matchings of people and records?

    The attacker knows the quasi-identifiers of all people. The probability that a published record
    is a person's is the share of perfect matchings that pair them (Sec. 5.2, Tassa 2012).
    k-concealment leaves everybody k possible records, but they need not be equally likely. The
    paper considers counting infeasible, which is true; sampling is feasible. Strongly connected
    components are independent. Components of up to `exact` records are counted exactly, and larger
    ones too if enough records are published alike to have no more than 2 ** `exact` states. In the
    others, Markov chains sample perfect matchings: two chains start from a perfect matching, and
    together sweep over all records `samples` / 4 times for burn-in, then `samples` times. People
    who seem to be exposed then are requested more often, as they rarely move.

    Each chain finds each person's most likely record, and the other one estimates its probability,
    so that records are not chosen for their errors. The error is that of batch means, together with
    1 / (visits + 1): a pair that the chain rarely visited is uncertain even if its batches agree.
    It is not proven that the chains have mixed. Compared with chains ten times as long on two
    releases of Adult, 2 to 4 in 100 estimates of the same pairs differed by more than three errors,
    and of 379 people on whom the attack succeeded on one of them, 10 had a probability of at most
    one half: the errors are somewhat too small.

    The attack succeeds on people for whom some record has a probability of more than `sure`, by
    more than three errors. `people_above_one_in_fewest` counts the people whom k-anonymity, with
    the k that the release reaches, would protect better.
    """

    name: ClassVar[str] = "matching"
    in_short: ClassVar[str] = "one record is likely theirs"
    count_key: ClassVar[str] = "people"
    labels: ClassVar[Mapping[str, Label]] = {
        "largest_probability": Label(
            "probability of the best guess, for the most exposed person found", unit="share"
        ),
        "error": Label("… its standard error, from sampling", unit="share"),
        "mean_largest_probability": Label(
            "probability of the best guess, on average over all people", unit="share"
        ),
        "mean_if_equally_likely": Label(
            "… if all possible records were equally likely", unit="share"
        ),
        "people_above_equally_likely": Label("people with a record that is more likely than that"),
        "fewest_left": Label("fewest records that remain for a person"),
        "people_above_one_in_fewest": Label(
            "people with a record that is more likely than one in the fewest"
        ),
        "people": Label("people on whom it succeeds"),
        "percent": Label("… as a share of all people", unit="percent"),
        "exact_people": Label("people whose assignments were counted, not sampled"),
        "samples": Label("sampled assignments of the other people"),
    }
    samples: int = Field(
        default=60,
        ge=2 * CHAINS * BATCHES,
        description="how many perfect matchings are sampled (more for small tables)",
    )
    exact: int = Field(
        default=12,
        ge=0,
        le=MOST_EXACT,
        description="components of up to so many records are counted instead of sampled",
    )
    sure: Share = Field(
        default=0.5,
        description="the attack succeeds if a record is a person's with a higher probability",
    )
    seed: NotNegative = Field(default=0, description="random seed of the samples")

    def about(self, linked: bool = False) -> str:  # noqa: ARG002
        """What the attacker knows and does."""
        return (
            "The attacker knows the quasi-identifiers of all people, and counts in how many "
            "complete assignments of people to records a record is a person's: the most likely "
            "one is the best guess."
        )

    def success(self, linked: bool = False, people: bool = False) -> str:  # noqa: ARG002
        """When the attack succeeds."""
        return (
            "It succeeds where the best guess is right with a probability of more than "
            f"{percent(100 * self.sure)}, whatever the sampling error."
        )

    def headline(self, found: Mapping[str, Any], column: str | None, linked: bool = False) -> str:  # noqa: ARG002
        """The share of people with a very likely record."""
        return (
            f"For {self.share(found)} of the people one record is theirs with a probability of "
            f"more than {percent(100 * self.sure)}, for an attacker who knows everybody's "
            "quasi-identifiers."
        )

    def detail(self, found: Mapping[str, Any]) -> str:
        """The probability of the most likely record."""
        largest, mean = found.get("largest_probability"), found.get("mean_largest_probability")
        if largest is None:
            return ""
        average = "" if mean is None else f", {percent(100 * mean)} on average"
        return f"most likely record: {percent(100 * largest)} or more{average}"

    def advice(self, column: str | None) -> str:  # noqa: ARG002
        """Another algorithm: a larger k leaves more records possible, but not equally likely."""
        return (
            "peel with k-anonymity, or freeform with k-belief, lowers it at less loss than a "
            "larger k of k-concealment; concealment satisfies matching-belief, which limits it"
        )

    @property
    def each(self) -> int:
        """Sweeps in a batch of a chain."""
        return self.samples // (CHAINS * BATCHES)

    def run_on(self, linkage: MatchGraph, progress: Progress = silent) -> dict[str, Any]:
        """The probabilities of people's most likely records."""
        graph = matches_of(linkage, self.exact)
        likely = self.likeliest(graph, progress)
        people, even = graph.originals, 1.0 / graph.degree
        surely = likely.chance - 3.0 * likely.error
        largest, error = likely.largest
        fewest = int(graph.degree.min())
        everybody = int(people.sum())
        found = int(people[surely > self.sure + 1e-9].sum())
        return {
            "largest_probability": largest,
            "error": error,
            "mean_largest_probability": float(likely.chance @ people) / everybody,
            "mean_if_equally_likely": float(even @ people) / everybody,
            "people_above_equally_likely": int(people[surely > even + 1e-9].sum()),
            "fewest_left": fewest,
            "people_above_one_in_fewest": int(people[surely > 1.0 / fewest + 1e-9].sum()),
            "people": found,
            "percent": 100.0 * found / everybody,
            "exact_people": everybody - graph.sampled_people,
            "samples": CHAINS * BATCHES * self.each * graph.ease if graph.sampled_people else 0,
        }

    def of_rows(self, linkage: MatchGraph) -> Floats:
        """For each class the probability that the person of one of its records is found.

        It is that of the person who most likely has the record, float64[classes].
        """
        graph = matches_of(linkage, self.exact)
        chance = np.zeros(len(graph.classes))
        np.maximum.at(chance, graph.group, self.likeliest(graph).each)
        found = np.empty_like(chance)
        found[graph.published] = chance
        return np.maximum(found, 1.0 / linkage.owners)  # at least that of a blind guess

    def likeliest(self, graph: Matches, progress: Progress = silent) -> Likeliest:
        """The most likely record of each original."""
        share = graph.solved()  # float64[pairs]
        size = graph.classes[graph.group]
        if not graph.sampled_people:
            chance = share / size
            pair = graph.largest(chance)
            nothing = np.zeros(len(pair))
            return Likeliest(chance[pair], nothing, (float(chance[pair].max()), 0.0), chance)
        looks = self._look(graph, progress)
        each = [share.copy() for _ in looks]
        for mine, look in zip(each, looks, strict=True):
            mine[: graph.pairs] = look.total / BATCHES
            mine /= size
        top = [graph.largest(mine) for mine in each]
        # What a chain found most likely is judged by the other one.
        judged = [_judged(graph, top[c], looks[1 - c], each[1 - c]) for c in range(CHAINS)]
        both = judged[0].together(judged[1])
        first = [_most_exposed(graph, top[c], looks[c], each[c]) for c in range(CHAINS)]
        person = first[0]
        alike = first[1] == person and top[0][person] == top[1][person]
        last = both if alike else judged[0]
        largest = float(last.mean[person]), float(last.error[person])
        return Likeliest(both.mean, both.error, largest, np.mean(each, axis=0))

    def _look(self, graph: Matches, progress: Progress) -> list[_Look]:
        """What each chain counts."""
        each = self.each * graph.ease
        burn_in = -(-each * BATCHES // 4)

        def look(chain: Chain) -> _Look:
            total, squares = np.zeros((2, graph.pairs))
            visits = np.zeros(graph.pairs, np.int64)
            for _ in range(BATCHES):
                share, often = chain.run(each)
                total += share
                squares += share * share
                visits += often
            return _Look(total, squares, visits)

        sweeps = burn_in, each * BATCHES
        closer = CLOSER * self.sure, MOST_CLOSER
        return sampled(graph, self.seed, sweeps, closer, look, progress)


class _Look(NamedTuple):
    """What a chain counted in its batches; a share is of the time that a record spent in a pair."""

    total: Floats  # float64[pairs], of the shares
    squares: Floats  # float64[pairs], of the shares
    visits: Longs  # int64[pairs]


class _Judged(NamedTuple):
    """What batches say about one pair of each original."""

    batches: Floats  # float64[originals], their number; 0 where matchings were counted
    mean: Floats  # float64[originals], of the probability of one record
    squares: Floats  # float64[originals], the sum of their squared differences from the mean
    visits: Floats  # float64[originals]
    unsure: Floats  # float64[originals], the error if there had been no visit

    @property
    def error(self) -> Floats:
        """The standard error of the mean."""
        many = np.maximum(self.batches, 2.0)
        spread = np.sqrt(self.squares / (many * (many - 1.0)))
        return np.asarray(np.hypot(spread, self.unsure / (self.visits + 1.0)))

    def together(self, other: _Judged) -> _Judged:
        """What the batches of both say: with as many batches each."""
        apart = (self.mean - other.mean) / 2.0
        return _Judged(
            self.batches + other.batches,
            (self.mean + other.mean) / 2.0,
            self.squares + other.squares + 2.0 * self.batches * apart * apart,
            self.visits + other.visits,
            np.maximum(self.unsure, other.unsure),
        )


def _unsure(graph: Matches, pair: Longs) -> Floats:
    """The largest error that a sampled original can have; none if nothing else is possible."""
    unsure = 1.0 / graph.classes[graph.group[pair]]
    unsure[np.diff(graph.start) == 1] = 0.0
    unsure[graph.sampled[0] :] = 0.0
    return unsure


def _judged(graph: Matches, pair: Longs, look: _Look, each: Floats) -> _Judged:
    """What a chain says about one pair of each original; `each` is its probability of all pairs."""
    batches, squares, visits = np.zeros((3, len(pair)))
    part = slice(graph.sampled[0])
    asked = pair[part]
    size = graph.classes[graph.group[asked]]
    batches[part] = BATCHES
    apart = look.squares[asked] - look.total[asked] ** 2 / BATCHES
    squares[part] = np.maximum(apart, 0.0) / size**2
    visits[part] = look.visits[asked]
    return _Judged(batches, each[pair], squares, visits, _unsure(graph, pair))


def _most_exposed(graph: Matches, pair: Longs, look: _Look, each: Floats) -> int:
    """The original whose most likely record is most likely, as far as a chain is sure of it."""
    mine = _judged(graph, pair, look, each)
    return int(np.argmax(mine.mean - 3.0 * mine.error))


@dataclass(frozen=True, eq=False)
class Likeliest:
    """The most likely record of each original."""

    chance: Floats  # float64[originals], its probability
    error: Floats  # float64[originals], of `chance`
    largest: tuple[float, float]  # the same of the most exposed original, chosen by other samples
    each: Floats  # float64[pairs], of one record of its class
