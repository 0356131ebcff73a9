"""Losses by docs/losses.md: what each label keeps of its column, and what a release lost."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log2

from benchmarks.campaign.trees import Tree

SEVEN = ("distortion", "ncp", "total", "llm", "nllm", "wllm", "wnllm")
REPORTED = (*SEVEN, "lm", "entropy")


class Losses:
    """What can be lost of a table with these trees, and what a release of it lost."""

    def __init__(
        self, trees: list[Tree], originals: list[list], weights: list | None = None
    ) -> None:
        self.trees = trees
        self.originals = originals  # the labels of the original, a column each
        self.weights = weights
        self.kept: dict = {}

    def percent(self, name: str, published: list[list], suppressed: int) -> float:
        """The alteration in percent; a suppressed row is lost altogether."""
        if name == "mean":
            able = [one for one in SEVEN if self._possible(one) > 0]
            return sum(self.percent(one, published, suppressed) for one in able) / max(len(able), 1)
        possible = self._possible(name)
        if possible <= 0:
            return 0.0
        kept = sum(
            self._keeps(name, j, label) * many
            for j, cells in enumerate(published)
            for label, many in Counter(cells).items()
        )
        return max(0.0, 100 * (possible - kept) / possible)

    def _possible(self, name: str) -> float:
        return sum(
            self._keeps(name, j, label) * many
            for j, cells in enumerate(self.originals)
            for label, many in Counter(cells).items()
        )

    def _keeps(self, name: str, j: int, label) -> float:
        key = name, j, label
        if key not in self.kept:
            tree = self.trees[j]
            if tree.free and label not in tree.parent:  # a free value, or the root
                leaf = next(iter(tree.parent), None)
                whole = self._keeps(name, j, leaf) if tree.parent else 0.0
                self.kept[key] = (1 - float(tree.width(label))) * whole
            else:
                self.kept[key] = self._to_root(name, j, label)
        return self.kept[key]

    def _to_root(self, name: str, j: int, label) -> float:
        """The weights of all edges from a label to the root."""
        tree = self.trees[j]
        if name == "lm":
            most = tree.leaves(tree.root) - 1
            return (most + 1 - tree.leaves(label)) / most / len(self.trees) if most > 0 else 0.0
        if name == "entropy":
            return (self._bits(j, tree.root) - self._bits(j, label)) / len(self.trees)
        chain = tree.chain(label)
        return sum(self._edge(name, j, low, high) for low, high in pairwise(chain))

    def _edge(self, name: str, j: int, low, high) -> float:
        tree = self.trees[j]
        h = tree.height
        lost = tree.leaves(high) - tree.leaves(low)
        share = lost / tree.leaves(tree.root)
        match name:
            case "ncp":
                return share
            case "total":
                return (tree.level(high) - tree.level(low)) / (h - 1)
            case "llm":
                return lost * self._w2(j)
            case "nllm":
                return share * self._w2(j)
            case "wllm":
                return lost * self._w1(j)
            case "wnllm":
                return share * self._w1(j)
            case "distortion":
                passed = sum(
                    1 / (h - level) for level in range(tree.level(low) + 1, tree.level(high) + 1)
                )
                return passed / sum(1 / (h - level) for level in range(1, h)) * self._w1(j)
            case "weights":
                assert self.weights is not None
                given = self.weights[j]
                return given[low] if low in given else max(given.values(), default=0.0)
        raise AssertionError(name)

    def _w1(self, j: int) -> float:
        if len(self.trees) == 1:
            return 1.0
        powers = [(tree.height - 1) ** len(self.trees) for tree in self.trees]
        return 1 - powers[j] / sum(powers) if sum(powers) else 1.0

    def _w2(self, j: int) -> float:
        return max(tree.height for tree in self.trees) / self.trees[j].height

    def _bits(self, j: int, label) -> float:
        """The entropy of the original values below a label."""
        key = "bits", j, label
        if key not in self.kept:
            tree = self.trees[j]
            counts = [
                many
                for value, many in Counter(self.originals[j]).items()
                if label in tree.chain(value)
            ]
            total = sum(counts)
            self.kept[key] = -sum(c / total * log2(c / total) for c in counts) if total else 0.0
        return self.kept[key]
