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
    """Bits missing to tell the original value from the published one, in this table's own mix.

    The conditional entropy H(X | published value) of a column, mean over cells: the basic entropy
    measure (EM) of Tassa 2012. It may fall where a value is widened to a very frequent one.
    """

    name: ClassVar[str] = "entropy"
    counts: ClassVar[str] = (
        "how much remains to guess for an attacker who wants the exact value and knows how "
        "frequent each value is in this table"
    )

    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """The root's entropy less the node's, divided by the number of columns."""
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
