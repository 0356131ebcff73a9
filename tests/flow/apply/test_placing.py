"""Placing new records: the first vector that covers them, and what it loses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import NotHeld, Plan
from shoal.flow.apply.placing import first_covering
from shoal.hierarchies.free_values import Covers
from shoal.kernels.group import group_rows
from shoal.table.encode import Table
from tests.flow.apply.tables import FREE, K2, TREES, drawn
from tests.strategies import examples, free_trees, trees

# ── Placing: the first vector that covers all rows of a person ──


@st.composite
def placings(draw):
    """A table, and vectors of published values, some of them free."""
    columns = draw(st.lists(st.one_of(trees(), free_trees()), min_size=1, max_size=3))
    rows = draw(st.integers(1, 12))
    codes = np.empty((rows, len(columns)), np.int32)
    covers, wide = [], []
    many = draw(st.integers(0, 12))
    for j, tree in enumerate(columns):
        codes[:, j] = draw(st.lists(st.integers(0, tree.size - 1), min_size=rows, max_size=rows))
        one = Covers(tree)
        values = []
        for _ in range(many):
            if hasattr(tree, "kind") and tree.size > 1 and draw(st.booleans()):
                leaves = draw(st.sets(st.integers(1, tree.size - 1), min_size=1))
                values.append(one.code(tree.code(sorted(leaves))))
            else:
                values.append(draw(st.integers(0, tree.size - 1)))
        covers.append(one)
        wide.append(values)
    vectors = np.array(wide, np.int32).T.reshape(many, len(columns))
    if many:
        vectors = vectors[group_rows(np.ascontiguousarray(vectors))[1]]
    people = None
    if draw(st.booleans()):
        drawn = draw(st.lists(st.integers(0, rows), min_size=rows, max_size=rows))
        people = np.unique(drawn, return_inverse=True)[1]
    names = tuple(f"q{j}" for j in range(len(columns)))
    table = Table(names, tuple(columns), codes, people, (True,) * len(columns))
    return table, vectors, covers


def covers_cell(one, wide, narrow):
    """By hand: whether a published code covers a node."""
    tree = one.tree
    if wide < tree.size:
        return tree.covers(int(wide), int(narrow))
    return int(narrow) in tree.members(one.covers[wide - tree.size]).tolist()


@given(placings())
def test_the_first_vector_that_covers_all_rows_of_a_person(given_):
    table, vectors, covers = given_
    people = np.arange(table.rows) if table.people is None else table.people
    found = first_covering(vectors, covers, table)
    for i in range(table.rows):
        rows = table.codes[people == people[i]]
        fitting = [
            v
            for v, vector in enumerate(vectors)
            if all(
                covers_cell(covers[j], vector[j], row[j])
                for row in rows
                for j in range(len(covers))
            )
        ]
        assert found[i] == (fitting[0] if fitting else -1)


# ── From fit to release, against labels that are read one by one ──


def reads(label, value):
    """By hand: whether a published label covers a value, for the tables below."""
    if label == "*":
        return True
    if label is None or value is None:
        return label is None and value is None
    label, value = str(label), str(value)
    if label[:1] == "[":
        low, high = map(float, label[1:-1].split(", "))
        return low <= float(value) < high or (label[-1] == "]" and float(value) == high)
    if label[:1] == "{":
        return value in label[1:-1].split(", ")
    return label == value or (label[-1:] == "*" and value.startswith(label.rstrip("*")))


@pytest.mark.parametrize("quasi", [TREES, FREE], ids=["trees", "free"])
@pytest.mark.parametrize("persons", [False, True])
@settings(max_examples=examples(8), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_every_new_row_gets_the_vector_that_loses_least(quasi, persons, seed):
    rng = np.random.default_rng(seed)
    columns = {**quasi, "row": "other", "disease": "sensitive"}
    columns |= {"who": "person"} if persons else {}
    release = shoal.anonymize(drawn(rng, 60, persons), Plan(columns=columns, models=K2, loss="lm"))
    fitted = release.recoding
    new = drawn(rng, 50, persons)
    try:
        applied = fitted.apply(new, keep_order=True)
    except NotHeld:
        return
    rows = {row["row"]: row for row in new.to_pylist()}
    taken = {}
    for row in applied.frame.to_pylist():
        vector = (row["age"], row["zip"])
        assert tuple(map(str, vector)) in {tuple(map(str, v)) for v in fitted.vectors}
        mine = [o for o in rows.values() if not persons or o["who"] == rows[row["row"]]["who"]]
        mine = mine if persons else [rows[row["row"]]]
        assert all(
            reads(v, o[c]) for o in mine for c, v in zip(("age", "zip"), vector, strict=True)
        )
        taken[row["row"]] = vector
    if not applied.applied.classes:  # else some rows are in a wider class, or in none
        assert applied.applied.moved == 0
        for number, row in rows.items():
            mine = [o for o in rows.values() if o["who"] == row["who"]] if persons else [row]
            fits = [
                v for v in fitted.vectors
                if all(reads(x, o[c]) for o in mine for c, x in zip(("age", "zip"), v, strict=True))
            ]  # fmt: skip
            expected = tuple(map(str, fits[0])) if fits else None
            assert expected == (tuple(map(str, taken[number])) if number in taken else None)
    assert applied.published + applied.suppressed == applied.rows == 50
    assert applied.suppressed == applied.applied.no_class + sum(applied.applied.broken.values())
    again = shoal.audit(applied.frame, applied.plan)
    assert again.holds


def test_the_vectors_that_keep_most_come_first():
    """In the order of what the loss says of each, with ties by the alphabet."""
    people = pa.table({"age": [31, 32, 31, 38, 70, 71, 20, 90], "sex": list("ffffmmfm")})
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10, 50]}}, "sex": "quasi"}
    plan = Plan(columns=columns, models=K2, loss="lm")
    release = shoal.anonymize(people, plan)
    losses = []
    for vector in release.recoding.vectors:
        frame = pa.table({"age": [vector[0]] * 8, "sex": [vector[1]] * 8})
        lost = 0.0
        for j, name in enumerate(("age", "sex")):
            tree = release.explainer.table.trees[j]
            node = tree.node(str(frame[name][0]))
            lost += (int(tree.leaves[node]) - 1) / (int(tree.leaves[0]) - 1)
        losses.append(lost)
    assert losses == sorted(losses)
    assert len(set(release.recoding.vectors)) == len(release.recoding.vectors)


def test_the_same_table_again_has_every_row_covered():
    rng = np.random.default_rng(5)
    people = drawn(rng, 200)
    plan = Plan(columns={**TREES, "row": "other", "disease": "sensitive"}, models=K2)
    release = shoal.anonymize(people, plan)
    again = release.recoding.apply(people)
    assert again.applied.no_class == 0
    assert again.applied.unknown == {}
    assert again.recoding is not None
    assert again.recoding.vectors == release.recoding.vectors


def test_a_record_is_placed_independently_of_the_others():
    rng = np.random.default_rng(8)
    columns = {**FREE, "row": "other", "disease": "sensitive"}
    fitted = shoal.anonymize(drawn(rng, 300), Plan(columns=columns, models=K2)).recoding
    new = drawn(rng, 200)
    whole = {r["row"]: (str(r["age"]), r["zip"]) for r in fitted.apply(new).frame.to_pylist()}
    half = fitted.apply(new.slice(0, 120))
    rows = [r for r in half.frame.to_pylist() if r["row"] in whole]
    same = [whole[r["row"]] == (str(r["age"]), r["zip"]) for r in rows]
    assert len(same) - sum(same) <= half.applied.moved


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_kind_of_frame(kind):
    plan = Plan(columns={"age": TREES["age"], "x": "other"}, models=K2)
    fitted = shoal.anonymize(kind({"age": [31, 33, 52, 53], "x": [1, 2, 3, 4]}), plan).recoding
    release = fitted.apply(kind({"age": [32, 34, 90], "x": [5, 6, 7]}), keep_order=True)
    assert type(release.frame) is type(kind({"age": [1]}))
    assert list(release.frame["age"].to_pylist() if kind is pa.table else release.frame["age"]) == [
        "[30, 35)",
        "[30, 35)",
    ]
    assert (release.rows, release.published, release.suppressed) == (3, 2, 1)
    assert release.applied.no_class == 1
    assert any("1 record that no class" in note for note in release.notes)


def test_rows_of_a_person_go_together():
    plan = Plan(columns={"who": "person", "town": "quasi"}, models=K2)
    fit = pa.table({"who": [1, 2, 3, 4], "town": ["X", "X", "Y", "Y"]})
    fitted = shoal.anonymize(fit, plan).recoding
    assert fitted.vectors == (("X",), ("Y",))
    new = pa.table({"who": list("aabbcd"), "town": ["X", "Y", "X", "X", "X", "Z"]})
    release = fitted.apply(new)
    assert release.frame["town"].to_pylist() == ["X", "X", "X"]  # of b and c
    assert release.applied.no_class == 3
    assert release.smallest_class == 2


def test_placing_reports_progress():
    rng = np.random.default_rng(5)
    plan = Plan(columns={**TREES, "row": "other", "disease": "sensitive"}, models=K2)
    fitted = shoal.anonymize(drawn(rng, 200), plan).recoding
    told = []
    fitted.apply(drawn(rng, 200), progress=lambda stage, share: told.append((stage, share)))
    for stage in ("placing", "requirements"):
        shares = [share for one, share in told if one == stage]
        assert shares
        assert all(0 <= share <= 1 for share in shares)
        assert shares[-1] == 1


def test_missing_values_are_placed_with_missing_ones():
    plan = Plan(columns={"zip": {"role": "quasi", "hierarchy": {"free_sets": True}}}, models=K2)
    fit = pa.table({"zip": ["a", None, "b", "b"]})
    fitted = shoal.anonymize(fit, plan).recoding
    assert ("{a, missing}",) in fitted.vectors
    assert (
        fitted.apply(pa.table({"zip": ["a", "a"]})).frame["zip"].to_pylist() == ["{a, missing}"] * 2
    )
    plan = Plan(columns={"q": "quasi"}, models=K2)
    fitted = shoal.anonymize(pa.table({"q": ["a", "a", None, None]}), plan).recoding
    release = fitted.apply(pa.table({"q": [None, None, "b"]}))
    assert release.frame["q"].to_pylist() == [None, None]


@pytest.mark.parametrize("sets", [["a", "b"], True])
def test_words_for_missing_are_placed_with_each_other(sets):
    """They are published as they are written, and are none of the values of the sets."""
    column = {"role": "quasi", "hierarchy": {"free_sets": sets}, "missing_values": ["99", "?"]}
    plan = Plan(columns={"zip": column}, models=K2, missing="value")
    fit = pa.table({"zip": ["a", "99", "b", "b", "?", "?"]})
    fitted = shoal.anonymize(fit, plan).recoding
    assert set(fitted.vectors) == {("{a, 99}",), ("b",), ("?",)}
    for table in (fit, pa.table({"zip": ["99", "99", "b", "b"]})):
        found = fitted.apply(table).frame["zip"].to_pylist()
        there = {"a": "{a, 99}", "99": "{a, 99}"}
        assert sorted(found) == sorted(there.get(one, one) for one in table["zip"].to_pylist())
