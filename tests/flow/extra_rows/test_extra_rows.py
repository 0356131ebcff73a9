"""Rows that are no records: units below the names, totals at the end."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import shoal
from shoal import Database, Plan
from shoal.databases.writing import write_to
from shoal.errors import BadPlan, BadTable
from shoal.flow.draft.draft import examine
from shoal.flow.draft.table_rows import open_with_rows
from shoal.flow.extra_rows.find_rows import find_extra_rows, is_total
from shoal.flow.extra_rows.open_records import open_records
from shoal.io.frames import Frame, open_frame, read, write
from shoal.io.reading import Reading

ROWS = 24
PEOPLE = {
    "place": [("Kiel", "Bonn", "Trier")[i % 3] for i in range(ROWS)],
    "sex": [("f", "m")[i % 2] for i in range(ROWS)],
    "age": [str(30 + i % 4) for i in range(ROWS)],
    "pay": [f"{2000 + 10 * (i % 5)}.50" for i in range(ROWS)],
}
SUM = f"{sum(map(float, PEOPLE['pay'])):.2f}"
AGES = str(sum(map(int, PEOPLE["age"])))
COLUMNS = {
    "place": "quasi",
    "sex": "quasi",
    "age": {"role": "quasi", "hierarchy": {"ranges": [2, 4]}},
    "pay": "sensitive",
}


def table(*last: list[str | None], units: list[str | None] | None = None) -> pa.Table:
    """People, with rows that are none."""
    top = [] if units is None else [units]
    cells = zip(*top, *zip(*PEOPLE.values(), strict=True), *last, strict=True)
    return pa.table({n: pa.array(c, pa.string()) for n, c in zip(PEOPLE, cells, strict=True)})


def plan(**read: object) -> Plan:
    return Plan(columns=COLUMNS, models=[{"name": "k-anonymity", "k": 2}], seed=1, read=read)


TOTALS = [
    ["Summe", None, None, None],
    ["Summe", None, AGES, SUM],
    ["Total général", None, None, SUM],
    ["Insgesamt:", "", "", str(ROWS)],
    ["All", None, None, SUM],
    ["Gesamt", "f/m", None, SUM],  # a note on what was counted
    [None, "Total", None, SUM],
    ["Mittelwert", None, "31.5", "2018.83"],
    [None, None, AGES, SUM],  # without a word
    ["TOTAL (n = 24)", "-", "-", "-"],
]
RECORDS = [
    ["All", "f", "31", "2010.50"],  # a value that happens to be a word for totals
    ["Total", "m", "33", "2010.50"],  # a place may be called so
    ["All", "f", None, "2010.50"],
    ["Kiel", None, None, None],  # somebody about whom little is known
    ["Summerville", None, None, None],
    [None, None, "31", "2010.50"],
]


@pytest.mark.parametrize("row", TOTALS, ids=str)
def test_a_row_of_totals_is_found(row):
    found = find_extra_rows(open_frame(table(row)))
    assert len(found.totals) == 1
    assert not found.units


@pytest.mark.parametrize("row", RECORDS, ids=str)
def test_a_record_is_no_row_of_totals(row):
    assert find_extra_rows(open_frame(table(row))) == ([], [])


def test_a_value_that_occurs_again_is_no_word_for_totals():
    rows = [["All", None, None, None], ["All", None, None, None]]
    assert find_extra_rows(open_frame(table(*rows))) == ([], [])


@pytest.mark.parametrize(
    "word", ["Σύνολο", "Ogółem", "Итого", "合計", "Összesen", "i alt", "Totaal"]
)
def test_words_of_many_languages(word):
    assert is_total(word)


def test_sums_with_decimal_commas_and_several_rows():
    cells = {
        "place": ["Kiel", "Bonn", "Trier", "Kiel", "Summe", "Mittelwert"],
        "sex": ["f", "m", "f", "m", None, None],
        "pay": ["1.200,50", "900,00", "1.000,00", "2.000,00", "5.100,50", "1.275,13"],
    }
    found = find_extra_rows(open_frame(pa.table(cells)))
    assert [one.sums for one in found.totals] == [["pay"]] * 2
    assert [one.words for one in found.totals] == [["place"]] * 2


UNITS = [
    ["", "", "Jahre", "EUR"],
    ["Ort", "m/w", "(years)", "€"],
    [None, None, "Jahre", None],
    ["Text", "Code", "n", "in Tsd. €"],
]
NO_UNITS = [
    ["Kiel", "f", "unknown", "refused"],
    ["Kiel", "f", "Jahre", "EUR"],  # f occurs again
    ["Mainz", "x", "31", "EUR"],
    [None, None, "old", None],  # one word that is no unit
    ["Mainz", "x", "NA", "NA"],
]


@pytest.mark.parametrize("row", UNITS, ids=str)
def test_a_row_of_units_is_found(row):
    found = find_extra_rows(open_frame(table(units=row)))
    assert set(found.units) <= {"age", "pay"}
    assert found.units
    assert not found.totals


@pytest.mark.parametrize("row", NO_UNITS, ids=str)
def test_a_record_is_no_row_of_units(row):
    assert find_extra_rows(open_frame(table(units=row))) == ([], [])


def test_cells_of_any_type_may_be_in_the_last_row():
    """Identifiers and columns that are dropped can be lists and structures."""
    cells = {
        "list": [[i] for i in range(ROWS)],
        "structure": [{"a": i} for i in range(ROWS)],
        "map": pa.array([[("a", i)] for i in range(ROWS)], pa.map_(pa.string(), pa.int64())),
        "bytes": [b"-"] * ROWS,
    }
    found = find_extra_rows(open_frame(pa.table(PEOPLE | cells)))
    assert not found.units
    assert not found.totals


def test_a_row_number_is_no_number_of_records():
    """Counted from zero, the last one is the number of the rows above."""
    rows = {"row": [*range(15)], "age": [0] * 14 + [14], "zip": ["02139"] * 14 + [None]}
    assert not find_extra_rows(open_frame(pa.table(rows))).totals
    numbered = table(["Summe", None, None, SUM]).append_column(
        "row", pa.array(range(ROWS + 1), pa.int64())
    )
    assert len(find_extra_rows(open_frame(numbered)).totals) == 1


def test_people_alone_are_all_records():
    assert find_extra_rows(open_frame(table())) == ([], [])
    numbers = pa.table({"a": [0, 0, 0, 0, 0], "b": [1, 2, 3, 4, 10], "c": [1, 1, 1, 1, None]})
    assert find_extra_rows(open_frame(numbers)) == ([], [])


BOTH = table(["Summe", None, None, SUM], units=["", "", "Jahre", "EUR"])


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_a_file_with_units_and_totals(ending: str, tmp_path: Path):
    path, clean = tmp_path / f"in.{ending}", tmp_path / f"clean.{ending}"
    write(open_frame(BOTH), path)
    write(open_frame(table()), clean)
    with pytest.raises(
        BadTable, match=r"units, not like a record: in 'age' and 'pay'|'age', 'pay'"
    ):
        shoal.anonymize(path, plan())
    with pytest.raises(BadTable, match=r"row 27, if the names are in row 1.*'place'.*nothing in"):
        shoal.anonymize(path, plan(units=True))
    with pytest.raises(BadTable) as error:
        shoal.anonymize(path, plan(units=True))
    assert SUM not in str(error.value)
    stated = plan(units=True, totals=True)
    release = shoal.anonymize(path, stated)
    assert release.rows == ROWS
    expected = shoal.anonymize(clean, plan())
    assert release.frame.equals(expected.frame)
    out = tmp_path / f"out.{ending}"
    release.save(out)
    found = shoal.audit(out, stated, original=path)  # the release has neither
    assert found.holds
    assert not found.notes
    assert found.as_dict()["losses"] == shoal.audit(out, plan(), original=clean).as_dict()["losses"]
    with pytest.raises(BadTable, match="looks like units"):
        shoal.audit(path, plan())
    with pytest.raises(BadTable, match="could lose a record"):
        shoal.anonymize(clean, stated)
    assert shoal.anonymize(path, plan(units=True, totals=False)).rows == ROWS + 1
    with pytest.raises(BadPlan, match="units = true"):
        shoal.anonymize(path, stated.changed(engine="duckdb"))


def test_a_database_with_units_and_totals(tmp_path: Path):
    """An audit that the database counts would have them as people."""
    path = tmp_path / "clean.csv"
    write(open_frame(table()), path)
    base = f"sqlite:///{tmp_path / 'people.db'}"
    for name, cells in (("both", BOTH), ("clean", table()), ("moved", BOTH.slice(1))):
        if name == "moved":  # a database may return rows in any order
            cells = cells.take([len(cells) - 1, *range(len(cells) - 1)])
        write_to(Database(base, name), Frame(cells), False, lambda _: None)
    both, stated = Database(base, "both"), plan(units=True, totals=True)
    expected = shoal.audit(path, plan()).as_dict()
    assert shoal.audit(both, stated).as_dict() == expected
    release = shoal.anonymize(both, stated)
    assert release.rows == ROWS
    release.save(Database(base, "release"))
    found = shoal.audit(Database(base, "release"), stated, original=both)
    assert found.holds
    assert not found.notes
    for name in ("clean", "moved"):
        with pytest.raises(BadTable, match=r"could lose a record.*with a query"):
            shoal.anonymize(Database(base, name), plan(totals=True))


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_draft_states_what_it_leaves_out(ending: str, tmp_path: Path):
    path, clean = tmp_path / f"in.{ending}", tmp_path / f"clean.{ending}"
    write(open_frame(BOTH), path)
    write(open_frame(table()), clean)
    drafted, expected = shoal.draft(path), shoal.draft(clean)
    assert drafted.read.stated() == {"units": True, "totals": True}
    assert {n: c.hierarchy and c.hierarchy.setting() for n, c in drafted.columns.items()} == {
        n: c.hierarchy and c.hierarchy.setting() for n, c in expected.columns.items()
    }
    assert sum("not read" in one for one in drafted.remarks) == 2
    drafted.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").read == Reading(units=True, totals=True)
    assert shoal.draft(clean, read={"totals": False}).read.stated() == {"totals": False}


def test_a_table_that_was_opened_without_them_is_examined(tmp_path: Path):
    path = tmp_path / "in.csv"  # as the studio does
    write(open_frame(BOTH), path)
    raw, stated = open_with_rows(path, Reading())
    examined = examine(raw, None, stated)
    assert examined.read == stated == Reading(units=True, totals=True)
    assert examined.frame.height == ROWS
    assert open_with_rows(path, stated)[0].height == ROWS


def test_numbers_below_units_keep_their_type_in_a_sheet(tmp_path: Path):
    path = tmp_path / "in.xlsx"
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        rows = [["place", "age", "pay"], ["", "Jahre", "EUR"]]
        rows += [["Kiel", 30 + i, 2000.5 + i] for i in range(6)]
        rows += [["Summe", None, sum(2000.5 + i for i in range(6))]]
        for i, row in enumerate(rows, 2):
            sheet.write_row(i, 0, row)
    read_plan = shoal.draft(path).read
    frame = open_records(path, read_plan)
    assert frame.height == 6
    assert [str(one.type) for one in frame.native.schema][1:] == ["int64", "double"]
    assert frame.native["age"].to_pylist() == [30, 31, 32, 33, 34, 35]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_of_other_libraries(kind):
    given = kind(BOTH.to_pydict())
    with pytest.raises(BadTable, match="looks like units"):
        shoal.anonymize(given, plan())
    release = shoal.anonymize(given, plan(units=True, totals=True))
    assert release.rows == ROWS
    cut = kind(table().to_pydict())
    assert shoal.anonymize(cut, plan(units=True, totals=True)).rows == ROWS


def test_french_numbers_and_missing_cells_of_pandas():
    cells = {
        "place": ["Lyon", "Nice", "Lyon", "Nice", "Ensemble"],
        "pay": ["1 200,50", "900,00", "1\u202f000,00", "2\u00a0000,00", "5 100,50"],
    }
    found = find_extra_rows(open_frame(pa.table(cells)))
    assert [one.sums for one in found.totals] == [["pay"]]
    numbers = pd.DataFrame(
        {"place": ["a", "b", "a", "b", "All"], "n": pd.array([1, 2, None, 3, 6], "Int64"),
         "day": [pd.Timestamp("2024-05-17")] * 4 + [pd.NaT]}
    )  # fmt: skip
    (row,) = find_extra_rows(open_frame(numbers)).totals
    assert (row.words, row.empty, row.sums) == (["place"], ["day"], ["n"])


def test_text_that_pyarrow_reads_is_the_same(tmp_path: Path):
    path = tmp_path / "in.csv"
    pa_csv.write_csv(BOTH, path)
    assert len(find_extra_rows(read(path)).totals) == 1
