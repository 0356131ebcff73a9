"""Information kept: how much a published value says about the original one, per column.

It is the mutual information of both, in percent of the entropy of the original values. If it is
known which record became which, the pairs are counted. Otherwise only the frequencies of both are
known, and a lower bound is proven: of all ways to pair the records in which every published value
covers its original, none has less information.

The way with the least information has the most entropy, and is of the form a[x] b[y] over all pairs
that fit, which iterative proportional fitting finds (Deming, Stephan 1940). Its dual is a bound for
any a and b, so also before the fit is complete: no distribution p of the pairs with these
frequencies has more entropy than log Σ a[x] b[y] - Σ p(x) log a[x] - Σ p(y) log b[y], because its
divergence from a[x] b[y] / Σ is not negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.base.arrays import Floats, Longs
from shoal.hierarchies.free_values import Covers
from shoal.measures.analyses.variables import QuasiForm, Tables, published_codes
from shoal.table.encode import Table
from shoal.table.recoding import Recoding

ROUNDS = 100  # of the fit
CLOSE = 1e-9  # change of the bound at which it ends, in bits
MANY_PAIRS = 20_000_000


@dataclass(frozen=True)
class KeptFact:
    """The information that a column keeps."""

    column: str
    percent: float | None  # of the entropy of the original; None: it has none, or is not known
    at_least: bool  # whether it is a lower bound

    def as_dict(self) -> dict[str, Any]:
        """The numbers by the names of the JSON file."""
        return {"percent": self.percent, "at_least": self.at_least}


def kept_facts(tables: Tables, forms: list[QuasiForm]) -> list[KeptFact]:
    """The information that each quasi-identifier keeps."""
    found = []
    for j, form in enumerate(forms):
        if tables.recoding is not None:
            percent = _counted(tables.original, tables.recoding, j)
        else:
            percent = _bounded(tables, form, j)
        found.append(KeptFact(form.name, percent, tables.recoding is None))
    return found


def _counted(original: Table, recoding: Recoding, j: int) -> float | None:
    """From the recoding: pairs of an original and a published value; suppressed is the root."""
    size = original.trees[j].size + (len(recoding.covers[j]) if recoding.covers else 0)
    x, y = original.codes[:, j].astype(np.int64), recoding.column(j)
    pairs, place = np.unique(x * size + y, return_inverse=True)
    often = np.bincount(place, original.weight)
    before = entropy(np.bincount(pairs // size, often))
    after = entropy(np.bincount(pairs % size, often))
    return _percent(before + after - entropy(often), before)


def _bounded(tables: Tables, form: QuasiForm, j: int) -> float | None:
    """From the frequencies alone: a lower bound."""
    original, published = tables.original, tables.published
    had = original.domains[j].counts
    codes, covers = published_codes(published, form)
    has = np.bincount(codes, published.weight, form.tree.size + len(covers))
    has[0] += max(original.rows - published.rows, 0)
    before, after = entropy(had), entropy(has)
    pairs = _fitting(form, np.flatnonzero(had), np.flatnonzero(has), covers)
    if pairs is None or before == 0:
        return _percent(0.0, before) if before == 0 else None
    most = most_entropy(had[had > 0].astype(float), has[has > 0].astype(float), *pairs)
    return _percent(before + after - most, before)


def _fitting(form: QuasiForm, x: Longs, y: Longs, covers: Covers) -> tuple[Longs, Longs] | None:
    """The pairs of an original value and a published one that covers it, by their places.

    None if they are too many.
    """
    tree = form.tree
    place = np.full(tree.size + len(covers), -1, np.int64)
    place[y] = np.arange(len(y))
    here, at = x.copy(), np.arange(len(x))
    left, right = [], []
    while len(here):  # the value itself, its parent, … the root
        hit = place[here] >= 0
        left.append(at[hit])
        right.append(place[here[hit]])
        up = here > 0
        here, at = tree.parent[here[up]].astype(np.int64), at[up]
    if len(covers):
        start, leaf = covers.lists()
        if len(leaf) > MANY_PAIRS:
            return None
        known = np.full(tree.size, -1, np.int64)
        known[x] = np.arange(len(x))
        code = np.repeat(tree.size + np.arange(len(covers)), np.diff(start))
        both = (known[leaf] >= 0) & (place[code] >= 0)
        left.append(known[leaf[both]])
        right.append(place[code[both]])
    return np.concatenate(left), np.concatenate(right)


def most_entropy(had: Floats, has: Floats, left: Longs, right: Longs) -> float:
    """An upper bound on the entropy, in bits, of pairs with these frequencies.

    Only the pairs (left, right) of places may occur.
    """
    p, q = had / had.sum(), has / has.sum()
    a, b = p.copy(), np.ones(len(q))
    least = np.inf
    for _ in range(ROUNDS):
        b = q / np.maximum(np.bincount(right, a[left], len(q)), 1e-300)
        a = p / np.maximum(np.bincount(left, b[right], len(p)), 1e-300)
        total = float((a[left] * b[right]).sum())
        bound = np.log2(total) - float(p @ np.log2(a)) - float(q @ np.log2(b))
        if bound > least - CLOSE:
            break
        least = min(least, bound)
    return float(min(least, bound))


def entropy(often: Any) -> float:
    """The entropy of frequencies, in bits.

    >>> entropy([1, 1, 2])
    1.5
    """
    counts = np.asarray(often, np.float64)
    total = counts.sum()
    share = counts[counts > 0] / total
    return float(-(share * np.log2(share)).sum())


def _percent(information: float, before: float) -> float | None:
    return None if before <= 0 else max(0.0, min(100.0, 100.0 * information / before))
