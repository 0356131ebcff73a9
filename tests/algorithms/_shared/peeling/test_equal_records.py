"""A note where equal records that stay together lose much, compared with the definition."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan
from tests.strategies import examples

WORDS = "equal records are published alike"


def release(values, k=5, **more):
    models = [{"name": "k-anonymity", "k": k}, *more.pop("models", [])]
    columns = {"q": "quasi", **dict.fromkeys(more.pop("also", ()), "sensitive")}
    plan = Plan(columns=columns, models=models, seed=1, **more)
    table = {"q": values} | {name: values for name in plan.columns if name != "q"}
    return shoal.anonymize(pa.table(table), plan)


def test_many_equal_records_and_a_few_others():
    found = release(["x"] * 3 + ["m"] * 500)
    (note,) = [note for note in found.notes if WORDS in note]
    assert note.startswith("peel: 498 records are generalized")
    assert "99% of the loss" in note
    assert release(["x"] * 3 + ["m"] * 500, algorithm="k-member").losses["nllm"] < 1
    assert not any(WORDS in note for note in release(["x"] * 5 + ["m"] * 500).notes)


def test_other_models_may_need_the_whole_class():
    models = [{"name": "distinct-l-diversity", "column": "s", "l": 2}]
    found = release(["x"] * 3 + ["m"] * 500, also=["s"], models=models)
    assert not any(WORDS in note for note in found.notes)


@settings(max_examples=examples(60), deadline=None)
@given(
    counts=st.lists(st.integers(1, 30), min_size=2, max_size=6),
    k=st.integers(2, 8),
)
def test_the_records_that_are_free_are_those_of_the_definition(counts, k):
    """In one column of values without a hierarchy: a class is one value, or all that is left."""
    if sum(counts) < k:
        return
    values = [f"v{i}" for i, many in enumerate(counts) for _ in range(many)]
    found = release(values, k)
    exact = Counter(found.frame["q"].to_pylist())
    together = {f"v{i}": n for i, n in enumerate(counts) if exact[f"v{i}"] == 0}
    rows = sum(together.values())
    free = [n - max(k - (rows - n), 0) for n in together.values()]
    best = max([one for one in free if one >= k], default=0)
    said = [note for note in found.notes if WORDS in note]
    if rows and best > 0.1 * rows and len(together) > 1:
        assert said[0].startswith(f"peel: {best:,} records")
        assert f"that is {best / rows:.0%} of the loss" in said[0]
    else:
        assert not said


@pytest.mark.parametrize("role", ["person"])
def test_nothing_is_said_of_people_with_several_records(role):
    table = {"p": [*range(503), 0], "q": ["x"] * 3 + ["m"] * 500 + ["x"]}
    columns = {"p": role, "q": "quasi"}
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 5}], seed=1)
    assert not any(WORDS in note for note in shoal.anonymize(pa.table(table), plan).notes)
