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

    def run(self, times):
        """Moves during which each original had each class, and how often it entered the class."""
        self.time = np.zeros(self.fits.shape, np.int64)
        self.visits = np.zeros(self.fits.shape, np.int64)
        for _ in range(times):
            for i in range(len(self.owner)):
                for _ in range(2):
                    self.move(self.exchanged(i, self.one_of(self.covering[i])))
                for _ in range(4):
                    self.move(self.exchanged(self.one_of(self.covered[i]), i))
                self.move(self.walked(i))
        return self.time, self.visits

    def one_of(self, records):
        return records[int(self.rng.random() * len(records))]

    def move(self, held):
        """Count the matching before the move, and what the move changes."""
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

    def walked(self, i):
        """All records of the cycle that is closed first get what they requested."""
        held, path, wish = list(self.held), [], {}
        while i not in path:
            path.append(i)
            wish[i] = self.one_of(self.covering[i])
            i = self.held.index(wish[i])
        for one in path[path.index(i) :]:
            held[one] = wish[one]
        return held
