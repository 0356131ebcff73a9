"""Which record of the original each record of a release was, against naive code."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from shoal.table.matching import original_rows as module
from shoal.table.matching.original_rows import original_rows
from tests.attacks.dependent_tables import random_case


class Known:
    """A random release, its original, and what each person of both is."""

    def __init__(self, seed, people=16):
        self.case = case = random_case(seed, people, persons=seed % 3 == 0, weights=False)
        self.table, self.true = case.truth.table, case.truth.rows
        self.published = case.published
        n, m = len(self.table.codes), len(self.true)
        known = {}
        values = list(zip(*(case.cells[name] for name in case.unchanged), strict=True)) or [()] * n
        key = np.array([known.setdefault(one, len(known)) for one in values], np.int64)
        key = 0 * key if seed % 2 else key  # the fewer unchanged values, the less is sure
        self.before, self.after = key, key[self.true]
        both = self.table.people is not None and self.published.people is not None
        self.own = self.table.people if both else np.arange(n)
        self.theirs = self.published.people if both else np.arange(m)
        self.vectors, self.covers = self.published.vectors(self.table, "original")
        self.label = self.published.classes.label

    def covered(self, row, label):
        for j, tree in enumerate(self.table.trees):
            code, node = int(self.vectors[label, j]), int(self.table.codes[row, j])
            if code < tree.size:
                if not code <= node < tree.end[code]:
                    return False
            elif node not in tree.members(self.covers[j].covers[code - tree.size]):
                return False
        return True

    def person(self, who):
        """The records of a person of the original: unchanged values and quasi-identifiers."""
        rows = np.flatnonzero(self.own == who).tolist()
        return tuple(sorted((int(self.before[r]), *self.table.codes[r].tolist()) for r in rows))

    def place(self, who):
        """The records of a person of the release: unchanged values and class."""
        rows = np.flatnonzero(self.theirs == who).tolist()
        return tuple(sorted((int(self.after[r]), int(self.label[r])) for r in rows))

    def fits(self, who, other):
        """Whether a person of the release may be one of the original."""
        rows, place = np.flatnonzero(self.own == who).tolist(), self.place(other)
        same = sorted(int(self.before[r]) for r in rows) == [key for key, _ in place]
        return same and all(self.covered(r, place[0][1]) for r in rows)


def unsure(known):
    """People of the release at places that may be filled otherwise, by trying it."""
    them, us = range(int(known.theirs.max()) + 1), range(int(known.own.max()) + 1)
    fits = np.array([[known.fits(who, other) for who in us] for other in them])
    kinds, places = [known.person(who) for who in us], [known.place(who) for who in them]
    many = 0
    for place in set(places):
        here = np.array([one == place for one in places])
        for kind in set(kinds):
            counted = here[:, None] & np.array([one == kind for one in kinds])[None, :]
            ends = []
            for sign in (1, -1):  # the fewest of this kind, and the most
                cost = np.where(fits, sign * counted, len(us) + 1)
                row, column = linear_sum_assignment(cost)
                assert fits[row, column].all()
                ends.append(counted[row, column].sum())
            if ends[0] != ends[1]:
                many += here.sum()
                break
    return many


@pytest.mark.parametrize("seed", range(60))
def test_agrees_with_naive_code(seed):
    known = Known(seed)
    apart = {who: {k for _, k in known.place(who)} for who in set(known.theirs.tolist())}
    found = original_rows(known.table, known.published, known.before, known.after)
    if any(len(classes) > 1 for classes in apart.values()):
        assert found is None  # a person in several classes
        return
    assert found is not None
    rows = found.rows
    assert len(set(rows.tolist())) == len(rows)
    assert (known.before[rows] == known.after).all()
    assert all(known.covered(row, label) for row, label in zip(rows, known.label, strict=True))
    pairs = set(zip(known.own[rows].tolist(), known.theirs.tolist(), strict=True))
    assert len(pairs) == len(apart)  # one person each
    naive = unsure(known)
    assert found.unsure >= naive
    assert (found.unsure > 0) == (naive > 0)
    if not found.unsure:  # then it is the truth, but for people who are alike

        def each(rows):
            return Counter(
                (known.person(known.own[r]), known.place(who))
                for r, who in zip(rows.tolist(), known.theirs.tolist(), strict=True)
            )

        assert each(rows) == each(known.true)


def test_the_tables_are_of_all_kinds():
    """Some are sure, some are not, and some have people with several records."""
    found = [
        (one, original_rows(one.table, one.published, one.before, one.after))
        for one in map(Known, range(60))
    ]
    some = [(one, match) for one, match in found if match is not None]
    assert sum(match.unsure == 0 for _, match in some) > 10
    assert sum(match.unsure > 0 for _, match in some) > 5
    assert sum(len(set(one.theirs.tolist())) < len(one.theirs) for one, _ in some) > 3
    assert sum(len(match.rows) < len(one.before) for one, match in some) > 2


def test_blocks_do_not_matter(monkeypatch):
    known = list(map(Known, range(8)))
    asked = [(one.table, one.published, one.before, one.after) for one in known]
    before = [original_rows(*one) for one in asked]
    monkeypatch.setattr(module, "AT_A_TIME", 3)
    for one, expected in zip(asked, before, strict=True):
        found = original_rows(*one)
        assert (found is None) == (expected is None)
        assert found is None or (found.rows == expected.rows).all()


def test_another_original_does_not_fit(monkeypatch):
    known = Known(1)
    assert original_rows(known.table, known.published, known.before + 1, known.after) is None
    assert original_rows(known.table, known.published, known.before, known.after) is not None
    monkeypatch.setattr(module, "MOST_PAIRS", 2)
    assert original_rows(known.table, known.published, known.before, known.after) is None
