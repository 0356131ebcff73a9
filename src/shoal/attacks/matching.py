"""The matching attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.attacks import LinkageAttack
from shoal.attacks._chains import Chain, run_together
from shoal.attacks._matches import Matches, matches_of
from shoal.attacks._words import Label
from shoal.base.arrays import Floats, Longs
from shoal.base.progress import Progress, silent
from shoal.base.settings import NotNegative, Share
from shoal.base.wording import percent
from shoal.table.match_graph import MatchGraph

CHAINS = 2  # chains that choose the most likely records, and as many that judge them
BATCHES = 5  # per chain, for the error
MOST_EXACT = 16  # with more records, counts could exceed a float64


class Matching(LinkageAttack):
    """Which record is most likely a person's, over all perfect matchings of people and records?

    The attacker knows the quasi-identifiers of all people. The probability that a published record
    is a person's is the share of perfect matchings that pair them (Sec. 5.2, Tassa 2012).
    k-concealment leaves everybody k possible records, but they need not be equally likely. The
    paper considers counting infeasible, which is true; sampling is feasible. Strongly connected
    components are independent. Components of up to `exact` records are counted exactly, and larger
    ones too if enough records are published alike to have no more than 2 ** `exact` states. In the
    others, Markov chains sample perfect matchings: four chains start from a perfect matching, and
    together sweep over all records `samples` / 2 times for burn-in, then `samples` times.

    Two chains find each person's most likely record, the other two estimate its probability, so
    that records are not chosen for their errors. The error is that of batch means, but at least
    1 / (visits + 1): a pair that the chain rarely visited is uncertain even if its batches agree.
    It is not proven that the chains have mixed. Compared with chains 8 to 13 times as long on three
    releases of Adult, 1 to 2 in 100 estimates of the same pair differed by more than three errors:
    the errors are somewhat too small.

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

    @property
    def each(self) -> int:
        """Sweeps in a batch of a chain."""
        return self.samples // (2 * CHAINS * BATCHES)

    def run_on(self, linkage: MatchGraph, progress: Progress = silent) -> dict[str, Any]:
        """The probabilities of people's most likely records."""
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
        visits = np.zeros(len(share))
        each = self.each * graph.ease
        rngs = np.random.default_rng(self.seed).spawn(2 * CHAINS)
        chains = [Chain(graph, rng) for rng in rngs] if graph.sampled_people else []

        def look(chain: Chain) -> tuple[Floats, Longs]:
            chain.burn_in(-(-each * BATCHES // 2))
            return chain.run(each * BATCHES)

        if chains:
            sweeps = each * BATCHES + -(-each * BATCHES // 2)
            seen = run_together(
                look, chains[:CHAINS], sweeps, lambda x: progress("sampling", x / 2)
            )
            share[: graph.pairs] = np.mean([one for one, _ in seen], axis=0)
            visits[: graph.pairs] = np.sum([one for _, one in seen], axis=0)
        size = graph.classes[graph.group]
        top = np.lexsort((-share / size, graph.of_original))[graph.start[:-1]]  # int64[originals]
        chance, error = share[top] / size[top], np.zeros(len(top))
        part = slice(graph.sampled[0])
        wanted = top[part]
        # With a single class nothing else is possible.
        unsure = np.where(np.diff(graph.start)[part] == 1, 0.0, 1.0 / size[wanted])
        rank = chance.copy()
        rank[part] -= 3.0 * unsure / (visits[wanted] + 1.0)

        def judge(chain: Chain) -> tuple[Floats, Longs]:
            chain.burn_in(-(-each * BATCHES // 2))
            runs = [chain.run(each, graph.group[wanted]) for _ in range(BATCHES)]
            entered = np.array([often for _, often in runs])
            return np.array([held for held, _ in runs]), entered.sum(axis=0)

        if chains:
            judged = run_together(
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
    chance: Floats  # float64[originals], probability of one record of that class
    error: Floats  # float64[originals], of `chance`
    rank: Floats  # float64[originals], to choose the largest from other samples
    each: Floats  # float64[pairs], of one record of its class, from fewer samples
