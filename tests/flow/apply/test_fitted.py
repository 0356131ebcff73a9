"""A recoding that is applied to new rows: placing, promises, the file, the command."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadFile, BadPlan, BadTable, Fitted, Hierarchy, NotHeld, Plan
from shoal.cli import main as cli
from shoal.cli.release_tables import show_release
from shoal.flow.apply.placing import first_covering
from shoal.hierarchies.free_values import Covers
from shoal.kernels.group import group_rows
from shoal.report.page import render
from shoal.report.release_report import facts, page
from shoal.table.encode import Table
from tests.cli.test_console import printed
from tests.strategies import examples, free_trees, trees

K2 = [{"name": "k-anonymity", "k": 2}]


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


# ── The whole way, against labels that are read one by one ──


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


FREE = {
    "age": {"role": "quasi", "hierarchy": {"free_ranges": True}},
    "zip": {"role": "quasi", "hierarchy": {"free_sets": True}},
}
TREES = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}},
    "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
}


def drawn(rng, n, persons=False):
    zips = ["02138", "02139", "02141", "10001", "10002"]
    columns = {
        "age": rng.integers(20, 60, n),
        "zip": rng.choice(zips, n),
        "row": np.arange(n),
        "disease": rng.choice(["flu", "cold", "gout"], n),
    }
    return pa.table(({"who": rng.integers(0, n, n)} if persons else {}) | columns)


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


# ── Values that are not known ──


def test_values_that_a_hierarchy_lacks_are_suppressed_and_counted():
    levels = Hierarchy.from_levels([["flu", "air", "*"], ["cold", "air", "*"], ["gout", "*"]])
    columns = {
        "who": "person",
        "age": {"role": "quasi", "hierarchy": {"ranges": [10]}},
        "day": {"role": "quasi", "hierarchy": {"dates": ["year"]}},
        "disease": {"role": "sensitive", "hierarchy": levels},
    }
    fit = pa.table(
        {"who": [1, 2, 3], "age": ["31", "32", "33"], "day": ["2024-01-01"] * 3,
         "disease": ["flu", "cold", "gout"]}
    )  # fmt: skip
    fitted = shoal.anonymize(fit, Plan(columns=columns, models=K2)).recoding
    new = pa.table(
        {"who": [1, 1, 2, 3, 4, 5], "age": ["34", "SECRET", "35", "36", "37", "38"],
         "day": ["2024-01-01", "2024-01-01", "2024-01-01", "2024-01-01", "hidden", "2024-01-01"],
         "disease": ["flu", "flu", "cold", "plague", "flu", "gout"]}
    )  # fmt: skip
    release = fitted.apply(new)
    assert release.published == 2
    assert release.applied.unknown == {"age": 1, "day": 1, "disease": 1}
    assert release.applied.unknown_rows == 4  # both rows of person 1
    assert release.suppressed == 4
    note = next(note for note in release.notes if "that a hierarchy lacks" in note)
    assert "4 records" in note
    assert "'age' in 1 record" in note
    for word in ("SECRET", "hidden", "plague"):
        assert word not in str(release.as_dict())
    with pytest.raises(BadTable, match=r"no record can be placed.*'disease' has 'plague'\."):
        fitted.apply(new.slice(3, 1))


def test_rows_and_people_are_those_of_the_whole_new_table():
    """Rows with unknown values are rows of the table before; without persons each is one."""
    levels = Hierarchy.from_levels([["flu", "*"], ["cold", "*"]])
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [10]}},
        "disease": {"role": "sensitive", "hierarchy": levels},
    }
    fit = pa.table({"age": ["31", "32"], "disease": ["flu", "cold"]})
    fitted = shoal.anonymize(fit, Plan(columns=columns, models=K2)).recoding
    new = {"age": ["31", "33", "x", "y", "34"], "disease": ["flu", "cold", "flu", "flu", "plague"]}
    release = fitted.apply(pa.table(new))
    assert (release.rows, release.before.rows, release.before.people) == (5, 5, 5)
    assert (release.published, release.after.people) == (2, 2)
    assert "plague" not in str(release.as_dict())
    persons = shoal.anonymize(
        fit.append_column("who", pa.array([1, 2])),
        Plan(columns=columns | {"who": "person"}, models=K2),
    ).recoding
    release = persons.apply(pa.table(new | {"who": [1, 2, 3, 3, 4]}))
    assert (release.before.rows, release.before.people) == (5, 4)


def test_more_than_five_unknown_values_are_not_listed():
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}}
    fit = pa.table({"age": [31, 32]})
    fitted = shoal.anonymize(fit, Plan(columns=columns, models=K2)).recoding
    with pytest.raises(BadTable, match=r"'age' has 'a', 'b', 'c', 'd', 'e' and 2 more\."):
        fitted.apply(pa.table({"age": list("abcdefg")}))


# ── Columns: the same ones, in the same order ──


def test_columns_are_in_the_order_of_the_fitted_release(tmp_path):
    """That of the first table, whatever the plan says first and the new table has first."""
    columns = {"disease": "sensitive", "name": "identifier", "age": TREES["age"], "sex": "quasi"}
    plan = Plan(columns=columns, models=K2)
    first = pa.table(
        {"sex": list("ff"), "name": list("ab"), "age": [31, 32], "disease": list("xy")}
    )
    release = shoal.anonymize(first, plan)
    release.recoding.save(tmp_path / "fit.json")
    fitted = Fitted.load(tmp_path / "fit.json")
    for kind in (pa.table, pd.DataFrame, pl.DataFrame):
        turned = kind({name: first[name].to_pylist() for name in sorted(first.column_names)})
        names = getattr(fitted.apply(turned).frame, "column_names", None)
        names = names or list(fitted.apply(turned).frame.columns)
        assert names == release.frame.column_names == ["sex", "age", "disease"]


def test_a_column_that_the_recoding_does_not_know():
    plan = Plan(columns={"age": TREES["age"], "x": "other"}, models=K2)
    fitted = shoal.anonymize(pa.table({"age": [31, 33], "x": [1, 2]}), plan).recoding
    new = pa.table({"extra": ["a", "b"], "age": [32, 34], "x": [5, 6]})
    with pytest.raises(
        BadTable, match=r"the recoding does not mention.*'extra'.*--drop-extra"
    ) as e:
        fitted.apply(new)
    assert "plan" not in str(e.value)
    assert "role" not in str(e.value)
    release = fitted.apply(new, drop_extra=True)
    assert release.frame.column_names == ["age", "x"]
    assert release.applied.dropped == ["extra"]
    assert any("'extra'" in note for note in release.notes)


# ── How much may be left out ──


def test_no_more_records_are_suppressed_than_is_allowed():
    fit = pa.table({"age": [31, 32, 51, 52]})
    plan = Plan(columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}}, models=K2)
    fitted = shoal.anonymize(fit, plan).recoding
    new = pa.table({"age": ["33", "34", "35", "55", "91", "x"]})
    release = fitted.apply(new, most_left_out=0.5)
    assert release.applied.left_out == release.suppressed == 3
    assert release.as_dict()["applied"]["left_out"] == 3
    words = r"3 of 6 records \(50 %\).*at most 49 %.*1 record with.*1 record that.*1 record whose"
    with pytest.raises(NotHeld, match=words):
        fitted.apply(new, most_left_out=0.49)
    for share in (-0.1, 1.1, 5):
        with pytest.raises(BadPlan, match="a share of the records, from 0 to 1"):
            fitted.apply(new, most_left_out=share)
    out = " ".join(printed(show_release, release).split())
    assert "suppressed (50 % of 50 % allowed) 3 records" in out
    assert "50 % of the records are suppressed" in out
    assert "finer hierarchies" not in out
    assert "50 % of the records are suppressed" in render(page(facts(release))).replace("\xa0", " ")
    all_there = fitted.apply(pa.table({"age": [33, 34, 55, 56]}))
    assert "suppressed (" not in printed(show_release, all_there)


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


def test_weights_are_those_of_the_values_that_were_fitted(tmp_path):
    weights = {"name": "weights", "edge_weights": {"y": {"u": 1.0, "v": 2.0, "w": 3.0}}}
    plan = Plan(columns={"y": "quasi"}, models=K2, loss=weights)
    shoal.anonymize(pa.table({"y": list("uuvvww")}), plan).recoding.save(tmp_path / "r.json")
    fitted = Fitted.load(tmp_path / "r.json")
    assert sorted(fitted.apply(pa.table({"y": list("uuv")})).frame["y"].to_pylist()) == ["u", "u"]
    release = fitted.apply(pa.table({"y": ["u", "u", "v", "v", "z", None]}))  # z has no weight
    assert sorted(release.frame["y"].to_pylist()) == ["u", "u", "v", "v"]
    assert release.suppressed == 2


def test_prefixes_are_written_as_in_the_release():
    """Where codes have five characters they are 476**, whatever a new table holds."""
    plan = Plan(columns={"zip": {"role": "quasi", "hierarchy": {"prefixes": True}}}, models=K2)
    fitted = shoal.anonymize(pa.table({"zip": ["47677", "47602", "47610"]}), plan).recoding
    assert fitted.vectors == (("476**",),)
    release = fitted.apply(pa.table({"zip": ["47699", "47600", "476", "4769"]}))
    assert release.frame["zip"].to_pylist() == ["476**"] * 2
    assert release.applied.no_class == 2
    uneven = shoal.anonymize(pa.table({"zip": ["47677", "476"]}), plan).recoding
    assert uneven.vectors == (("476*",),)
    release = uneven.apply(pa.table({"zip": ["47699", "476", "4761"]}))
    assert release.frame["zip"].to_pylist() == ["476*"] * 3


# ── Promises ──


def test_records_of_a_class_that_violates_a_model_move_to_a_more_general_one():
    """Two rows would be alone in their class: one fits a wider class, the other none."""
    fit = pa.table({"age": [31, 31, 32, 32, 33, 39, 55, 56]})
    plan = Plan(columns={"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}}, models=K2)
    fitted = shoal.anonymize(fit, plan).recoding
    assert fitted.vectors == (("31",), ("32",), ("[50, 60)",), ("[30, 40)",))
    release = fitted.apply(pa.table({"age": [31, 31, 32, 34, 51]}), keep_order=True)
    assert release.frame["age"].to_pylist() == ["31", "31", "[30, 40)", "[30, 40)"]
    assert release.applied.moved == 1
    assert release.applied.broken == {"k-anonymity": 1}
    assert release.applied.classes == 2
    assert any("1 record whose class would violate k-anonymity" in n for n in release.notes)
    with pytest.raises(NotHeld, match="no class of the recoding satisfies k-anonymity"):
        fitted.apply(pa.table({"age": [31, 52]}))


def test_models_about_sensitive_values_are_verified_too():
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "s": "sensitive"}
    models = [*K2, {"name": "distinct-l-diversity", "column": "s", "l": 2}]
    fit = pa.table({"age": [31, 32, 51, 52], "s": ["a", "b", "a", "b"]})
    fitted = shoal.anonymize(fit, Plan(columns=columns, models=models)).recoding
    new = pa.table({"age": [33, 34, 53, 54], "s": ["a", "a", "a", "b"]})
    release = fitted.apply(new)
    assert release.frame["age"].to_pylist() == ["[50, 60)"] * 2
    assert release.applied.broken == {"distinct-l-diversity[s]": 2}
    assert [check.holds for check in release.checks] == [True, True]


def test_linkage_models_are_verified_on_the_new_table(tmp_path):
    rng = np.random.default_rng(2)
    columns = {"age": TREES["age"], "zip": TREES["zip"], "row": "other", "disease": "sensitive"}
    plan = Plan(
        columns=columns, models=[{"name": "k-concealment", "k": 3}], algorithm="concealment", seed=1
    )
    fitted = shoal.anonymize(drawn(rng, 120), plan).recoding
    release = fitted.apply(drawn(rng, 150))
    assert release.checks[0].reached >= 3
    release.save(tmp_path / "r.csv")
    assert 0 < release.published <= 150
    release.report(tmp_path / "r.html")


def test_report_and_numbers(tmp_path):
    rng = np.random.default_rng(2)
    plan = Plan(columns={**TREES, "row": "other", "disease": "sensitive"}, models=K2, seed=3)
    fitted = shoal.anonymize(drawn(rng, 80), plan).recoding
    release = fitted.apply(drawn(rng, 60), seed=5)
    release.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "shoal apply" in page
    assert "recoding of another table" in page
    assert release.as_dict()["applied"]["no_class"] == release.applied.no_class
    assert release.seed == 5
    assert fitted.apply(drawn(np.random.default_rng(2), 60), seed=5).seed == 5
    with pytest.raises(BadTable, match="by applying a recoding"):
        release.explain(0)


# ── The file ──


def fit_file(tmp_path, **more):
    (tmp_path / "sex.csv").write_text("f;*\nm;*\nx;*\n")
    columns = {
        "name": "identifier",
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20]}},
        "sex": {"role": "quasi", "hierarchy": str(tmp_path / "sex.csv")},
        "disease": "sensitive",
    }
    fit = pa.table(
        {"name": ["Ann", "Bob", "Cid", "Dee"], "age": [31, 33, 54, 57],
         "sex": ["f", "f", "m", "m"], "disease": ["flu", "cold", "flu", "gout"]}
    )  # fmt: skip
    models = [*K2, {"name": "t-closeness", "column": "disease", "t": 0.9}]
    plan = Plan(columns=columns, models=models, seed=77, loss="lm", **more)
    release = shoal.anonymize(fit, plan)
    release.recoding.save(tmp_path / "fit.json")
    return release, tmp_path / "fit.json"


def test_the_file_is_read_back_and_needs_no_other_file(tmp_path):
    release, path = fit_file(tmp_path)
    (tmp_path / "sex.csv").unlink()
    again = Fitted.load(path)
    assert again.vectors == release.recoding.vectors
    assert again.plan.seed is None
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    new = pa.table({"name": ["Eve"] * 2, "age": [32, 30], "sex": ["f"] * 2, "disease": ["a", "b"]})
    assert again.apply(new).published == 2


def test_the_file_reveals_nothing_about_a_record(tmp_path):
    release, path = fit_file(tmp_path)
    content = path.read_text(encoding="utf-8")
    assert '"sha256"' in content
    content = "\n".join(line for line in content.split("\n") if '"sha256"' not in line)
    for word in ("Ann", "flu", "77", str(tmp_path), '"31"', '"54"', "sex.csv"):
        assert word not in content, word
    numbers = json.loads(path.read_text(encoding="utf-8"))
    published = {(str(row["age"]), row["sex"]) for row in release.frame.to_pylist()}
    assert {tuple(vector) for vector in numbers["vectors"]} == published


def edit(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def summed(content):
    from shoal.flow.apply.recoding_file import CONTENT, checksum

    content["sha256"] = checksum({key: content.get(key) for key in CONTENT})


def narrower(content):
    content["vectors"] = [vector[:1] for vector in content["vectors"]]
    summed(content)


def other_plan(content):
    content["plan"]["columns"]["age"]["hierarchy"] = {"ranges": [2]}


def other_order(content):
    content["order"] = ["age", "zip"]
    summed(content)


def no_plan(content):
    content["plan"] = None
    summed(content)


def senseless_plan(content):
    content["plan"]["models"] = [{"name": "k-anonymity", "k": 1}]
    summed(content)


def without_requirements(content):
    content["plan"]["models"] = []
    summed(content)


def with_vector(vector):
    def change(content):
        content["vectors"][0] = vector
        summed(content)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without_requirements, "the plan has no requirements"),
        *(
            (with_vector(one), "lists of values as text")
            for one in (7, None, "ab", [1, 2], [[], ""])
        ),
        (other_plan, "its checksum does not match"),
        (narrower, "belong to another plan"),
        (no_plan, "lacks the plan"),
        (senseless_plan, "needs k of 2 or more"),
        (lambda content: content.pop("vectors"), "checksum"),
        (lambda content: content.update(version=1), "version 1 of the format"),
        (other_order, "columns that are not in its plan"),
        (lambda content: content.update(format="other"), "not a recoding file"),
    ],
)
def test_a_file_that_was_changed_is_refused(tmp_path, change, words):
    _, path = fit_file(tmp_path)
    edit(path, change)
    with pytest.raises(BadFile, match=words):
        Fitted.load(path)


def test_damaged_files(tmp_path):
    _, path = fit_file(tmp_path)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"\xff\xfe\0", b"[1, 2]", b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(BadFile, match=r"fit\.json"):
            Fitted.load(path)
    with pytest.raises(BadFile, match=r"the recoding .*no such file"):
        Fitted.load(tmp_path / "none.json")
    with pytest.raises(BadFile, match="cannot read"):
        Fitted.load(tmp_path)


def test_tables_of_another_kind(tmp_path):
    _, path = fit_file(tmp_path)
    fitted = Fitted.load(path)
    good = {"name": ["E", "F"], "age": [32, 30], "sex": ["f", "f"], "disease": ["a", "b"]}
    without = {key: value for key, value in good.items() if key != "age"}
    with pytest.raises(BadTable, match=r"recoding was made with .* the table lacks: 'age'"):
        fitted.apply(pa.table(without))
    with pytest.raises(BadTable, match="not mention the columns 'zip'"):
        fitted.apply(pa.table(good | {"zip": [1, 2]}))
    with pytest.raises(BadTable, match="no rows"):
        fitted.apply(pa.table(good).slice(0, 0))
    with pytest.raises(BadTable, match="no record of the table falls into a class"):
        fitted.apply(pa.table(good | {"age": [90, 91]}))


# ── The command ──


PLAN = """
seed = 3
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { ranges = [5, 10, 20] } }
sex = { role = "quasi" }
disease = { role = "sensitive" }

[[models]]
name = "k-anonymity"
k = 3
"""


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out = capsys.readouterr()
        return end.value.code or 0, out.out, out.err

    return call


@pytest.fixture
def people(tmp_path):
    for name, start in (("train", 0), ("test", 100)):
        rows = "".join(
            f"Person {i},{20 + i % 40},{'fm'[i % 2]},d{i % 5}\n" for i in range(start, start + 90)
        )
        (tmp_path / f"{name}.csv").write_text("name,age,sex,disease\n" + rows, encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_fit_and_apply_on_the_command_line(run, people):
    fit = ["anonymize", "train.csv", "--plan", "plan.toml", "--out", "r.csv"]
    status, out, err = run(*fit, "--recoding", "fit.json")
    assert status == 0, err
    assert "written: fit.json" in out
    words = ["apply", "test.csv", "--recoding", "fit.json", "--out", "new.csv"]
    status, out, err = run(*words, "--json", "new.json", "--report", "new.html")
    assert status == 0, err
    assert "satisfied" in out
    numbers = json.loads((people / "new.json").read_text())
    assert numbers["rows"] == 90
    assert set(numbers["applied"]) == {
        "rows", "unknown", "unknown_rows", "no_class", "broken", "moved", "classes", "dropped",
        "most_left_out", "left_out",
    }  # fmt: skip
    assert pa_csv.read_csv(people / "new.csv").num_rows == numbers["published"]
    assert "Person 101" not in (people / "new.html").read_text(encoding="utf-8") + out
    assert run("audit", "new.csv", "--plan", "plan.toml", "--original", "test.csv")[0] == 0
    for name in ("a.csv", "b.csv"):
        assert run(*words[:-1], name, "--seed", "4")[0] == 0
    assert (people / "a.csv").read_bytes() == (people / "b.csv").read_bytes()
    status, out, _ = run(*words, "--json", "-")
    assert json.loads(out)["rows"] == 90


def test_the_command_writes_nothing_where_it_fails(run, people):
    fit = ["anonymize", "train.csv", "--plan", "plan.toml", "--out", "r.csv"]
    assert run(*fit, "--recoding", "fit.json")[0] == 0
    words = ["apply", "test.csv", "--out", "new.csv"]
    (people / "few.csv").write_text("name,age,sex,disease\nZoe,21,m,d1\nYva,41,m,d2\n")
    (people / "strange.csv").write_text("name,age,disease\nZoe,21,d1\n")
    (people / "more.csv").write_text("name,age,sex,disease,x\n" + "Zoe,21,f,d1,1\n" * 4)
    (people / "broken.json").write_text((people / "fit.json").read_text()[:200])
    before = left(people)
    for status, call in (
        (1, ["apply", "few.csv", "--recoding", "fit.json", "--out", "new.csv"]),
        (2, ["apply", "strange.csv", "--recoding", "fit.json", "--out", "new.csv"]),
        (2, ["apply", "more.csv", "--recoding", "fit.json", "--out", "new.csv"]),
        (1, [*words, "--recoding", "fit.json", "--most-left-out", "0"]),
        (2, [*words, "--recoding", "fit.json", "--most-left-out", "5"]),
        (2, [*words, "--recoding", "broken.json"]),
        (2, [*words, "--recoding", "none.json"]),
        (2, [*words, "--recoding", "plan.toml"]),
        (2, ["apply", "test.csv", "--recoding", "fit.json", "--out", "fit.json"]),
        (2, ["apply", "test.csv", "--recoding", "fit.json", "--out", "test.csv"]),
        (2, [*words, "--recoding", "fit.json", "--report", "new.csv"]),
        (2, [*fit, "--recoding", "plan.toml"]),
        (2, [*fit, "--recoding", "r.csv"]),
        (2, [*fit, "--recoding", "nowhere/fit.json"]),
    ):
        code, _, err = run(*call)
        assert code == status, (call, err)
        assert err.startswith("shoal: ")
        assert "Zoe" not in err
        assert left(people) == before
