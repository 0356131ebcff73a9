"""The errors of counting queries in a comparison with anatomy, counted again with pandas."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from shoal import anonymize
from shoal.flow.anatomy.anatomize import anatomize
from shoal.measures.queries.counted import count_original, occurring_in, shared_columns
from shoal.measures.queries.draw import Queries, draw

PLAN = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
        "sex": "quasi",
        "disease": "sensitive",
    },
    "models": [{"name": "frequency-l-diversity", "column": "disease", "l": 3}],
    "seed": 4,
}


def people(many=150):
    rng = np.random.default_rng(9)
    return pd.DataFrame({
        "age": rng.integers(20, 80, many),
        "sex": rng.choice(["f", "m"], many),
        "disease": rng.choice(["ache", "burn", "cold", "dust", "epox"], many),
    })  # fmt: skip


def covered(label, values):
    """The values of the original that a published one covers, by what it says."""
    if label == "*":
        return set(values)
    if isinstance(label, str) and label.startswith("["):
        low, high = (int(end) for end in label[1:-1].split(", "))
        return {one for one in values if low <= one < high}
    return {one for one in values if str(one) == str(label)}


def drawn(release, queries):
    """The queries, as sets of values by column."""
    before, after = release.tables.original, release.tables.published
    shared = shared_columns(before, after)
    occurring = occurring_in(count_original(before, shared), before)
    leaves = [[label for node, label in enumerate(tree.labels)
               if tree.end[node] == node + 1] for tree in before.trees]  # fmt: skip
    for query in draw(queries, occurring, [len(one.values) for one in shared]):
        asked = {before.names[j]: {*leaves[j][low:high]} for j, low, high in query.quasi}
        if "age" in asked:
            asked["age"] = {*map(int, asked["age"])}
        asked["disease"] = {*shared[0].values[query.sensitive.low : query.sensitive.high]}
        yield asked


def true_answer(table, asked):
    return int(np.logical_and.reduce([table[name].isin(asked[name]) for name in asked]).sum())


def test_the_errors_of_both_releases_are_those_of_a_recount():
    table, queries = people(), Queries(number=60)
    made = anatomize(pa.Table.from_pandas(table), PLAN, queries=queries, compare=True)
    release = anonymize(pa.Table.from_pandas(table), PLAN)
    shown = release.frame.to_pandas()
    assert shown["age"].astype(str).str.startswith("[").any()
    covers = {
        name: {label: covered(label, {*table[name].tolist()}) for label in shown[name].unique()}
        for name in ("age", "sex")
    }
    groups, values = made.quasi_identifiers.to_pandas(), made.sensitive.to_pandas()
    sizes = groups.groupby("group").size()
    wide, two = [], []
    for asked in islice(drawn(release, queries), 1200):
        if len(wide) == 60:
            break
        if not (true := true_answer(table, asked)):
            continue
        part = shown["disease"].isin(asked["disease"]).astype(float)
        for name in asked.keys() - {"disease"}:
            share = {label: len(own & asked[name]) / len(own)
                     for label, own in covers[name].items()}  # fmt: skip
            part *= shown[name].map(share)
        wide.append(abs(part.sum() - true) / true)
        known = asked.keys() - {"disease"}
        fits = np.logical_and.reduce([groups[name].isin(asked[name]) for name in known])
        asked_for = values[values["disease"].isin(asked["disease"])]
        inside = asked_for.groupby("group")["count"].sum() / sizes
        found = groups.loc[fits, "group"].map(inside).fillna(0).sum()
        two.append(abs(found - true) / true)
    general = made.generalized.answers
    assert (general.number, made.answers.number) == (60, 60)
    assert [general.mean, general.median] == pytest.approx([np.mean(wide), np.median(wide)])
    assert [made.answers.mean, made.answers.median] == pytest.approx([np.mean(two), np.median(two)])
    assert general.mean > made.answers.mean  # what the comparison is made to show
