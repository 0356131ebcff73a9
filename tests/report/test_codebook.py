"""The codebook of a release."""

from __future__ import annotations

import csv
import json
from html import unescape
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.errors import BadFile, ShoalError
from shoal.io.labels import Labels, labelled
from shoal.report.codebook import SHOWN, codebook

ROWS = {
    "name": ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gus", "Hal"],
    "who": ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"],
    "age": ["31", "38", "52", "57", "?", "?", "", ""],
    "zip": ["47677", "47678", "47602", "47605", "47905", "47905", "47909", "47906"],
    "job": ["nurse", "nurse", "cook", "baker", "cook", "cook", "pilot", "pilot"],
    "disease": ["flu", "<b>cold</b>", "flu", "=1+1", "flu", "flu", None, "n/a"],
}
JOBS = {"*": {"health": ["nurse", "surgeon"], "food": ["baker", "cook"], "transport": ["pilot"]}}


def plan(**change: object) -> Plan:
    columns = {
        "name": "drop",
        "who": "person",
        "age": {"role": "quasi", "hierarchy": {"ranges": [10, 20]}, "missing_values": ["?"]},
        "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
        "job": {"role": "quasi", "hierarchy": {"tree": JOBS}},
        "disease": {"role": "sensitive", "missing_values": ["n/a"]},
    }
    asked: dict = {"columns": columns, "models": [{"name": "k-anonymity", "k": 2}], "seed": 4711}
    return Plan(**asked | change)


@pytest.fixture(scope="module")
def release() -> shoal.Release:
    return shoal.anonymize(pa.table(ROWS), plan())


def test_ranges_between_borders_are_explained(tmp_path: Path) -> None:
    """Also those that lack an end, and those of dates."""
    days = [f"{year}-03-{day:02}" for year in (2019, 2020, 2021, 2024) for day in range(1, 4)]
    rows = {"age": [1, 2, 3, 20, 21, 22, 41, 42, 43, 70, 80, 90], "day": days}
    borders = {"age": [[18, 40, 65]], "day": [["2020-01-01", "2022-01-01"]]}
    columns = {
        name: {"role": "quasi", "hierarchy": {"borders": levels}}
        for name, levels in borders.items()
    }
    asked = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 3}], seed=1)
    shoal.anonymize(pa.table(rows), asked).codebook(tmp_path / "book.html")
    page = unescape((tmp_path / "book.html").read_text())
    for said in (
        "<18 is a number less than 18.",
        ">=65 is a number of 65 or more.",
        "[18, 40) is a number of 18 or more and less than 40.",
        "<2020-01-01 is a date before 2020-01-01.",
        ">=2022-01-01 is a date from 2022-01-01 on.",
        "[2020-01-01, 2022-01-01) is a date from 2020-01-01 on and before 2022-01-01.",
        "in ranges cut at 18, 40 and 65",
    ):
        assert said in page


def test_values_and_counts_are_those_of_the_release(release, tmp_path: Path) -> None:
    release.codebook(tmp_path / "book.json")
    book = json.loads((tmp_path / "book.json").read_text())
    assert book["records"] == 8
    assert [one["name"] for one in book["columns"]] == release.frame.column_names
    for column in book["columns"]:
        cells = release.frame[column["name"]].to_pylist()
        found = {one["value"]: one["records"] for one in column["values"]}
        if column["role"] == "person":
            assert found == {}
        else:
            assert found == {cell: cells.count(cell) for cell in cells}
        assert column["different_values"] == len(set(cells))


def test_csv_has_the_same(release, tmp_path: Path) -> None:
    release.codebook(tmp_path / "book.csv")
    with (tmp_path / "book.csv").open() as file:
        lines = list(csv.DictReader(file))
    for column in codebook(release):
        mine = [line for line in lines if line["column"] == column.name]
        expected = [(v.text or "", v.kind, str(v.records)) for v in column.values]
        if column.values:
            assert [(line["value"], line["kind"], line["records"]) for line in mine] == expected
        else:
            assert [line["kind"] for line in mine] == ["random number"]


@pytest.mark.parametrize("ending", ["html", "csv", "json"])
def test_nothing_is_in_it_that_is_not_published(release, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"book.{ending}"
    release.codebook(path)
    content = unescape(path.read_text())
    published = {str(cell) for column in release.frame.columns for cell in column.to_pylist()}
    postcodes = [code for code in ROWS["zip"] if code not in published]
    assert len(postcodes) > 3
    for secret in [*ROWS["name"], *ROWS["who"], *postcodes, "baker", "surgeon", "4711"]:
        assert secret not in content


def test_kinds_and_how_to_read_them(release) -> None:
    columns = {one.name: one for one in codebook(release)}
    kinds = {v.text: v.kind for one in columns.values() for v in one.values}
    assert kinds["flu"] == "value"
    assert kinds[None] == kinds["n/a"] == "missing"
    for text, kind in kinds.items():
        if text and text.startswith("["):
            assert kind == "generalized"
    assert kinds.get("*", "suppressed") == "suppressed"
    reading = " ".join(line for one in columns.values() for line in one.reading)
    assert "or more and less than" in reading
    assert "is a code that begins with 47" in reading
    assert columns["disease"].reading == ["An empty cell and “n/a” mean that the value is missing."]
    assert columns["age"].levels == ["a range of 10", "a range of 20"]
    assert columns["job"].generalized == "by a table of levels"


def test_html_is_escaped_and_cut(tmp_path: Path) -> None:
    many = pa.table({"q": ["a"] * 60, "note": [f"note {i}" for i in range(60)]})
    asked = Plan(columns={"q": "quasi", "note": "other"},
                 models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    release = shoal.anonymize(many, asked)
    release.codebook(tmp_path / "book.html")
    html = (tmp_path / "book.html").read_text()
    assert html.count('<th scope="row">note ') == SHOWN
    assert "20 less frequent values not shown" in html
    release.codebook(tmp_path / "book.json")
    assert "note 59" in (tmp_path / "book.json").read_text()


def test_html_shows_values_as_text(release, tmp_path: Path) -> None:
    release.codebook(tmp_path / "book.html")
    html = (tmp_path / "book.html").read_text()
    assert "<b>cold" not in html
    assert "&lt;b&gt;cold&lt;/b&gt;" in html


def test_labels_of_published_values_are_in_it(tmp_path: Path) -> None:
    table = pa.table({"sex": [1, 1, 2, 2, 2], "job": ["a", "a", "b", "b", "c"]})
    labels = {"sex": Labels("Sex of the person", {"1": "male", "2": "female", "3": "diverse"})}
    asked = Plan(columns={"sex": "quasi", "job": "drop"},
                 models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    release = shoal.anonymize(labelled(table, labels), asked)
    for ending in ("html", "csv", "json"):
        release.codebook(tmp_path / f"book.{ending}")
        content = (tmp_path / f"book.{ending}").read_text()
        assert "Sex of the person" in content
        assert "female" in content
        assert "diverse" not in content


def test_bounds_and_formulas(tmp_path: Path) -> None:
    asked = plan(write={"ranges": "bounds", "formulas": "escape"})
    release = shoal.anonymize(pa.table(ROWS), asked)
    release.codebook(tmp_path / "book.csv")
    assert "'=1+1" in (tmp_path / "book.csv").read_text()
    release.codebook(tmp_path / "book.html")
    assert "age_low" in (tmp_path / "book.html").read_text()
    release.save(tmp_path / "out.csv")
    written = [name for one in codebook(release) for name in one.written_as]
    assert (tmp_path / "out.csv").read_text().splitlines()[0].split(",") == written


def test_what_cannot_be_written(release, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"\.html, \.csv or \.json"):
        release.codebook(tmp_path / "book.pdf")
    edited = shoal.anonymize(pa.table(ROWS).to_pandas(), plan())
    edited.frame["disease"] = "x"
    with pytest.raises(ShoalError, match="changed after it was verified"):
        edited.codebook(tmp_path / "book.csv")
    assert not list(tmp_path.iterdir())


def test_the_command_line(run, tmp_path: Path) -> None:
    import pyarrow.csv as pc

    pc.write_csv(pa.table(ROWS), "people.csv")
    plan().save("plan.toml")
    status, out, _ = run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "out.csv",
                         "--codebook", "book.html", "--recoding", "recoding.json")  # fmt: skip
    assert status == 0
    assert "written: book.html" in out
    assert "Codebook" in Path("book.html").read_text()
    status, _, error = run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "new.csv",
                           "--codebook", "book.txt")  # fmt: skip
    assert status == 2
    assert "a codebook is a file .html, .csv or .json" in error
    assert not Path("new.csv").exists()
    status, _, error = run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "new.csv",
                           "--codebook", "new.html", "--engine", "duckdb")  # fmt: skip
    assert status == 2
    assert "engine = 'duckdb' does not support a codebook" in error
    assert not Path("new.csv").exists()
    status, _, _ = run("apply", "people.csv", "--recoding", "recoding.json", "--out", "new.csv",
                       "--codebook", "book.json")  # fmt: skip
    assert status == 0
    assert json.loads(Path("book.json").read_text())["records"] == 8


def test_rare_values_and_the_order_of_bands(tmp_path: Path) -> None:
    bands = ["[100-125)"] * 3 + ["[50-75)"] * 9997
    table = pa.table({"age": [30] * 10_000, "weight": bands})
    asked = Plan(
        columns={"age": "quasi", "weight": "other"}, models=[{"name": "k-anonymity", "k": 2}]
    )
    release = shoal.anonymize(table, asked)
    assert [one.text for one in codebook(release)[1].values] == ["[50-75)", "[100-125)"]
    release.codebook(tmp_path / "book.html")
    page = (tmp_path / "book.html").read_text().replace("\xa0", " ")
    assert "0.03 %" in page
    assert "0.0 %" not in page


def coded() -> shoal.Release:
    """A release with numbers that are cut off, rounded, or the mean of a class."""
    rows = {
        "age": [30, 34, 51, 59] * 3,
        "gain": [0, 120, 9_999, 99_999] * 3,
        "pay": [-5, 10, 20, 30] * 3,
        "hours": [40, 40, 20, 95] * 3,
        "note": list("abcd") * 3,
    }
    columns = {
        "age": {"role": "quasi", "microaggregate": "mean"},
        "gain": {"role": "other", "top": 10_000, "round": 100},
        "pay": {"role": "sensitive", "bottom": 0},
        "hours": {"role": "quasi", "top": 80},
        "note": "other",
    }
    asked = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], seed=1,
                 accept=["gain", "note"])  # fmt: skip
    return shoal.anonymize(pa.table(rows), asked)


def test_coded_numbers_are_not_said_to_be_unchanged(tmp_path: Path) -> None:
    release = coded()
    said = {one.name: one.published_as for one in codebook(release)}
    assert said == {
        "age": "the mean of each class",
        "gain": "coded numbers: rounded to multiples of 100; 10,000 stands for 10,000 or more",
        "pay": "coded numbers: 0 stands for 0 or less (sensitive)",
        "hours": "coded numbers: 80 stands for 80 or more; suppressed where needed",
        "note": "unchanged",
    }
    for ending in ("html", "csv", "json"):
        release.codebook(tmp_path / f"book.{ending}")
        text = unescape((tmp_path / f"book.{ending}").read_text())
        assert all(one in text or one[0].upper() + one[1:] in text for one in said.values())
