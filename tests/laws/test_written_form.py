"""Laws about files of releases: what `[write]` changes can be read back."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.databases.database import Database
from shoal.errors import BadFile, BadPlan, BadTable
from shoal.hierarchies.base import Hierarchy
from shoal.io.frames import Frame, open_frame, read, same_rows
from shoal.io.labels import Labels, labelled, labels_of
from shoal.io.written.formulas import escaped, unescaped
from shoal.io.written.settings import Writing
from shoal.io.written.typed_columns import typed
from shoal.table.roles import Column
from shoal.table.written.form import check_file_names
from shoal.table.written.ranges import from_bounds, with_bounds, with_midpoints
from tests.strategies import examples

DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1))
CUT_DATES = [["1914-07-28", "1945-05-08", "2000-01-01"], ["1945-05-08"]]
STEPS = ["day", "month", "quarter", "year", "decade"]
WORDS = ["?", "99"]


@st.composite
def labels(draw: st.DrawFn) -> tuple[Hierarchy, list[str | None]]:
    """A hierarchy with ends, and published values of it."""
    kind = draw(st.sampled_from(["ranges", "borders", "free ranges", "dates", "cut dates"]))
    if kind in ("dates", "cut dates"):
        hierarchy = Hierarchy.dates(STEPS) if kind == "dates" else Hierarchy.borders(CUT_DATES)
        values: list = draw(st.lists(DAYS, min_size=1, max_size=6))
        tree = hierarchy.tree([str(day) for day in values])
    else:
        whole = st.integers(-50, 150).map(str)
        tenths = st.integers(-500, 1500).map(lambda n: str(n / 10))
        values = draw(st.lists(whole if draw(st.booleans()) else tenths, min_size=1, max_size=6))
        if kind in ("ranges", "borders"):
            cut = Hierarchy.borders([[-20, 0.5, 7, 100], [7, 100], [7]])
            hierarchy = Hierarchy.ranges([0.5, 5, 10]) if kind == "ranges" else cut
            tree = hierarchy.tree(values)
        else:
            hierarchy = Hierarchy.free_ranges()
            numbers = sorted(set(map(float, values)))
            pairs = [f"[{a:g}, {b:g}]" for a in numbers for b in numbers if a < b]
            return hierarchy, draw(st.lists(
                st.sampled_from([*values, *pairs, "*", None, *WORDS]), min_size=1, max_size=20
            ))  # fmt: skip
    known = [*tree.labels, None, *WORDS]
    return hierarchy, draw(st.lists(st.sampled_from(known), min_size=1, max_size=20))


def frame_of(published: list[str | None]) -> Frame:
    return Frame(
        pa.table({"x": pa.array(published, pa.string()), "n": list(range(len(published)))})
    )


@settings(max_examples=examples(200))
@given(case=labels())
def test_bounds_are_read_back_as_the_same_ranges(case: tuple) -> None:
    hierarchy, published = case
    columns = {"x": Column(role="quasi", hierarchy=hierarchy), "n": Column(role="other")}
    frame = frame_of(published)
    bounds = with_bounds(frame, columns, ["", *WORDS])
    assert bounds.names[:2] == ["x_low", "x_high"]
    low, high = (bounds.column(name).to_pylist() for name in ("x_low", "x_high"))
    for one, two, label in zip(low, high, published, strict=True):
        assert (one is None and two is None) == (label in ("*", None, *WORDS))
        assert ((one is None) != (two is None)) == (label in hierarchy.open_labels())
        assert one is None or two is None or one <= two
    again = from_bounds(bounds, columns)
    numbers = [None if v is None else v.removesuffix(".0") for v in published]
    assert again.column("x").to_pylist() == numbers
    assert again.names == frame.names


@settings(max_examples=examples(100))
@given(case=labels())
def test_a_midpoint_is_between_the_bounds(case: tuple) -> None:
    hierarchy, published = case
    columns = {"x": Column(role="quasi", hierarchy=hierarchy), "n": Column(role="other")}
    bounds = with_bounds(frame_of(published), columns, ["", *WORDS])
    middle = with_midpoints(frame_of(published), columns, ["", *WORDS]).column("x").to_pylist()
    low, high = (bounds.column(name).to_pylist() for name in ("x_low", "x_high"))
    for one, two, mid in zip(low, high, middle, strict=True):
        assert mid is None if one is None or two is None else one <= mid <= two


CELLS = st.text(alphabet="'=+-@\t\r\n5.e %a", max_size=5)


@settings(max_examples=examples(400))
@given(cells=st.lists(st.none() | CELLS, max_size=12))
def test_formulas_are_escaped_and_read_back(cells: list) -> None:
    table = pa.table({"=x": pa.array(cells, pa.string()), "n": pa.array([-5] * len(cells))})
    safe = escaped(table)
    assert safe.column_names == ["'=x", "n"]
    for cell in safe["'=x"].to_pylist():
        if cell and cell[0] in "=+-@\t\r\n":
            float(cell.removesuffix("%"))  # a number, which is no formula
    assert unescaped(safe).equals(table)


@settings(max_examples=examples(200))
@given(cells=st.lists(CELLS, min_size=1, max_size=8))
def test_reading_never_makes_different_values_equal(cells: list) -> None:
    """Also in a table that was not escaped."""
    found = unescaped(pa.table({"x": cells}))["x"].to_pylist()
    assert len(set(found)) == len(set(cells))


TEXTS = st.one_of(
    st.integers(-(10**19), 10**19).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.dates().map(str),
    st.sampled_from(["true", "false", "True", "01", "1.0", "2024-02-31", "-0", "1e5", "x", ""]),
)


@settings(max_examples=examples(300))
@given(data=st.data())
def test_types_lose_nothing(data: st.DataObject) -> None:
    some = data.draw(st.lists(TEXTS, min_size=1, max_size=3))
    cells = data.draw(st.lists(st.none() | st.sampled_from(some), min_size=1, max_size=12))
    table = pa.table({"x": pa.array(cells, pa.string())})
    now = typed(table)
    assert same_rows(open_frame(now), open_frame(table))
    assert now["x"].cast(pa.string()).to_pylist() == [
        None if v is None else v for v in cells
    ] or pa.types.is_floating(now["x"].type)


# Files


ROWS = {
    "age": [31, 38, 52, 57, 55, 33, 71, 72, None, None],
    "born": [
        *["1990-01-05", "1990-02-07", "1970-03-01", "1970-11-30"] * 2,
        "1950-05-05",
        "1950-05-05",
    ],
    "sex": ["f", "m", "m", "f", "f", "f", "m", "m", "f", "f"],
    "note": ["=1+1", "@x", "'=a", "-5", "plain", "+1 a", "\ttab", "=1+1", "x", "y"],
}


def plan(**change: object) -> Plan:
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [10, 20]}},
        "born": {"role": "quasi", "hierarchy": {"dates": ["month", "year", "decade"]}},
        "sex": "quasi",
        "note": "other",
    }
    asked: dict = {"columns": columns, "models": [{"name": "k-anonymity", "k": 2}], "seed": 3}
    return Plan(**asked | change)


@pytest.mark.parametrize(
    ("ending", "types"),
    [
        ("csv", "keep"),
        ("parquet", "infer"),
        pytest.param("parquet", "keep", marks=pytest.mark.slow),
        pytest.param("csv", "infer", marks=pytest.mark.slow),
    ],
)
def test_a_file_with_bounds_is_the_same_release(ending: str, types: str, tmp_path: Path) -> None:
    labels = shoal.anonymize(pa.table(ROWS), plan())
    asked = plan(write={"ranges": "bounds", "formulas": "escape", "types": types})
    release = shoal.anonymize(pa.table(ROWS), asked)
    assert release.frame.equals(labels.frame)
    out = tmp_path / f"out.{ending}"
    release.save(out)
    table = pq.read_table(out) if ending == "parquet" else read(out).native
    assert table.column_names[:5] == ["age_low", "age_high", "age_note", "born_low", "born_high"]
    if ending == "parquet":
        assert table.schema.field("age_low").type == pa.int64()
        assert table.schema.field("born_high").type == pa.date32()
        assert pa.types.is_dictionary(table.schema.field("sex").type) == (types == "infer")
    else:
        assert "'=1+1" in out.read_text()
        assert ",-5" in out.read_text()
    found = shoal.audit(out, asked, original=pa.table(ROWS))
    assert found.holds
    expected = shoal.audit(labels.frame, plan(), original=pa.table(ROWS))
    for key in ("levels", "losses", "risks", "if_known", "classes"):
        assert found.as_dict()[key] == expected.as_dict()[key]
    assert found.notes == expected.notes


def test_spreadsheets_are_escaped_unless_the_plan_says_otherwise(tmp_path: Path) -> None:
    out = tmp_path / "out.xlsx"
    shoal.anonymize(pa.table(ROWS), plan()).save(out)
    assert {"'=1+1", "''=a", "-5"} < set(read(out).column("note").to_pylist())
    assert shoal.audit(out, plan(), original=pa.table(ROWS)).notes == []
    keep = plan(write={"formulas": "keep"})
    shoal.anonymize(pa.table(ROWS), keep).save(out)
    assert {"=1+1", "'=a", "-5"} < set(read(out).column("note").to_pylist())
    assert shoal.audit(out, keep, original=pa.table(ROWS)).notes == []


def test_a_file_with_midpoints_satisfies_the_models_as_it_is(tmp_path: Path) -> None:
    asked = plan(write={"ranges": "midpoint"})
    release = shoal.anonymize(pa.table(ROWS), asked)
    release.save(tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.field("born").type == pa.date32()
    seen = zip(*(table[name].to_pylist() for name in ("age", "born", "sex")), strict=True)
    assert min(Counter(seen).values()) >= 2
    assert shoal.audit(tmp_path / "out.parquet", asked).holds
    with pytest.raises(BadPlan, match="midpoints cannot be compared"):
        shoal.audit(tmp_path / "out.parquet", asked, original=pa.table(ROWS))


# One number or date, written in several ways.
NUMBERS = ["25", "25.0", "+25", " 25", "25 ", "025", "2.5e1", "25.", "0", "-0", "0.0", "1000",
           "1e3", ".5", "0.50", "-7", "-7.00", "31"]  # fmt: skip
MOMENTS = ["2024-05-17", "2024-05-17 00:00", "2024-05-17T00:00:00", "20240517", " 2024-05-17",
           "2024-W20-5", "2024-05-18", "2023-01-01"]  # fmt: skip
KINDS = {
    "ranges": (Hierarchy.ranges([5, 10]), NUMBERS),
    "borders": (Hierarchy.borders([[0, 10, 26, 500], [26]]), NUMBERS),
    "free ranges": (Hierarchy.free_ranges(), NUMBERS),
    "dates": (Hierarchy.dates(["month", "year"]), MOMENTS),
    "cut dates": (Hierarchy.borders([["2024-01-01", "2024-05-18"]]), MOMENTS),
}


@settings(max_examples=examples(60))
@given(kind=st.sampled_from(list(KINDS)), data=st.data())
def test_bounds_of_values_that_are_written_in_several_ways(kind: str, data: st.DataObject) -> None:
    """The file with bounds can be compared with its original, as the one with labels."""
    hierarchy, ways = KINDS[kind]
    cells = data.draw(st.lists(st.sampled_from(ways), min_size=4, max_size=12))
    rows = pa.table({"x": cells})
    asked = [
        Plan(columns={"x": {"role": "quasi", "hierarchy": hierarchy}}, algorithm="gaa", seed=1,
             models=[{"name": "k-anonymity", "k": 2}], write={"ranges": ranges})
        for ranges in ("bounds", "label")
    ]  # fmt: skip
    numbers = []
    for one in asked:
        release = shoal.anonymize(rows, one)
        with TemporaryDirectory() as folder:
            release.save(Path(folder, "out.csv"))
            audit = shoal.audit(Path(folder, "out.csv"), one, original=rows)
        assert audit.holds
        assert audit.as_dict()["losses"] == pytest.approx(release.losses)
        numbers.append(audit.as_dict()["losses"])
    assert numbers[0] == numbers[1]


def test_midnight_has_bounds(tmp_path: Path) -> None:
    rows = pa.table({"born": pa.array([dt.datetime(2024, 5, 17)] * 2 + [dt.datetime(2024, 6, 1)])})
    columns = {"born": {"role": "quasi", "hierarchy": {"dates": ["month", "year"]}}}
    asked = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], seed=1,
                 algorithm={"name": "full-domain", "suppression": 0.4},
                 write={"ranges": "bounds"})  # fmt: skip
    shoal.anonymize(rows, asked).save(tmp_path / "out.csv")
    assert "2024-05-17,2024-05-17" in (tmp_path / "out.csv").read_text()
    assert shoal.audit(tmp_path / "out.csv", asked, original=rows).holds


def test_a_number_that_would_be_read_as_a_word_for_missing(tmp_path: Path) -> None:
    """99.0 is a value, 99 is not; as bounds they would be the same."""
    rows = pa.table({"age": ["99.0", "99.0", "99", "99"]})
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}, "missing_values": ["99"]}}
    asked = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], seed=1)
    release = shoal.anonymize(rows, asked)
    release.save(tmp_path / "out.csv")
    assert shoal.audit(tmp_path / "out.csv", asked, original=rows).holds
    bounds = shoal.anonymize(rows, asked.changed(write={"ranges": "bounds"}))
    with pytest.raises(BadTable, match=r"column 'age' publishes '99.0', .* a word for missing"):
        bounds.save(tmp_path / "out.csv")


def test_free_ranges_that_auto_chose_are_read_back(tmp_path: Path) -> None:
    rows = pa.table({"age": [30, 31, 32, 40, 41, 42, 50, 51]})
    asked = Plan(columns={"age": "quasi"}, models=[{"name": "k-anonymity", "k": 2}], seed=1,
                 algorithm="auto", write={"ranges": "bounds"})  # fmt: skip
    release = shoal.anonymize(rows, asked)
    release.save(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("age_low,age_high\n")
    assert shoal.audit(tmp_path / "out.csv", asked, original=rows).holds


def test_a_file_that_lies_about_its_bounds_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hierarchy.ranges([10]).__class__, "ends", lambda *_: None)
    release = shoal.anonymize(pa.table(ROWS), plan(write={"ranges": "bounds"}))
    with pytest.raises(BadTable, match=r"column 'age' publishes .* ranges = 'label'"):
        release.save(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_bounds_have_the_label_of_their_column() -> None:
    columns = {"x": Column(role="quasi", hierarchy=Hierarchy.ranges([10]))}
    labels = {"x": Labels("Age", {"31": "thirty-one"})}
    frame = Frame(labelled(pa.table({"x": ["[30, 40)", "31"]}), labels))
    bounds = with_bounds(frame, columns, [""]).native.schema
    assert [labels_of(field) for field in bounds] == [Labels("Age")] * 2


def test_names_of_bounds_are_taken() -> None:
    columns = {**plan().columns, "age_low": "other"}
    with pytest.raises(BadPlan, match="column 'age_low', which is the name of a bound of 'age'"):
        plan(columns=columns, write={"ranges": "bounds"})


def test_settings(tmp_path: Path) -> None:
    asked = plan(write={"ranges": "bounds", "formulas": "escape"})
    asked.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").write == asked.write
    with pytest.raises(BadPlan, match="ranges"):
        plan(write={"ranges": "ends"})
    with pytest.raises(BadPlan, match=r"\[write\] is a table"):
        plan(write="bounds")
    with pytest.raises(BadPlan, match=r"does not support \[write\] yet \(ranges\)"):
        shoal.anonymize(tmp_path / "people.csv", plan(write={"ranges": "bounds"}, engine="duckdb"))
    with pytest.raises(BadPlan, match="known by their names"):
        plan(write={"ranges": "bounds"}, read={"header": False})
    linked = [{"name": "k-1-anonymity", "k": 2}]
    with pytest.raises(BadPlan, match="midpoint"):
        plan(models=linked, algorithm="concealment", write={"ranges": "midpoint"})


@pytest.mark.parametrize("low", [None, "x"])
def test_bounds_that_are_none(low: object) -> None:
    table = pa.table({"age_low": pa.array([low], pa.string()), "age_high": ["40"],
                      "born": ["1990"], "sex": ["f"]})  # fmt: skip
    with pytest.raises(BadTable, match=r"only one of 'age_low'|no bounds of 'age'"):
        shoal.audit(table, plan(write={"ranges": "bounds"}))


def test_a_table_of_a_database_has_bounds_and_its_own_apostrophes(tmp_path: Path) -> None:
    rows = pa.table({**ROWS, "note": ["'=a"] * len(ROWS["age"])})
    asked = plan(write={"ranges": "bounds", "formulas": "escape", "types": "infer"})
    release = shoal.anonymize(rows, asked)
    target = Database(f"sqlite:///{tmp_path / 'out.db'}", table="release")
    release.save(target)
    table = open_frame(target).native
    assert table.column_names[:2] == ["age_low", "age_high"]
    assert set(table["note"].to_pylist()) == {"'=a"}
    assert shoal.audit(target, asked, original=rows).holds


PAID = {
    "age": ["31", "31", "32", "32"],
    "born": ["1990-01-02"] * 4,
    "sex": ["f"] * 4,
    "note": ["2325.70", "1800.00", "2100.25", None],
    "code": ["01051011", "01051012", "05111000", "05111000"],
    "pay": ["12.50", "99.90", "13.25", "unknown"],
}


@pytest.mark.parametrize("ending", ["parquet", "xlsx", "dta"])
def test_measurements_with_trailing_zeros_are_numbers(ending: str, tmp_path: Path) -> None:
    asked = plan(write={"types": "infer"})
    asked = asked.changed(
        columns={**asked.columns, "code": Column(role="other"), "pay": Column(role="sensitive")},
        accept=["note", "code"],
    )
    release = shoal.anonymize(pa.table(PAID), asked)
    out = tmp_path / f"out.{ending}"
    release.save(out)
    table = read(out).native
    assert table.schema.field("note").type == pa.float64()
    found = sorted(one for one in table["note"].to_pylist() if one is not None)
    assert found == [1800.0, 2100.25, 2325.7]
    assert set(table["code"].to_pylist()) == {"01051011", "01051012", "05111000"}
    said = " ".join(release.notes)
    assert "'code' stays text" in said
    assert "leading zeros would be lost, as in 01051011" in said
    assert "values such as unknown are no numbers" in said
    assert "'note'" not in said
    audited = shoal.audit(out, asked, original=pa.table(PAID))
    assert audited.holds
    assert not [one for one in audited.notes if "other values" in one]
    release.codebook(tmp_path / "codebook.json")
    assert "It is text and not a number: leading" in (tmp_path / "codebook.json").read_text()


def test_a_missing_code_with_zeros_stays_text() -> None:
    table = pa.table(
        {"a": ["1.50", "-9.00"], "b": ["1.5", "1.50"], "c": ["1" * 15 + ".25", "1.50"]}
    )
    found = typed(table, {"a": ["", "-9.00"], "b": [], "c": []})
    assert [str(field.type) for field in found.schema] == ["string", "double", "string"]
    assert typed(table).schema.types == [pa.string()] * 3  # a hierarchy may have 1.50 as a label


SIZES = {
    "Größe (cm)": [str(160 + i % 8) for i in range(16)],
    "sex": ["f", "m"] * 8,
    "Brutto €": [f"{2000 + i}.50" for i in range(16)],
}
NEW = {"Größe (cm)": "groesse_cm", "Brutto €": "brutto"}


def sizes(**change: object) -> Plan:
    columns = {
        "Größe (cm)": {"role": "quasi", "hierarchy": {"ranges": [2, 4, 8]}},
        "sex": "quasi",
        "Brutto €": "sensitive",
    }
    models = [{"name": "k-anonymity", "k": 2}]
    return Plan(
        **{"columns": columns, "models": models, "seed": 3, "write": {"names": NEW}, **change}
    )


@pytest.mark.parametrize("ending", ["csv", "xlsx", "sav", "dta", "xpt", "parquet"])
@pytest.mark.parametrize("ranges", ["label", "bounds"])
def test_new_names_are_those_of_the_file(ending: str, ranges: str, tmp_path: Path) -> None:
    asked = sizes(write={"names": NEW, "ranges": ranges})
    original = pa.table(SIZES)
    release = shoal.anonymize(original, asked)
    assert release.frame.column_names == list(SIZES)
    out = tmp_path / f"out.{ending}"
    release.save(out)
    quasi = ["groesse_cm"] if ranges == "label" else ["groesse_cm_low", "groesse_cm_high"]
    assert read(out).names == [*quasi, "sex", "brutto"]
    plain = sizes(write={})
    expected = shoal.audit(release.frame, plain, original=original).as_dict()
    found = shoal.audit(out, asked, original=original)
    assert found.holds
    for key in ("levels", "losses", "risks", "if_known", "classes"):
        assert found.as_dict()[key] == expected[key]
    asked.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").write == asked.write
    release.codebook(tmp_path / "codebook.csv")
    names = set(read(tmp_path / "codebook.csv").native["column"].to_pylist())
    assert names == {"groesse_cm", "sex", "brutto"}
    assert "Größe (cm)" in (tmp_path / "codebook.csv").read_text()


def test_a_renamed_table_of_a_database(tmp_path: Path) -> None:
    release = shoal.anonymize(pa.table(SIZES), sizes())
    target = Database(f"sqlite:///{tmp_path / 'out.db'}", table="release")
    release.save(target)
    assert open_frame(target).names == ["groesse_cm", "sex", "brutto"]
    assert shoal.audit(target, sizes(), original=pa.table(SIZES)).holds


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"Grösse (cm)": "g"}, "did you mean 'Größe"),
        ({"Größe (cm)": "sex"}, "another column"),
        ({"Größe (cm)": "x", "sex": "x"}, "several columns"),
        ({"Größe (cm)": " "}, "table of texts"),
        ({"Größe (cm)": "sex_low"}, "another column"),
        ({"Größe (cm)": "a\0b"}, "control characters"),
        ({"sex": "\ufeffsex"}, "byte order marks"),
    ],
)
def test_names_that_do_not_fit(names: dict, said: str) -> None:
    with pytest.raises(BadPlan, match=said):
        sizes(write={"names": names})


@pytest.mark.parametrize("ending", ["low", "high", "note"])
def test_new_names_of_bounds_are_of_one_column(ending: str) -> None:
    """Two columns of one name in the file: an internal error, or a release that was refused."""
    names = {"Größe (cm)": "size", "sex": f"size_{ending}"}
    with pytest.raises(BadPlan, match=f"columns of the same name 'size_{ending}'"):
        sizes(write={"names": names, "ranges": "bounds"})
    assert sizes(write={"names": names}).write.names == names


def test_names_of_columns_that_are_left_out() -> None:
    columns = {**sizes().columns, "id": Column(role="identifier")}
    with pytest.raises(BadPlan, match="not published"):
        sizes(columns=columns, write={"names": {"id": "number"}})
    changed = sizes().changed(columns={**columns, "Brutto €": {"role": "drop"}})
    assert changed.write.names == {"Größe (cm)": "groesse_cm"}


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_names_are_refused_before_the_work(ending: str, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"\[write\] names = \{ \"Größe \(cm\)\" = \"Groesse_cm\""):
        check_file_names(tmp_path / f"out.{ending}", sizes().columns, Writing())
    check_file_names(tmp_path / f"out.{ending}", sizes().columns, sizes().write)
    check_file_names(tmp_path / "out.csv", sizes().columns, Writing())


@pytest.mark.parametrize(
    ("writing", "proposed"),
    [
        (Writing(ranges="bounds"), '"Größe (cm)" = "Groesse_cm"'),
        (Writing(names=NEW | {"Größe (cm)": "g (cm)"}), '"Größe (cm)" = "Groesse_cm"'),
        (Writing(names=NEW | {"Größe (cm)": "g" * 30}, ranges="bounds"), '"Größe (cm)" = "Gr'),
        (Writing(names=NEW | {"sex": "Groesse_cm", "Größe (cm)": "%"}), '= "Groesse_cm_2"'),
    ],
)
def test_the_names_that_an_error_proposes_can_be_stated(
    writing: Writing, proposed: str, tmp_path: Path
) -> None:
    """They are of columns of the plan, not of bounds or of names that the plan gives."""
    out = tmp_path / "out.dta"
    with pytest.raises(BadFile) as error:
        check_file_names(out, sizes().columns, writing)
    assert proposed in str(error.value)
    stated = re.search(r"names = \{.*\}", str(error.value))
    assert stated
    names = tomllib.loads(stated[0])["names"]
    better = writing.model_copy(update={"names": writing.names | names})
    asked = sizes(write=better.model_dump(exclude_defaults=True))
    check_file_names(out, asked.columns, asked.write)
