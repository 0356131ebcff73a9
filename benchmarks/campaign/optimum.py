"""The best node of a lattice by brute force, which full-domain must find."""

from __future__ import annotations

from itertools import product
from math import floor, prod
from typing import TYPE_CHECKING

from benchmarks.campaign.oracle import Published, class_levels, enough

if TYPE_CHECKING:
    from benchmarks.campaign.releases import Case

# Once a class satisfies these, it still does after others join it.
LASTING = {
    "k-anonymity", "distinct-l-diversity", "p-sensitivity", "ir-k-anonymity", "ir-kl-anonymity",
    "eir-l-diversity",
}  # fmt: skip


def best_node(case: Case, loss: str) -> float | None:
    """The least that any node of the lattice loses; None where there are too many."""
    heights = [tree.height for tree in case.trees]
    if case.table.free or prod(heights) * case.table.rows > 20_000:
        return None
    persons = case.persons or list(range(case.table.rows))
    members: dict = {}
    for row, person in enumerate(persons):
        members.setdefault(person, []).append(row)
    joined: list[list] = []
    for tree, labels in zip(case.trees, case.labels, strict=True):
        known = {who: tree.join([labels[row] for row in rows]) for who, rows in members.items()}
        joined.append([known[person] for person in persons])
    best = float("inf")
    for node in product(*map(range, heights)):
        lifted = [
            [tree.lift(label, at) for label in labels]
            for tree, labels, at in zip(case.trees, joined, node, strict=True)
        ]
        rows = _left_after_suppression(case, list(zip(*lifted, strict=True)))
        if rows:
            labels = [[column[row] for row in rows] for column in lifted]
            best = min(best, case.losses.percent(loss, labels, case.table.rows - len(rows)))
    return best


def _left_after_suppression(case: Case, vectors: list[tuple]) -> list[int]:
    """The rows of a node that are published; none where too many would be suppressed."""
    share = case.plan.get("algorithm", {}).get("suppression", 0)
    limit = floor(share * case.table.rows + 1e-9)
    whole = Published(vectors, case.persons, case.sensitive, case.sensitive_trees)
    rows = list(range(case.table.rows))
    models = [m for m in case.plan["models"] if m["name"] in LASTING]
    while rows:
        seen = whole.only(rows)
        failing = {
            label
            for model in models
            for label, found in class_levels(model, seen).items()
            if not enough(model, found)
        }
        if failing:
            rows = [row for row in rows if vectors[row] not in failing]
            if case.table.rows - len(rows) > limit:
                return []
        elif models is case.plan["models"]:
            return rows
        models = case.plan["models"]
    return []
