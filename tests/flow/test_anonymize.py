"""The whole flow, on every kind of frame."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadHierarchy, BadTable, CannotReach, Hierarchy, NotHeld, Plan, ShoalError
from shoal.flow.assistant import sample
from shoal.io.frames import open_frame
from shoal.measures.verify import verify
from shoal.models.k_anonymity import KAnonymity
from shoal.table.published_table import read_published
from tests.strategies import examples

ROWS = {
    "name": ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay"],
    "age": [31, 38, 52, 57, 55, 33],
    "sex": ["f", "m", "m", "f", None, "f"],
    "visit": [dt.date(2024, 1, d) for d in range(1, 7)],
    "disease": ["flu", "flu", None, "cold", "cold", "cold"],
    "score": [0.5, None, 1.5, 2.5, 3.5, 4.5],
}
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}


def plan(k=2, **change):
    columns = {
        "name": "identifier",
        "age": {"role": "quasi", "hierarchy": Hierarchy.ranges([10, 20])},
        "sex": "quasi",
        "visit": "other",
        "disease": "sensitive",
        "score": "other",
    }
    return Plan(**{"columns": columns, "models": [{"name": "k-anonymity", "k": k}], **change})


def arrow(frame):
    """Any frame as a dictionary of lists, missing values as None."""
    if isinstance(frame, pd.DataFrame):
        return {c: [None if pd.isna(v) else v for v in frame[c]] for c in frame}
    return frame.to_dict(as_series=False) if isinstance(frame, pl.DataFrame) else frame.to_pydict()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_comes_back(kind):
    frame = KINDS[kind](ROWS)
    release = shoal.anonymize(frame, plan(), keep_order=True)
    assert type(release.frame) is type(frame)
    rows = arrow(release.frame)
    assert list(rows) == ["age", "sex", "visit", "disease", "score"]
    assert rows["score"] == ROWS["score"]
    assert rows["disease"] == ROWS["disease"]
    assert release.checks[0].holds
    assert release.checks[0].reached >= 2
    assert release.rows == release.published == 6
    assert release.suppressed == 0
    for column in ("visit", "score"):
        before = frame.schema.field(column).type if kind == "arrow" else frame[column].dtype
        after = release.frame
        after = after.schema.field(column).type if kind == "arrow" else after[column].dtype
        assert before == after


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_stays_keeps_its_type(kind):
    frame = KINDS[kind]({"age": [30, 30, 40, 40], "x": [1, 2, 3, 4]})
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "x": "other"}
    release = shoal.anonymize(
        frame, Plan(columns=columns, models=[KAnonymity(k=2)]), keep_order=True
    )
    assert arrow(release.frame)["age"] == [30, 30, 40, 40]
    assert release.losses["nllm"] == 0


def test_rows_are_shuffled_unless_asked():
    frame = pa.table({"q": ["a"] * 200, "row": list(range(200))})
    asked = Plan(columns={"q": "quasi", "row": "other"}, models=[KAnonymity(k=2)], seed=1)
    order = shoal.anonymize(frame, asked).frame["row"].to_pylist()
    assert order != list(range(200))
    assert sorted(order) == list(range(200))
    assert shoal.anonymize(frame, asked, keep_order=True).frame["row"].to_pylist() == list(
        range(200)
    )
    assert shoal.anonymize(frame, asked).frame["row"].to_pylist() == order
    unseeded = asked.changed(seed=None)
    release = shoal.anonymize(frame, unseeded)
    assert release.seed is None
    assert (
        release.frame["row"].to_pylist()
        != shoal.anonymize(frame, unseeded).frame["row"].to_pylist()
    )


def test_a_filtered_frame_is_taken_by_position():
    """Labels of a data frame's index are no positions, and do not come back."""
    frame = pd.DataFrame(ROWS, index=["p1", "p2", "p3", "p4", "p5", "p6"]).iloc[[4, 2, 0, 1, 3]]
    release = shoal.anonymize(frame, plan(), keep_order=True)
    assert release.frame["score"].tolist()[0] == 3.5
    assert list(release.frame.index) == [0, 1, 2, 3, 4]


def test_missing_values_are_values_of_their_own():
    frame = pa.table({"q": ["a", "a", None, None, None], "x": [1, 2, 3, 4, 5]})
    columns = {"q": "quasi", "x": "other"}
    release = shoal.anonymize(
        frame, Plan(columns=columns, models=[KAnonymity(k=2)]), keep_order=True
    )
    assert release.frame["q"].to_pylist() == ["a", "a", None, None, None]
    three = shoal.anonymize(frame, Plan(columns=columns, models=[KAnonymity(k=3)]), keep_order=True)
    assert three.frame["q"].to_pylist() == ["*"] * 5
    assert three.published == 5


def test_missing_values_otherwise():
    frame = pa.table({"q": ["a", "a", None, "?", ""]})
    columns = {"q": "quasi"}
    promise = {"models": [KAnonymity(k=2)], "columns": columns}
    root = shoal.anonymize(
        frame, Plan(missing="root", missing_values=["", "?"], **promise), keep_order=True
    )
    assert root.frame["q"].to_pylist() == ["a", "a", "*", "*", "*"]
    with pytest.raises(
        BadHierarchy, match=r"column 'q': missing values in 2 rows \(first in row 3\)"
    ):
        shoal.anonymize(frame, Plan(missing="error", **promise))
    tokens = Plan(missing="empty", missing_values=["", "?"], **promise)
    release = shoal.anonymize(frame, tokens, keep_order=True)
    assert release.frame["q"].to_pylist() == ["a", "a", None, None, None]


def test_nan_is_missing():
    frame = pd.DataFrame({"q": [1.0, 1.0, np.nan, np.nan]})
    asked = Plan(columns={"q": "quasi"}, models=[KAnonymity(k=2)])
    assert shoal.anonymize(frame, asked).smallest_class == 2
    frame = pl.DataFrame({"q": [1.0, 1.0, float("nan"), None]})
    assert shoal.anonymize(frame, asked).smallest_class == 2


def test_persons_get_numbers_drawn_at_random():
    people = ["P9", "P9", "P2", "P2", "P2", "P7"]
    frame = pa.table({"who": people, "q": ["a", "b", "a", "b", "b", "b"]})
    asked = Plan(columns={"who": "person", "q": "quasi"}, models=[KAnonymity(k=3)], seed=4)
    release = shoal.anonymize(frame, asked, keep_order=True)
    numbers = release.frame["who"].to_pylist()
    assert sorted(set(numbers)) == [0, 1, 2]
    assert [numbers.index(n) for n in numbers] == [people.index(p) for p in people]
    assert release.smallest_class == 3  # people, not rows
    drawn = {
        tuple(
            shoal.anonymize(frame, asked.changed(seed=s), keep_order=True).frame["who"].to_pylist()
        )
        for s in range(40)
    }
    assert len(drawn) == 6  # every numbering of three people turns up


def test_values_that_mean_the_same_are_published_alike():
    """'17', '17.0' and ' 17' are one leaf; published as they were they would split a class."""
    frame = pa.table({"age": ["17", "17.0", " 17", "18", "18"]})
    tree = Hierarchy.from_levels([["17", "*"], ["18", "*"]])
    asked = Plan(columns={"age": {"role": "quasi", "hierarchy": tree}}, models=[KAnonymity(k=2)])
    release = shoal.anonymize(frame, asked, keep_order=True)
    assert release.frame["age"].to_pylist() == ["17", "17", "17", "18", "18"]


def test_numbers_and_text_match_the_same_hierarchy():
    tree = Hierarchy.from_levels([["1", "low", "*"], ["2", "low", "*"], ["3", "*"]])
    for values in ([1, 2, 3, 3], [1.0, 2.0, 3.0, 3.0], ["1", "2", "3", "3"]):
        asked = Plan(columns={"q": {"role": "quasi", "hierarchy": tree}}, models=[KAnonymity(k=2)])
        release = shoal.anonymize(pd.DataFrame({"q": values}), asked, keep_order=True)
        assert release.frame["q"].tolist() == ["low", "low", "3", "3"]


def test_a_table_generalized_before_can_be_generalized_further():
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "B": ["c", "d"]}})
    frame = pa.table({"q": ["A", "a", "*", "c"]})
    asked = Plan(columns={"q": {"role": "quasi", "hierarchy": tree}}, models=[KAnonymity(k=2)])
    release = shoal.anonymize(frame, asked, keep_order=True)
    assert release.frame["q"].to_pylist() == ["A", "A", "*", "*"]


@pytest.mark.parametrize(
    ("frame", "change", "error", "message"),
    [
        ({"age": [1], "sexx": ["f"]}, {}, BadTable, "did you mean 'sexx'"),
        ({"age": [1], "sex": ["f"], "extra": [1]}, {}, BadTable, "not mention the columns 'extra'"),
        ({"age": [], "sex": []}, {}, BadTable, "no rows"),
        ({"age": ["x", "y"], "sex": ["f", "f"]}, {}, BadHierarchy, "column 'age'"),
    ],
)
def test_bad_tables(frame, change, error, message):
    columns = {"age": {"role": "quasi", "hierarchy": Hierarchy.ranges([10])}, "sex": "quasi"}
    with pytest.raises(error, match=message):
        shoal.anonymize(pa.table(frame), Plan(columns=columns, models=[KAnonymity(k=2)], **change))


def test_values_that_the_hierarchy_lacks_are_named_with_their_rows():
    tree = Hierarchy.from_levels([["a", "*"]])
    asked = Plan(columns={"q": {"role": "quasi", "hierarchy": tree}}, models=[KAnonymity(k=2)])
    with pytest.raises(BadHierarchy, match=r"column 'q': .*'b' \(row 2\), 'c' \(row 4\)"):
        shoal.anonymize(pa.table({"q": ["a", "b", "b", "c"]}), asked)


def test_no_quasi_identifier():
    with pytest.raises(BadTable, match="no quasi-identifier"):
        shoal.anonymize(
            pa.table({"x": [1]}), Plan(columns={"x": "other"}, models=[KAnonymity(k=2)])
        )


def test_k_above_the_rows_cannot_be_reached():
    with pytest.raises(CannotReach) as error:
        shoal.anonymize(pa.table(ROWS), plan(k=7))
    assert error.value.best == 6
    assert error.value.model == "k-anonymity"


def test_verify_trusts_nothing_but_the_table():
    frame = shoal.io.frames.open_frame(pa.table({"q": ["a", "a", "b"]}))
    asked = Plan(columns={"q": "quasi"}, models=[KAnonymity(k=2)])
    with pytest.raises(NotHeld, match="requires at least 2, the table reaches 1"):
        verify(read_published(frame, asked.columns), asked.models)


def test_a_table_that_violates_a_requirement_is_never_released(monkeypatch):
    """Whatever an algorithm claims, a table that breaks the promise is never released."""
    from shoal.algorithms.peel import Peel
    from shoal.table.recoding import Recoding

    def lie(self, table, models, loss, rng, progress):
        return Recoding(table.codes, np.arange(table.rows))

    monkeypatch.setattr(Peel, "recode", lie)
    with pytest.raises(NotHeld):
        shoal.anonymize(pa.table(ROWS), plan())

    def lie_about_values(self, table, models, loss, rng, progress):
        codes = np.roll(table.codes, 1, axis=0)
        return Recoding(codes, np.arange(table.rows))

    monkeypatch.setattr(Peel, "recode", lie_about_values)
    with pytest.raises(shoal.ShoalError, match="does not cover"):
        shoal.anonymize(pa.table(ROWS), plan())


def test_saved_files_are_verified_again(tmp_path, monkeypatch):
    release = shoal.anonymize(pa.table(ROWS), plan(), keep_order=True)
    release.save(tmp_path / "r.csv")
    release.save(tmp_path / "r.parquet")
    assert (tmp_path / "r.csv").read_text().splitlines()[0] == "age,sex,visit,disease,score"
    from shoal.io import frames

    monkeypatch.setattr(
        frames, "write", lambda frame, path, reading: path.write_text("age,sex\n1,f\n2,f\n")
    )
    with pytest.raises(ShoalError, match="nothing is released"):
        release.save(tmp_path / "broken.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.csv", "r.parquet"]


def test_a_dropped_column_is_left_out_everywhere(tmp_path):
    """From the release, its file, its report, its recoding, and the sample that is compiled for."""
    columns = {**plan().columns, "name": "drop"}
    release = shoal.anonymize(pa.table(ROWS), plan(columns=columns), keep_order=True)
    assert "name" not in release.frame.column_names
    release.save(tmp_path / "out.csv")
    assert "Ann" not in (tmp_path / "out.csv").read_text()
    release.report(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text()
    assert "Dropped, as nobody needs them: name." in html
    assert "Identifiers: name." not in html  # as a column of that role is called
    named = tmp_path / "named.html"
    shoal.anonymize(pa.table(ROWS), plan()).report(named, explain=False)
    assert "Identifiers: name." in named.read_text()
    again = release.recoding.apply(pa.table(ROWS))
    assert "name" not in again.frame.column_names
    assert b"Ann" not in sample(open_frame(pa.table(ROWS)), plan(columns=columns))


def test_identifiers_never_come_back():
    release = shoal.anonymize(pa.table(ROWS), plan())
    assert "name" not in release.frame.column_names
    assert "Ann" not in str(release.as_dict())


@settings(max_examples=examples(60))
@given(data=st.data())
def test_every_published_value_covers_its_original(data):
    """Through frames, labels and shuffles: what is published covers what was there."""
    rows = data.draw(st.integers(4, 25))
    ages = data.draw(st.lists(st.integers(0, 99), min_size=rows, max_size=rows))
    zips = data.draw(
        st.lists(st.sampled_from(["02139", "02138", "10001", None]), min_size=rows, max_size=rows)
    )
    k = data.draw(st.integers(2, 4))
    frame = pa.table({"age": ages, "zip": pa.array(zips, pa.string()), "row": list(range(rows))})
    asked = Plan(
        columns={
            "age": {"role": "quasi", "hierarchy": Hierarchy.ranges([5, 20])},
            "zip": {"role": "quasi", "hierarchy": Hierarchy.prefixes()},
            "row": "other",
        },
        models=[KAnonymity(k=k)],
    )
    release = shoal.anonymize(frame, asked).frame.to_pylist()
    classes = {}
    for row in release:
        age, zip_code = ages[row["row"]], zips[row["row"]]
        label = str(row["age"])
        if label.startswith("["):
            low, high = map(int, label.strip("[)").split(", "))
            assert low <= age < high
        elif label != "*":
            assert int(label) == age
        if row["zip"] is None:
            assert zip_code is None
        elif row["zip"] != "*":
            assert zip_code.startswith(row["zip"].rstrip("*"))
        classes[label, row["zip"]] = classes.get((label, row["zip"]), 0) + 1
    assert min(classes.values()) >= k
    assert sorted(row["row"] for row in release) == list(range(rows))


def test_progress_reports_every_step():
    told = []
    shoal.anonymize(
        pa.table(ROWS), plan(), progress=lambda stage, share: told.append((stage, share))
    )
    assert {"read", "encode", "recode", "peeling", "decode", "verify"} <= {s for s, _ in told}
    assert all(0 <= share <= 1 for _, share in told)


def test_one_row_and_equal_rows():
    columns = {"q": "quasi"}
    with pytest.raises(CannotReach):
        shoal.anonymize(pa.table({"q": ["a"]}), Plan(columns=columns, models=[KAnonymity(k=2)]))
    same = shoal.anonymize(
        pa.table({"q": ["a"] * 9}), Plan(columns=columns, models=[KAnonymity(k=9)])
    )
    assert same.classes == 1
    assert same.losses["ncp"] == 0
    assert same.frame["q"].to_pylist() == ["a"] * 9


def test_quality_of_the_worked_table():
    """Table 1 of Mauger 2023: 16 cells, of which 8 genders and 4 races are generalized."""
    frame = pa.table(
        {
            "gender": list("FFFFMMMM"),
            "race": ["Lion", "Dog", "Lion", "Dog", "Cat", "Cat", "Lion", "Lion"],
        }
    )
    published = pa.table(
        {
            "gender": ["*"] * 8,
            "race": ["Lion", "Mammal", "Lion", "Mammal", "Mammal", "Mammal", "Lion", "Lion"],
        }
    )
    asked = Plan(
        columns={
            "gender": "quasi",
            "race": {
                "role": "quasi",
                "hierarchy": Hierarchy.from_tree(
                    {"Mammal": {"Felid": ["Cat", "Lion"], "Dog": None}}
                ),
            },
        },
        models=[KAnonymity(k=4)],
        loss={
            "name": "weights",
            "edge_weights": {
                "gender": {"F": 5, "M": 5},
                "race": {"Cat": 1, "Lion": 1, "Dog": 4, "Felid": 3},
            },
        },
    )
    audit = shoal.audit(published, asked, original=frame)
    assert audit.levels["k-anonymity"] == 4
    assert audit.quality.generalized_percent == pytest.approx(100 * 12 / 16)
    assert audit.quality.root_percent == pytest.approx(100 * 12 / 16)
    # 8 genders × 5, and 4 races × 4, of 8 × 5 + 8 × 4.
    assert audit.quality.losses["weights"] == pytest.approx(100 * (40 + 16) / (40 + 32))


def test_all_rows_of_a_person_are_published_alike():
    """Two visits in two classes would tell the one person who is in both."""
    frame = pa.table(
        {
            "who": ["a", "a", "b", "c", "d", "e"],
            "town": ["X", "Y", "X", "X", "Y", "Y"],
            "visit": [1, 2, 3, 4, 5, 6],
        }
    )
    asked = Plan(
        columns={"who": "person", "town": "quasi", "visit": "other"}, models=[KAnonymity(k=2)]
    )
    assert shoal.audit(frame, asked).levels["k-anonymity"] == 1
    release = shoal.anonymize(frame, asked, keep_order=True)
    assert release.frame["town"].to_pylist()[0] == release.frame["town"].to_pylist()[1] == "*"
    assert shoal.audit(release.frame, asked).levels["k-anonymity"] >= 2


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_nothing_that_no_row_has_is_published(kind, tmp_path):
    """Categories, notes and labels of a larger table that this one was cut from."""
    values = ["flu", "flu", "cold", "cold"]
    if kind == "pandas":
        frame = pd.DataFrame(
            {"q": ["a"] * 4, "s": pd.Categorical(values, ["flu", "cold", "SECRET"])}
        )
        frame.columns.name = "SECRET"
    elif kind == "polars":
        frame = pl.DataFrame(
            {"q": ["a"] * 4, "s": pl.Series(values, dtype=pl.Enum(["flu", "cold", "SECRET"]))}
        )
    else:
        codes = pa.DictionaryArray.from_arrays([0, 0, 1, 1], ["flu", "cold", "SECRET"])
        schema = pa.schema(
            [pa.field("q", pa.string(), metadata={"n": "SECRET"}), pa.field("s", codes.type)],
            {"n": "SECRET"},
        )
        frame = pa.table([pa.array(["a"] * 4), codes], schema)
    asked = Plan(columns={"q": "quasi", "s": "sensitive"}, models=[KAnonymity(k=2)])
    release = shoal.anonymize(frame, asked)
    release.save(tmp_path / "r.parquet")
    assert b"SECRET" not in (tmp_path / "r.parquet").read_bytes()
    assert "SECRET" not in repr(getattr(release.frame, "columns", ""))
    assert sorted(arrow(release.frame)["s"]) == sorted(values)


def test_two_kinds_of_missing_are_published_alike():
    frame = pl.DataFrame({"q": [1.0, 1.0, float("nan"), None]})
    asked = Plan(columns={"q": "quasi"}, models=[KAnonymity(k=2)], missing_values=[])
    published = shoal.anonymize(frame, asked).frame["q"].to_list()
    assert sorted(map(str, published)) == ["1.0", "1.0", "None", "None"]


def test_generalized_values_are_counted_row_by_row():
    tree = Hierarchy.from_tree({"*": {"A": ["a", "b"], "B": ["c"]}})
    frame = pa.table({"q": ["A", "a", "c", "c"], "z": ["x", "x", "y", "y"]})
    columns = {"q": {"role": "quasi", "hierarchy": tree}, "z": "quasi"}
    release = shoal.anonymize(frame, Plan(columns=columns, models=[KAnonymity(k=2)]))
    assert release.quality.generalized_percent == pytest.approx(100 * 1 / 8)
    with pytest.raises(BadTable, match="more information than the original"):
        shoal.audit(
            pa.table({"q": ["a", "a"], "z": ["x", "x"]}),
            Plan(columns=columns, models=[KAnonymity(k=2)]),
            original=pa.table({"q": ["A", "A"], "z": ["x", "x"]}),
        )


def test_several_values_a_cell():
    asked = Plan(columns={"q": "quasi"}, models=[KAnonymity(k=2)])
    with pytest.raises(BadTable, match="column 'q': has several values per cell"):
        shoal.anonymize(pa.table({"q": [[1], [2]]}), asked)


def test_objects_that_look_alike_are_published_alike():
    frame = pd.DataFrame({"q": pd.Series([1, "1", 2, 2], dtype=object)})
    asked = Plan(columns={"q": "quasi"}, models=[KAnonymity(k=2)])
    published = shoal.anonymize(frame, asked).frame["q"].tolist()
    assert sorted(published) == ["1", "1", "2", "2"]


def test_codes_that_look_like_huge_numbers():
    tree = Hierarchy.from_levels([["12e8888888", "*"], ["a", "*"]])
    asked = Plan(columns={"q": {"role": "quasi", "hierarchy": tree}}, models=[KAnonymity(k=2)])
    assert shoal.anonymize(pa.table({"q": ["12e8888888", "a", "a", "a"]}), asked).classes == 1
    with pytest.raises(BadHierarchy, match="lacks values"):
        shoal.anonymize(pa.table({"q": ["13e8888888", "a"]}), asked)
    with pytest.raises(BadHierarchy, match="ranges need numbers"):
        Hierarchy.ranges([5]).tree(["1e5000"])


def test_missing_tokens_count_in_numbers_too():
    asked = Plan(columns={"q": "quasi"}, models=[KAnonymity(k=2)], missing_values=["-9"])
    table = pa.table({"q": [1, 1, -9, None]})
    release = shoal.anonymize(table, asked.changed(missing="empty"), keep_order=True)
    assert release.frame["q"].to_pylist() == [1, 1, None, None]
    table = pa.table({"q": [31, 39, -9, -9]})
    ages = {"q": {"role": "quasi", "hierarchy": {"ranges": [10]}}}
    release = shoal.anonymize(table, asked.changed(columns=ages), keep_order=True)
    assert release.frame["q"].to_pylist() == ["[30, 40)", "[30, 40)", "-9", "-9"]


def test_a_frame_that_was_changed_is_not_saved(tmp_path):
    table = pd.DataFrame({"age": [1, 1, 2, 2], "s": list("xyxy")})
    asked = Plan(
        columns={"age": "quasi", "s": "sensitive"}, models=[{"name": "k-anonymity", "k": 2}]
    )
    release = shoal.anonymize(table, asked)
    release.frame["name"] = ["Ann", "Bob", "Cid", "Dee"]
    with pytest.raises(ShoalError, match=r"changed after it was verified .*'name'"):
        release.save(tmp_path / "x.csv")
    release = shoal.anonymize(table, asked)
    release.frame.loc[99] = [1, "x"]
    with pytest.raises(ShoalError, match="number of records"):
        release.save(tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("column", ["s", "other"])
def test_a_frame_that_was_edited_in_place_is_not_described_as_it_was(kind, column, tmp_path):
    """Report and JSON would show the old checks with the checksum of the edited table."""
    table = kind({"age": [1, 1, 2, 2], "s": list("xyxy"), "other": [0.5, None, 1.5, 2.5]})
    asked = Plan(
        columns={"age": "quasi", "s": "sensitive", "other": "other"},
        models=[{"name": "k-anonymity", "k": 2}],
        keep_order=True,
    )
    release = shoal.anonymize(table, asked)
    release.report(tmp_path / "first.html")
    release.as_dict()
    release.save(tmp_path / "first.csv")
    value = "z" if column == "s" else 9.5
    if kind is pd.DataFrame:
        release.frame.loc[0, column] = value
    else:
        release.frame[0, column] = value
    for use in (
        release.as_dict,
        lambda: release.report(tmp_path / "x.html"),
        lambda: release.save(tmp_path / "x.csv"),
    ):
        with pytest.raises(ShoalError, match="was changed after it was verified"):
            use()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.csv", "first.html"]
