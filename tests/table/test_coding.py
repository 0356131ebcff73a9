"""Item 15: columns are encoded with arrow, and as value by value."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Hierarchy, Plan
from shoal.hierarchies.sorting import BLOCK, sorted_order
from shoal.io.frames import Frame
from shoal.table.coded_columns import coded
from shoal.table.coding import FIRST, Values, value_codes
from shoal.table.encode import encode
from tests.strategies import examples

LETTERS = st.text(st.sampled_from("ab\0*é鿿𝄞 1"), max_size=20)
CODES = st.text(st.sampled_from("ab1*"), min_size=4, max_size=4)
NUMBERS = st.integers(-40, 60).map(str) | st.sampled_from(["007", "-0", "1.5", "3.0", "[10, 20)"])


@settings(max_examples=examples(300))
@given(st.sets(LETTERS | st.text(st.sampled_from("ab\0"), min_size=6, max_size=30)))
def test_item_15_texts_are_sorted_as_python_does(values):
    texts = list(values)
    for kind in (pa.string(), pa.large_string()):
        order = sorted_order(pa.array([*texts, "x"], kind)[: len(texts)])
        assert [texts[i] for i in order] == sorted(texts)


@pytest.mark.parametrize("letters", ["0123456789", "0123456789abcdef", "aé鿿𝄞"])
def test_many_texts_are_sorted_as_python_does(letters):
    """More than a block of them, of which many begin with the same eight bytes."""
    rng = np.random.default_rng(4)
    drawn = rng.choice(list(letters), (3 * BLOCK, 12))
    sizes = rng.integers(5, 13, len(drawn))
    texts = list({"".join(one[:size]) for one, size in zip(drawn, sizes, strict=True)})
    assert len(texts) > 2 * BLOCK
    assert [texts[i] for i in sorted_order(pa.array(texts))] == sorted(texts)


CASES = {
    "flat": (Hierarchy.flat(), LETTERS),
    "prefixes": (Hierarchy.prefixes(), CODES),
    "some prefixes": (Hierarchy.prefixes([3, 1]), CODES | LETTERS),
    "prefixes of a length": (Hierarchy.prefixes(length=4), CODES | LETTERS),
    "prefixes of any length": (Hierarchy.prefixes(length=0), CODES | LETTERS),
    "ranges": (Hierarchy.ranges([5, 10, 40], start=3), NUMBERS),
    "broken ranges": (Hierarchy.ranges([0.5, 1]), NUMBERS),
    "borders": (Hierarchy.borders([[-7, 0, 3, 12.5, 40], [0, 40], [40]]), NUMBERS),
    "one border": (Hierarchy.borders([10**18]), NUMBERS),
    "levels": (Hierarchy.from_tree({"*": {"x": ["a", "b"], "y": ["c"]}}), st.sampled_from("abc")),
}


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=examples(100))
@given(data=st.data())
def test_item_15_trees_of_columns_are_those_of_single_values(case, data):
    hierarchy, values = CASES[case]
    found = data.draw(st.lists(values, unique=True, min_size=1))
    placed = hierarchy.placed(pa.array(found))
    if placed is None:
        return
    tree, nodes = placed
    slow = hierarchy.tree(found)
    assert tuple(tree.labels) == tuple(slow.labels)
    for name in ("parent", "end", "leaves", "level"):
        assert getattr(tree, name).tolist() == getattr(slow, name).tolist(), name
    assert [tree.labels[node] for node in nodes] == found
    assert tuple(tree.with_missing().labels) == tuple(slow.with_missing().labels)
    assert tree.with_missing().node(None) == slow.with_missing().node(None)


@pytest.mark.parametrize(
    ("case", "column"),
    [
        ("flat", ["b", "a"]),
        ("prefixes", ["12", "34"]),
        ("ranges", ["1", "20"]),
        ("borders", ["1", "20"]),
    ],
)
def test_plain_columns_take_the_fast_way(case, column):
    assert CASES[case][0].placed(pa.array(column)) is not None


def test_item_15_encoding_reports_how_far_it_is():
    rows = 40_000
    numbers = [f"{i}.5" for i in range(rows)]  # value by value: no whole numbers
    table = pa.table({"a": numbers, "b": [str(i) for i in range(rows)], "s": ["x"] * rows})
    plan = Plan(
        columns={
            "a": {"role": "quasi", "hierarchy": {"ranges": [1000]}},
            "b": "quasi",
            "s": "sensitive",
        },
        models=[{"name": "k-anonymity", "k": 2}],
    )
    told = []
    encode(Frame(table), plan.columns, progress=lambda stage, share: told.append((stage, share)))
    shares = [share for stage, share in told if stage == "encode"]
    assert len(shares) == len(told) > 6
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] < 1


def test_a_run_of_different_values_only():
    """Every row differs in every column: all that can be published is nothing of them."""
    rng = np.random.default_rng(3)
    table = pa.table({name: [f"v{i:04}" for i in rng.permutation(500)] for name in "ab"})
    plan = Plan(columns=dict.fromkeys("ab", "quasi"), models=[{"name": "k-anonymity", "k": 5}])
    release = shoal.anonymize(table, plan)
    assert release.checks[0].reached >= 5
    codes, values = value_codes(release.frame["a"])
    assert len(values) + bool((codes < 0).any()) <= 100


def test_a_search_that_ends_at_the_first_values_does_not_make_the_others():
    values = Values(pa.array([f"p{i}" for i in range(3 * FIRST)]))
    assert values[0] == "p0"
    assert not all(value == "p0" for value in values)
    assert "listed" not in values.__dict__
    assert list(values) == [*values] == [f"p{i}" for i in range(3 * FIRST)]
    assert (values[-1], values[FIRST], values[1:3]) == (
        f"p{3 * FIRST - 1}",
        f"p{FIRST}",
        ["p1", "p2"],
    )


def test_words_for_missing_are_taken_from_codes_that_are_known():
    table = pa.table({"job": ["cook", None, "?", "nurse", "", "cook"]})
    known = Frame(table)
    coded(known, "job")
    for words in ([], [""], ["?", ""], ["none"]):
        codes, values = coded(known, "job", words)
        expected, others = coded(Frame(table), "job", words)
        assert (codes.tolist(), values) == (expected.tolist(), others)
