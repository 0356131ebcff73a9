"""Laws about words that mean missing: they are published as they were written, and seen so."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.errors import BadHierarchy
from shoal.hierarchies.base import Hierarchy
from tests.strategies import examples

WORDS = ["N", "99", "?"]
KINDS = {
    "flat": None,
    "ranges": Hierarchy.ranges([10, 20]),
    "borders": Hierarchy.borders([[35, 50], [50]]),
    "free ranges": Hierarchy.free_ranges(),
    "free sets": Hierarchy.free_sets(),
}
AGES = st.sampled_from(["31", "38", "52", *WORDS, "", None])


def plan(kind: str = "ranges", **change: object) -> Plan:
    """A plan in which the words of one column are values in others."""
    columns = {
        "age": {"role": "quasi", "hierarchy": KINDS[kind], "missing_values": WORDS},
        "sex": "quasi",
        "note": {"role": "other", "missing_values": ["f"]},
        "disease": {"role": "sensitive", "missing_values": ["N", "?"]},
    }
    asked: dict = {"columns": columns, "models": [{"name": "k-anonymity", "k": 2}],
                   "missing_values": ["", "u"], "algorithm": "gaa"}  # fmt: skip
    return Plan(**asked | change)


def table(ages: list) -> pa.Table:
    n = len(ages)
    return pa.table({
        "age": pa.array(ages, pa.string()),
        "sex": ["f", "N", "u", "f"] * (n // 4) + ["f"] * (n % 4),
        "note": ["f", "u", "N", "?"] * (n // 4) + ["?"] * (n % 4),
        "disease": ["flu", "N", "?", "cold"] * (n // 4) + ["?"] * (n % 4),
    })  # fmt: skip


@settings(max_examples=examples(40))
@given(kind=st.sampled_from(list(KINDS)), ages=st.lists(AGES, min_size=4, max_size=16))
def test_published_words_are_those_of_their_records(kind: str, ages: list) -> None:
    given_table = table(ages)
    release = shoal.anonymize(given_table, plan(kind), keep_order=True)
    published = release.frame
    for name in ("note", "disease"):
        assert published[name].to_pylist() == given_table[name].to_pylist()
    for before, now in zip(ages, published["age"].to_pylist(), strict=True):
        assert now != ""
        if now in (None, *WORDS):  # a word, or an empty cell, is never made of something else
            assert (before or None) == now
    # Who reads the release sees each word as a value of its own.
    seen = Counter(
        zip(published["age"].to_pylist(), published["sex"].to_pylist(), strict=True)
    )  # fmt: skip
    assert min(seen.values()) >= 2
    assert shoal.audit(published, plan(kind)).holds


def test_empty_makes_all_of_them_equal() -> None:
    ages = ["31", "38", "N", "", "99", None, "?", "?"]
    release = shoal.anonymize(table(ages), plan(missing="empty"), keep_order=True)
    now = release.frame["age"].to_pylist()
    assert not set(WORDS) & set(now)
    for before, value in zip(ages, now, strict=True):
        assert (value is None) <= (before in (None, "", *WORDS))
    assert None in now


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        pytest.param(kind, missing, marks=[pytest.mark.slow] if (i + j) % 4 else [])
        for i, kind in enumerate(KINDS)
        for j, missing in enumerate(["value", "empty", "root"])
    ],
)
def test_engines_publish_the_same_words(kind: str, missing: str, tmp_path: Path) -> None:
    ages = ["31", "38", "N", "N", "99", "99", "?", None, None, "52", "53", "N"] * 3
    pc.write_csv(table(ages), tmp_path / "people.csv")
    original, found = tmp_path / "people.csv", {}
    for engine in ("memory", "duckdb"):
        asked = plan(kind, missing=missing, engine=engine, seed=1)
        release = shoal.anonymize(original, asked)
        release.save(tmp_path / f"{engine}.csv")
        lines = sorted((tmp_path / f"{engine}.csv").read_text().splitlines())
        found[engine] = lines, release.as_dict()["if_known"], release.as_dict()["losses"]
    audited = shoal.audit(
        tmp_path / "duckdb.csv", asked.changed(engine="memory"), original=original
    )
    assert audited.holds
    assert found["memory"] == found["duckdb"]


def test_words_of_a_person_column_are_its_own() -> None:
    people = pa.table({"who": ["1", "1", "?", "?", "N", "N"], "sex": ["f", "?"] * 3})
    columns = {"who": {"role": "person", "missing_values": ["?"]}, "sex": "quasi"}
    asked = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], missing_values=["N"])
    release = shoal.anonymize(people, asked, keep_order=True)
    numbers = release.frame["who"].to_pylist()
    assert numbers[2] != numbers[3]  # nobody is known to be the person of both
    assert numbers[4] == numbers[5]  # here N is a person


def test_engines_count_the_words_of_each_column_with_people_too(tmp_path: Path) -> None:
    people = table(["31", "38", "N", "N", "99", "99", "?", "?"] * 3)
    people = people.append_column("who", [[f"p{i // 2}" for i in range(23)] + ["-"]])
    pc.write_csv(people, tmp_path / "people.csv")
    columns = {**plan().columns, "who": {"role": "person", "missing_values": ["-"]}}
    found = [
        shoal.anonymize(tmp_path / "people.csv", plan(columns=columns, engine=engine, seed=1))
        for engine in ("memory", "duckdb")
    ]
    memory, duckdb = ([one.if_known, one.losses, one.after.people] for one in found)
    assert memory == duckdb


def test_words_of_a_column_are_values_in_others_and_errors_where_missing_is_one() -> None:
    asked = plan(missing="error")
    full = table(["31", "38", "52", "57"]).set_column(1, "sex", [["f", "N", "f", "N"]])
    assert shoal.anonymize(full, asked).published == 4
    with pytest.raises(BadHierarchy, match=r"column 'age': missing values in 1 rows"):
        shoal.anonymize(full.set_column(0, "age", [["31", "99", "52", "57"]]), asked)


def test_a_recoding_keeps_the_words_of_each_column(tmp_path: Path) -> None:
    people = table(["31", "38", "N", "N", "99", "99", "?", "?"])
    fitted = shoal.anonymize(people, plan()).recoding
    fitted.save(tmp_path / "recoding.json")
    again = shoal.Fitted.load(tmp_path / "recoding.json")
    assert again.plan.missing_of("age") == ["", *WORDS]
    applied = again.apply(people, keep_order=True)
    for before, now in zip(
        people["age"].to_pylist(), applied.frame["age"].to_pylist(), strict=True
    ):
        assert now not in WORDS or now == before


def test_a_plan_file_has_the_words_of_each_column(tmp_path: Path) -> None:
    plan().save(tmp_path / "plan.toml")
    again = Plan.load(tmp_path / "plan.toml")
    assert again.columns["age"].missing_values == WORDS
    assert again.columns["sex"].missing_values is None
    assert again.to_toml() == plan().to_toml()
