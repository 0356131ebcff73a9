"""Perfect matchings as they read: all permutations, and a Markov chain that counts every move."""

from __future__ import annotations

from itertools import permutations

import numpy as np


def perfect_matchings(covers):
    """All ways to give each record i a published record j of its own with covers[i, j]."""
    n = len(covers)
    return [p for p in permutations(range(n)) if all(covers[i, p[i]] for i in range(n))]


def chances(covers):
    """The share of perfect matchings that pair i with j, float64[n, n]."""
    found = perfect_matchings(covers)
    share = np.zeros(covers.shape)
    for given in found:
        share[np.arange(len(covers)), given] += 1
    return share / len(found)


class Random:
    """The random numbers of the chain: SplitMix64 with whole numbers of Python."""

    def __init__(self, state):
        self.state = state

    def random(self):
        most = 2**64 - 1
        self.state = z = (self.state + 0x9E3779B97F4A7C15) & most
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & most
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & most
        return ((z ^ (z >> 31)) >> 11) / 2**53


class Chain:
    """The Markov chain of the matching attack, with all records in lists.

    `owner` is the original of each record, `classes` the class of each published record, `fits`
    bool[originals, classes] who covers whom, and `held` the published record of each record.
    """

    def __init__(self, owner, classes, fits, held, rng):
        self.owner, self.classes, self.fits = owner, classes, fits
        self.held, self.rng = list(held), rng
        everybody = range(len(owner))
        self.covering = [[j for j in everybody if fits[owner[i], classes[j]]] for i in everybody]
        self.covered = [[i for i in everybody if fits[owner[i], classes[j]]] for j in everybody]
        self.moves = 0
        self.focus = [], []  # records and published records that make more requests

    def run(self, times, block=64, stride=37, rounds=4):
        """Moves during which each original had each class, and how often it entered the class."""
        self.time = np.zeros(self.fits.shape, np.int64)
        self.visits = np.zeros(self.fits.shape, np.int64)
        blocks = -(-len(self.owner) // block)
        step = stride if blocks % stride else 1
        for _ in range(times):
            for at in range(blocks):
                begin = at * step % blocks * block
                together = range(begin, min(begin + block, len(self.owner)))
                self.swaps(together, 1)
                self.offers(together, 2)
                for j in together[int(self.rng.random() * 8) :: 8]:
                    self.move(self.walked(j))
                each = max(1, blocks // rounds)
                if at % each == each - 1:
                    for moves, who, many in zip(
                        (self.swaps, self.offers), self.focus, (2, 4), strict=True
                    ):
                        for first in range(0, len(who), block):
                            moves(who[first : first + block], many)
        return self.time, self.visits

    def swaps(self, together, many):
        """So many times each of these records requests a published record."""
        for _ in range(many):
            asked = [self.one_of(self.covering[i]) for i in together]
            for i, j in zip(together, asked, strict=True):
                self.move(self.exchanged(i, j))

    def offers(self, together, many):
        """So many times each of these published records requests a record."""
        for _ in range(many):
            asked = [self.one_of(self.covered[j]) for j in together]
            for i, j in zip(asked, together, strict=True):
                self.move(self.exchanged(i, j))

    def one_of(self, records):
        return records[int(self.rng.random() * len(records))]

    def move(self, held):
        """Count the matching before the move, and what the move changes."""
        self.moves += 1
        for i, o in enumerate(self.owner):
            old, new = self.classes[self.held[i]], self.classes[held[i]]
            self.time[o, old] += 1
            self.visits[o, new] += old != new
        self.held = held

    def exchanged(self, i, j):
        """Record i gets published record j, if the record that has it can have that of i."""
        held, mine, other = list(self.held), self.held[i], self.held.index(j)
        if self.classes[mine] != self.classes[j] and mine in self.covering[other]:
            held[i], held[other] = j, mine
        return held

    def walked(self, j):
        """In the cycle that is closed first, every record gets what it requested.

        The last one requested a published record of the class of the first one, and gets that of
        the first one.
        """
        path = []
        while self.classes[j] not in [self.classes[old] for old in path]:
            path.append(j)
            j = self.one_of(self.covering[self.held.index(j)])
        cycle = path[[self.classes[old] for old in path].index(self.classes[j]) :]
        held = list(self.held)
        for mine, wanted in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            held[self.held.index(mine)] = wanted
        return held
