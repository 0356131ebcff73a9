"""Entropy measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.kernels.tree_sums import sum_below
from shoal.losses import Loss
from shoal.table.encode import Domain


class Entropy(Loss):
    """Bits missing to recover the original value from the published one (EM, Tassa 2012).

    The conditional entropy H(X | published value) of a column in this table, averaged over cells:
    the basic entropy measure. It can fall when a value is generalized: a node with one very
    frequent value below it has a low entropy.
    """

    name: ClassVar[str] = "entropy"
    counts: ClassVar[str] = (
        "the bits that are missing to recover the exact value, for an attacker who knows how "
        "frequent each value is in this table"
    )
    monotone: ClassVar[bool] = False

    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """The root's entropy minus the node's, divided by the number of columns."""
        costs = []
        for domain in domains:
            bits = entropy_below(domain)
            costs.append((bits[0] - bits) / len(domains))
        return costs


def entropy_below(domain: Domain) -> Floats:
    """H(X | X is below the node) in bits, for every node."""
    counts = domain.counts.astype(np.float64)
    terms = counts * np.log2(counts, out=np.zeros_like(counts), where=counts > 0)
    total = sum_below(domain.tree.parent, counts)
    spread = sum_below(domain.tree.parent, terms)
    # -Σ c/N log(c/N) = log N - Σ c log c / N
    bits = np.zeros_like(total)
    some = total > 0
    bits[some] = np.log2(total[some]) - spread[some] / total[some]
    clipped: Floats = np.maximum(bits, 0.0)
    return clipped
