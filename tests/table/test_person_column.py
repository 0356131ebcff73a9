"""The person column of a release: what the number of rows tells, and how to leave it out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.base.errors import BadPlan, NotHeld, ShoalError
from shoal.cli.audit_tables import show_audit
from shoal.cli.release_tables import show_release
from shoal.io import frames
from shoal.io.frames import Frame, open_frame, read
from shoal.measures.column_disclosure import if_known
from shoal.report.page import render
from shoal.report.release_report import facts, page
from shoal.table.published_table import read_published
from tests.cli.test_console import printed

# Two classes of three people each; in one of them somebody has three rows, the others one.
ROWS = [("a", 30, "flu"), ("a", 30, "gout"), ("a", 30, "cold"), ("b", 30, "flu"), ("c", 30, "cold")]
ROWS += [(who, 50, disease) for who, disease in zip("def", ("flu", "gout", "cold"), strict=True)]
K = {"name": "k-anonymity", "k": 3}


def table(rows=ROWS):
    names = ("who", "age", "disease")
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def asked(*models, who="person", **change):
    columns = {"who": who, "age": "quasi", "disease": "sensitive"}
    return Plan(columns=columns, models=list(models) or [K], **change)


# The number of rows


def test_people_whom_their_record_count_identifies_are_counted():
    release = shoal.anonymize(table(), asked())
    told = release.as_dict()
    assert told["risks"]["row_count"] == {"alone": 1, "fewer_than_k": 3}
    assert told["before"]["risks"]["row_count"] == {"alone": 1, "fewer_than_k": 3}
    audit = shoal.audit(release.frame, asked())
    assert audit.as_dict()["risks"]["row_count"] == {"alone": 1, "fewer_than_k": 3}
    json.dumps(told, allow_nan=False)
    for out in (printed(show_release, release), printed(show_audit, audit)):
        assert "Warning: highest re-identification risk, 33.3 %: this is for" in out
        assert "identifies 1 of 6 people" in " ".join(out.split())


def test_nothing_is_said_of_several_records_if_nobody_has_them():
    for who, rows in (("person", ROWS[2:]), ("identifier", ROWS)):
        release = shoal.anonymize(table(rows), asked(who=who))
        assert release.as_dict()["risks"]["row_count"] is None
        assert "how many records a person has" not in printed(show_release, release)


def test_people_with_as_many_rows_hide_each_other():
    rows = [(who, 30, disease) for who in "abc" for disease in ("flu", "cold")]
    release = shoal.anonymize(table(rows), asked())
    assert release.as_dict()["risks"]["row_count"] == {"alone": 0, "fewer_than_k": 0}
    assert "how many records a person has" not in printed(show_release, release)


# Person numbers that are counted and left out

HIDDEN = {"role": "person", "publish": False}
EIR = {"name": "eir-l-diversity", "column": "disease", "l": 2}


@pytest.mark.parametrize("kind", [lambda t: t, pa.Table.to_pandas, pl.from_arrow])
def test_people_are_counted_and_their_numbers_not_published(kind):
    release = shoal.anonymize(kind(table()), asked(K, EIR, who=HIDDEN))
    assert list(open_frame(release.frame).names) == ["age", "disease"]
    assert release.after.people == 6
    assert [check.reached for check in release.checks] == [3, 2]
    assert release.as_dict()["risks"]["row_count"] is None
    assert release.as_dict()["before"]["risks"]["row_count"]["alone"] == 1
    assert any("('who') are not in the release" in note for note in release.notes)
    assert not {"whose", "person_of_record"} & set(release.as_dict())


def test_the_same_is_published_with_and_without_the_numbers():
    shown = shoal.anonymize(table(), asked(seed=3)).frame
    hidden = shoal.anonymize(table(), asked(who=HIDDEN, seed=3))
    assert shown.drop_columns(["who"]).equals(hidden.frame)
    pairs = set(zip(shown["who"].to_pylist(), hidden.person_of_record.tolist(), strict=True))
    assert len(pairs) == 6  # row by row the same people


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.parquet"])
def test_the_file_has_no_numbers_and_is_verified_with_them(tmp_path, name):
    release = shoal.anonymize(table(), asked(K, EIR, who=HIDDEN))
    release.save(tmp_path / name)
    assert read(tmp_path / name).names == ["age", "disease"]
    audit = shoal.audit(tmp_path / name, asked(who=HIDDEN))
    assert any("plan does not publish: each record counts" in note for note in audit.notes)
    with pytest.raises(BadPlan, match=r"eir-l-diversity is about people .* has no person column"):
        shoal.audit(tmp_path / name, asked(K, EIR, who=HIDDEN))


def test_cells_of_every_kind_are_found_again_in_the_file(tmp_path):
    moments = [datetime(2024, 5, 17, 13, 45, i) for i in range(8)]
    rich = table()
    for column, values in {
        "when": moments,
        "share": [0.1, 1.0, None, 1e-9, 1e20, -0.5, 2.5, 3.0],
        "free": ['a "b"', "x,y", "line\nbreak", "", None, " z ", "007", "*"],
        "list": [[1, 2], None, [], [3], [4], [5], [6], [7]],
    }.items():
        rich = rich.append_column(column, pa.array(values))
    other = dict.fromkeys(("when", "share", "free", "list"), "other")
    columns = {"who": HIDDEN, "age": "quasi", "disease": "sensitive", **other}
    plan = Plan(columns=columns, models=[K])
    for frame in (rich, rich.to_pandas(), pl.from_arrow(rich)):
        for name in ("out.csv", "out.parquet"):
            shoal.anonymize(frame, plan).save(tmp_path / name)


def test_a_file_with_its_rows_in_another_order_is_refused(tmp_path, monkeypatch):
    release = shoal.anonymize(table(), asked(who=HIDDEN))
    turned = Frame(release.frame.take(list(range(7, -1, -1))))
    really = frames.write
    monkeypatch.setattr(frames, "write", lambda frame, path, reading: really(turned, path))
    with pytest.raises(ShoalError, match="does not contain the rows of the release in their order"):
        release.save(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_file_that_violates_a_model_about_people_is_refused(tmp_path):
    release = shoal.anonymize(table(), asked(who=HIDDEN))
    one = replace(release, person_of_record=np.zeros(8, np.int64))
    with pytest.raises(NotHeld, match="k-anonymity requires at least 3"):
        one.save(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_the_report_says_that_the_numbers_are_not_in_the_file():
    release = shoal.anonymize(table(), asked(who=HIDDEN, keep_order=True))
    html = render(page(facts(release)))
    for words in (
        "not published; used to count people",
        "The person numbers are not published",
        "still adjacent, although no number links them",
        "records of the original, which are of 6 people",
        "publish = false",
    ):
        assert words in html
    assert "The number of records per person is visible" not in html
    assert "how many records a person has" not in html
    told = render(page(facts(shoal.anonymize(table(), asked()))))
    assert "<code>publish = false</code> for the person column" in told
    assert any("were adjacent there" in note for note in release.notes)


def test_the_plan_and_the_recoding_keep_it(tmp_path):
    plan = asked(who=HIDDEN)
    assert 'who = { role = "person", publish = false }' in plan.to_toml()
    plan.save(tmp_path / "plan.toml")
    assert not Plan.load(tmp_path / "plan.toml").columns["who"].publish
    release = shoal.anonymize(table(), plan)
    release.recoding.save(tmp_path / "recoding.json")
    again = shoal.Fitted.load(tmp_path / "recoding.json").apply(table())
    assert again.frame.column_names == ["age", "disease"]
    assert again.after.people == 6
    again.save(tmp_path / "again.csv")


def test_only_people_are_counted_and_suppressed():
    said = "column 'age' can have publish = false only with the roles person"
    with pytest.raises(BadPlan, match=said):
        Plan(columns={"age": {"role": "quasi", "publish": False}})


def test_the_original_of_such_a_release_is_audited_by_people():
    audit = shoal.audit(table(), asked(K, EIR, who=HIDDEN))
    assert audit.people == 6
    assert any("'who', which the plan does not publish" in note for note in audit.notes)
    released = shoal.anonymize(table(), asked(who=HIDDEN)).frame
    beside = shoal.audit(released, asked(who=HIDDEN), original=table())
    assert beside.quality is not None


# Columns that are published as they are


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 1), st.sampled_from(["x", "y", "z", None])),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
)
def test_who_is_alone_if_a_column_is_known(rows, linked):
    found = pa.table(
        {
            "who": [who for who, _, _ in rows],
            "age": [age for _, age, _ in rows],
            "job": pa.array([job for *_, job in rows], pa.string()),
        }
    )
    columns = {"who": "person", "age": "quasi", "job": "other"}
    known = Plan(columns=columns).columns
    frame = Frame(found)
    told = if_known(frame, known, read_published(frame, known), [""], linked)["job"]
    has = {who: {(age, job) for one, age, job in rows if one == who} for who, _, _ in rows}
    fits = {who: [other for other in has if has[who] <= has[other]] for who in has}
    if not linked:
        fits = {who: min(([o for o in has if one in has[o]] for one in has[who]), key=len)
                for who in has}  # fmt: skip
    assert told.values == len({job for *_, job in rows})
    assert told.alone == sum(len(others) == 1 for others in fits.values())


def incomes(n=60):
    return pa.table(
        {
            "age": [30 + 10 * (i % 2) for i in range(n)],
            "income": [1000 + i for i in range(n)],
            "flag": [[i % 2] for i in range(n)],
            "disease": ["flu", "cold"] * (n // 2),
        }
    )


INCOMES = {"age": "quasi", "income": "other", "flag": "other", "disease": "sensitive"}


def test_a_column_that_would_make_everybody_unique_is_reported():
    plan = Plan(columns=INCOMES, models=[K])
    release = shoal.anonymize(incomes(), plan)
    audit = shoal.audit(release.frame, plan)
    wanted = {
        "income": {"values": 60, "alone": 60},
        "flag": {"values": 2, "alone": 0},
        "disease": {"values": 2, "alone": 0},
    }
    assert release.as_dict()["if_known"] == audit.as_dict()["if_known"] == wanted
    words = "income is not generalized and has 60 different values. If an attacker knew it, "
    words += "60 of 60 people would be unique"
    for out in (printed(show_release, release), printed(show_audit, audit)):
        assert words in " ".join(out.split())
        assert out.count("would be unique") == 1
    html = render(page(facts(release)))
    assert "would be unique if the column were known" in html
    assert "1059" not in html  # counts, and no values


def test_many_such_columns_are_reported_in_few_lines():
    found = incomes()
    for i in range(6):
        found = found.append_column(f"more{i}", found["income"])
    columns = INCOMES | {f"more{i}": "other" for i in range(6)}
    out = printed(show_release, shoal.anonymize(found, Plan(columns=columns, models=[K])))
    assert out.count("people would be unique") == 3
    assert "4 more columns would make people unique in the same way" in " ".join(out.split())


def test_a_sensitive_column_of_few_values_is_counted_without_a_warning():
    found = incomes(12).set_column(3, "disease", pa.array([f"d{i}" for i in range(12)]))
    columns = {**INCOMES, "income": "identifier", "flag": "identifier"}
    release = shoal.anonymize(found, Plan(columns=columns, models=[K]))
    assert release.as_dict()["if_known"] == {"disease": {"values": 12, "alone": 12}}
    assert "would be unique" not in printed(show_release, release)


# The file that was read


def test_the_checksum_of_the_original_file_is_shown(tmp_path):
    csv.write_csv(table(), tmp_path / "in.csv")
    sha256 = hashlib.sha256((tmp_path / "in.csv").read_bytes()).hexdigest()
    for path in (tmp_path / "in.csv", str(tmp_path / "in.csv")):
        release = shoal.anonymize(path, asked())
        assert release.as_dict()["original_sha256"] == sha256
        html = render(page(facts(release)))
        assert sha256 in html
        assert str(tmp_path) not in html
    assert release.recoding.apply(path).original_sha256 == sha256
    release = shoal.anonymize(table(), asked())
    assert release.as_dict()["original_sha256"] is None
    assert "not read from a file" in render(page(facts(release)))


def test_an_average_that_falls_is_explained():
    html = render(page(facts(shoal.anonymize(table(), asked()))))
    assert "can be lower in the release although everybody is better protected" in html


def test_no_number_of_a_person_means_missing():
    """Otherwise each record of that person would count as one person, in the release and after."""
    rows = [(who, age, "flu") for who in range(100, 140) for age in (30, 30, 50)]
    plan = asked(missing_values=["NA", "0", "1", "2", "05", "7"])
    release = shoal.anonymize(table(rows), plan)
    assert release.after.people == release.before.people == 40
    assert shoal.audit(release.frame, plan).people == 40
    assert set(release.frame["who"].to_pylist()).isdisjoint({0, 1, 2, 7})


def test_numbers_that_are_rounded_are_not_said_to_be_unchanged():
    """Neither by the warnings of the command line nor by the report."""
    columns = {**INCOMES, "income": {"role": "other", "round": 2}, "flag": "drop"}
    columns["disease"] = "drop"
    release = shoal.anonymize(incomes(), Plan(columns=columns, models=[K]))
    out = printed(show_release, release)
    assert "income is not generalized and has" in " ".join(out.split())
    assert "unchanged" not in out
    html = render(page(facts(release)))
    assert "If an attacker knew a column that is not generalized" in html
    assert "columns are published unchanged" not in html
    assert "an unchanged column" not in html
