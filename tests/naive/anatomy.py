"""Naive twins of what is measured of two tables of an anatomy: record by record, on lists."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa

from shoal import Plan
from shoal.io.frames import Frame
from shoal.measures.queries.answers import TRIES
from shoal.measures.queries.draw import draw
from shoal.table.encode import encode

COLUMNS = {"name": "identifier", "age": "quasi", "sex": "quasi", "disease": "sensitive"}


def plan(l=2, name="frequency-l-diversity", seed=1, **more):  # noqa: E741
    option = "p" if name == "p-sensitivity" else "l"
    model = {"name": name, "column": "disease", option: l}
    return Plan(**{"columns": COLUMNS, "models": [model], "seed": seed, **more})


def people(diseases, seed=0):
    rng = np.random.default_rng(seed)
    n = len(diseases)
    return pa.table(
        {
            "name": [f"p{i}" for i in range(n)],
            "age": rng.integers(30, 34, n),
            "sex": rng.choice(["f", "m"], n),
            "disease": diseases,
        }
    )


def drawn(table, plan, queries):
    """The queries of a table, each as a condition on every column, by its values.

    Only which places are drawn is not done again: a place is one of the values that occur.
    """
    encoded = encode(Frame(table), plan.columns)
    (secret,) = encoded.sensitive
    values = sorted(set(table[secret.name].to_pylist()), key=lambda v: (v is None, v))
    leaves = []
    for name, tree in zip(encoded.names, encoded.trees, strict=True):
        there = {str(value) for value in table[name].to_pylist()}
        every = [tree.labels[node] for node in range(tree.size) if tree.end[node] == node + 1]
        leaves.append([label for label in every if label in there])
    places = [np.arange(len(labels)) for labels in leaves]
    for _, query in zip(
        range(TRIES * queries.number), draw(queries, places, [len(values)]), strict=False
    ):
        chosen = {
            encoded.names[span.column]: set(leaves[span.column][span.low : span.high])
            for span in query.quasi
        }
        yield chosen, set(values[query.sensitive.low : query.sensitive.high])


def answers_of(query, table, first, second):
    """The records that a query counts in the original, and the expected number by two tables."""
    chosen, values = query

    def selected(row):
        return all(str(row[name]) in labels for name, labels in chosen.items())

    true = sum(selected(row) and row["disease"] in values for row in table.to_pylist())
    found = 0.0
    for row in first.to_pylist():
        if selected(row):
            mine = [one for one in second.to_pylist() if one["group"] == row["group"]]
            size = sum(one["count"] for one in mine)
            found += sum(one["count"] for one in mine if one["disease"] in values) / size
    return true, found


def ruled_out(second, known):
    """The surest guess in any group if any set of so many values, or fewer, is ruled out."""
    groups = {}
    for row in second.to_pylist():
        groups.setdefault(row["group"], {})[row["disease"]] = row["count"]
    surest = 0.0
    for counts in groups.values():
        for many in range(min(known, len(counts) - 1) + 1):
            for gone in combinations(counts, many):
                left = {value: n for value, n in counts.items() if value not in gone}
                surest = max(surest, max(left.values()) / sum(left.values()))
    return surest
