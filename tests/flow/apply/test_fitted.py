"""A recoding that is applied to new records: what is suppressed, verified and reported."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, BadTable, Fitted, Hierarchy, NotHeld, Plan
from shoal.cli.release_tables import show_release
from shoal.report.page import render
from shoal.report.release_report import facts, page
from tests.cli.test_console import printed
from tests.flow.apply.tables import K2, TREES, drawn

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


# ── How much may be suppressed ──


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


def test_a_recoding_with_weights_says_that_it_has_no_bounds(tmp_path):
    given = {"31": 1, "38": 1, "[30, 40)": 2}
    plan = Plan(columns={"y": {"role": "quasi", "hierarchy": {"ranges": [10]}}}, models=K2,
                loss={"name": "weights", "edge_weights": {"y": given}},
                write={"ranges": "bounds"})  # fmt: skip
    table = pa.table({"y": ["31", "38"]})
    applied = shoal.anonymize(table, plan).recoding.apply(table)
    applied.save(tmp_path / "applied.csv")
    assert (tmp_path / "applied.csv").read_text().startswith("y\n")
    assert any("ranges are written as labels" in note for note in applied.notes)
    other = shoal.anonymize(table, plan.changed(loss="lm")).recoding.apply(table)
    other.save(tmp_path / "applied.csv")
    assert (tmp_path / "applied.csv").read_text().startswith("y_low,y_high\n")
    assert not any("as labels" in note for note in other.notes)


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


# ── Models ──


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


@pytest.mark.parametrize("weighed", [False, True])
def test_words_for_missing_need_no_weight(weighed, tmp_path):
    """As in the run that a recoding comes from."""
    people = pa.table({"d": ["a", "a", "b", "b", ".", "."]})
    column = {"role": "quasi", "missing_values": ["."], "hierarchy": {"tree": {"*": ["a", "b"]}}}
    weights = {"a": 1.0, "b": 2.0} | ({".": 5.0} if weighed else {})
    plan = Plan(
        columns={"d": column},
        models=[{"name": "k-anonymity", "k": 2}],
        loss={"name": "weights", "edge_weights": {"d": weights}},
    )
    release = shoal.anonymize(people, plan)
    release.recoding.save(tmp_path / "recoding.json")
    again = shoal.Fitted.load(tmp_path / "recoding.json").apply(people)
    assert sorted(again.frame["d"].to_pylist()) == sorted(release.frame["d"].to_pylist())
    assert again.losses == release.losses
