"""Mean of the seven metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.base.arrays import Floats
from shoal.losses import Loss, costs_of
from shoal.losses.distortion import Distortion
from shoal.losses.llm import LLM
from shoal.losses.ncp import NCP
from shoal.losses.nllm import NLLM
from shoal.losses.total import Total
from shoal.losses.wllm import WLLM
from shoal.losses.wnllm import WNLLM
from shoal.table.encode import Domain

SEVEN = (Distortion, NCP, Total, LLM, NLLM, WLLM, WNLLM)


class Mean(Loss):
    """The mean of the seven metrics, each by what it could lose (Def. 9, Mauger 2023).

    An alteration is a sum of costs over what that sum could be at the most, so the mean of seven
    alterations is a sum of costs as well, and can guide an algorithm. A metric by which nothing of
    this table can be lost is left out.
    """

    name: ClassVar[str] = "mean"
    reported: ClassVar[bool] = False  # as mean_loss, for every release

    def costs(self, domains: Sequence[Domain]) -> list[Floats]:
        """The seven costs to the root, each divided by what a row could lose on average."""
        total = [np.zeros(domain.tree.size) for domain in domains]
        able = 0
        for kind in SEVEN:
            costs = costs_of(kind(), domains)
            most = _most(costs, domains)
            if most > 0:
                total = [have + cost / most for have, cost in zip(total, costs, strict=True)]
                able += 1
        return [cost / max(able, 1) for cost in total]


def _most(costs: Sequence[Floats], domains: Sequence[Domain]) -> float:
    """What a row loses on average when all of its values become roots."""
    rows = int(domains[0].counts.sum())
    if rows == 0:  # hierarchies alone: as if every column held its dearest value
        return sum(float(cost.max()) for cost in costs)
    both = zip(costs, domains, strict=True)
    return sum(float(cost @ domain.counts) for cost, domain in both) / rows
