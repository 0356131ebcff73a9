"""However a table is written as text, its release and all measures are the same.

The spellings of numbers and dates, and the layout of the file: delimiter, header, quotes, comments.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.io.frames import open_frame, read, write
from tests.io.tables import values
from tests.strategies import ALL

HIERARCHIES = {
    "flat": None,
    "ranges": {"ranges": [0.5, 100]},
    "borders": {"borders": [[0.5, 2, 1000], [2, 1000]]},
    "free": {"free_ranges": True},
    "levels": {"levels": [[f"{i / 8:.12g}", "low" if i < 40 else "high", "*"] for i in range(80)]},
}
DATES = ["%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d %b %Y", "%Y/%m/%d %H:%M", "%Y-%m-%d"]


def written(eighths: int, decimal: str, thousands: str, percent: bool, zeros: bool) -> str:
    """A number of eighths, so that it has up to three decimals."""
    whole, places = f"{eighths / 8:.3f}".split(".")
    places = places if zeros else places.rstrip("0")
    if thousands:
        whole = f"{int(whole):,}".replace(",", thousands)
    return whole + (decimal + places if places else "") + (" %" if percent else "")


@settings(max_examples=60 if ALL else 5)
@given(
    st.lists(st.integers(0, 79), min_size=4, max_size=12),
    st.sampled_from([(",", "."), (",", ""), (",", " "), (".", ","), (".", "'"), (".", "")]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(DATES),
    st.sampled_from(sorted(HIERARCHIES)),
    st.sampled_from([None, "latin-1"]),
    st.sampled_from([1, 1000]),
    st.sampled_from([{"dates": ["month", "year"]}, {"borders": [["1900-01-01", "1900-06-01"]]}]),
)
def test_the_same_release_and_the_same_audit(
    numbers, signs, percent, zeros, date_format, hierarchy, encoding, times, calendar
):
    if hierarchy == "levels":
        times = 1
    spelling = {"decimal": signs[0], "thousands": signs[1], "percent": percent}
    spelling = {key: sign for key, sign in spelling.items() if sign not in ("", False)}
    days = [date(1899, 12, 28) + timedelta(days=3 * number) for number in numbers]
    cells = [written(number * times, *signs, percent, zeros) for number in numbers]
    plainly = [f"{number * times / 8:.12g}" for number in numbers]
    rows = zip(cells, (day.strftime(date_format) for day in days), cells, strict=True)
    time = " 00:00" if "%H" in date_format else ""
    plain = zip(plainly, (f"{day}{time}" for day in days), plainly, strict=True)
    columns = {
        "n": {"role": "quasi", "hierarchy": HIERARCHIES[hierarchy]},
        "d": {"role": "quasi", "hierarchy": calendar},
        "o": {"role": "other"},
    }
    models = [{"name": "k-anonymity", "k": 2}]
    plan = Plan(columns=columns, models=models, algorithm="gaa", loss="ncp", seed=3)
    stated = plan.changed(
        columns={
            "n": columns["n"] | spelling,
            "d": columns["d"] | {"date_format": date_format},
            "o": columns["o"] | spelling,
        },
        read={"encoding": encoding, "delimiter": "|"},
    )
    with TemporaryDirectory() as folder:
        original, same = Path(folder, "original.csv"), Path(folder, "same.csv")
        original.write_text("n|d|o\n" + "\n".join(map("|".join, rows)) + "\n", encoding=encoding)
        same.write_text("n|d|o\n" + "\n".join(map("|".join, plain)) + "\n")
        release, expected = shoal.anonymize(original, stated), shoal.anonymize(same, plan)
        release.save(Path(folder, "release.csv"))
        expected.save(Path(folder, "expected.csv"))
        assert release.losses == expected.losses
        assert as_numbers(Path(folder, "release.csv"), stated) == as_numbers(
            Path(folder, "expected.csv"), plan
        )
        found = shoal.audit(Path(folder, "release.csv"), stated, original=original).as_dict()
        wanted = shoal.audit(Path(folder, "expected.csv"), plan, original=same).as_dict()
        assert found == wanted
        alone = shoal.audit(original, stated).as_dict()
        assert alone == shoal.audit(same, plan).as_dict()


def as_numbers(path: Path, plan: Plan) -> dict[str, list]:
    """The cells of a release; numbers as such, as 1.50 and 1.5 are the same."""
    cells = values(read(path, None, plan.read))
    return {name: [number(cell) for cell in column] for name, column in cells.items()}


def number(cell: str) -> object:
    try:
        return float(cell)
    except ValueError:
        return cell


# The layout of a text file

SIGNS = "ab1#',;\"| \n"
NAMES = ["column_1", "column_2", "column_3", "column_4"]  # as without a header


@st.composite
def layouts(draw: st.DrawFn) -> dict:
    """What a plan states under [read]."""
    quote = draw(st.sampled_from(['"', "'", ""]))
    # Without quotes, no delimiter can be in a cell, and ranges have commas.
    delimiter = draw(st.sampled_from(",;|\t" if quote else ";|\t"))
    stated: dict = {"delimiter": delimiter, "quote": quote}
    if draw(st.booleans()):
        stated["header"] = False
    if draw(st.booleans()):
        stated["comment"] = draw(st.sampled_from(["#", "//"]))
    return stated


def texts_of(layout: dict) -> st.SearchStrategy[str]:
    """Cells that the layout can write."""
    quote, never = layout["quote"], layout["delimiter"] + "\n#/"
    signs = SIGNS if quote else "".join(sign for sign in SIGNS if sign not in never)
    return st.text(st.sampled_from(signs), max_size=3)


def laid_out(rows: list, layout: dict, every: bool, comments: list[int]) -> str:
    """A text file of this layout; `every`: fields are quoted whether or not they need it."""
    quote, comment = layout["quote"], layout.get("comment", "")
    special = {layout["delimiter"], quote, "\n"}

    def field(cell: str) -> str:
        needs = special & set(cell) or (comment and cell.startswith(comment))
        if not quote or not cell or not (every or needs):
            return cell
        return quote + cell.replace(quote, 2 * quote) + quote

    header = [NAMES] if layout.get("header", True) else []
    lines = [layout["delimiter"].join(map(field, row)) for row in [*header, *rows]]
    for place in sorted(comments, reverse=True):
        if comment:
            lines.insert(
                place % (len(lines) + 1), f"{comment} a remark{layout['delimiter']}{quote}"
            )
    return "\n".join(lines) + "\n"


PLAINLY = {"delimiter": ",", "quote": '"'}


@settings(max_examples=100 if ALL else 6)
@given(layout=layouts(), every=st.booleans(), data=st.data())
def test_the_same_release_in_any_layout(layout: dict, every: bool, data: st.DataObject) -> None:
    """Also by DuckDB, which counts the rows of the same file."""
    word = texts_of(layout)
    some = data.draw(st.lists(word, min_size=1, max_size=3))
    record = st.tuples(
        st.sampled_from(some), st.integers(0, 30).map(str), st.sampled_from(some), word
    )
    rows = data.draw(st.lists(record, min_size=4, max_size=12))
    comments = data.draw(st.lists(st.integers(0, 20), max_size=3))
    columns = {
        "column_1": "quasi",
        "column_2": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}},
        "column_3": "sensitive",
        "column_4": "other",
    }
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], loss="ncp", seed=3,
                read=PLAINLY)  # fmt: skip
    with TemporaryDirectory() as folder:
        plainly, other = Path(folder, "plainly.csv"), Path(folder, "other.csv")
        plainly.write_text(laid_out(rows, PLAINLY, False, []), encoding="utf-8", newline="")
        text = laid_out(rows, layout, every, comments)
        other.write_text(text, encoding="utf-8", newline="")
        stated = plan.changed(read=layout)
        expected = shown(plainly, plan, Path(folder, "expected.csv"))
        assert shown(other, stated, Path(folder, "release.csv")) == expected
        engine = stated.changed(engine="duckdb")
        by_duckdb = shown(other, engine, Path(folder, "duckdb.csv"))
        assert sorted(by_duckdb.pop("rows")) == sorted(expected.pop("rows"))
        # The order of the records is another one, and so is the last digit of a sum.
        assert flat(by_duckdb) == pytest.approx(flat(expected))


def flat(value: object, name: str = "") -> dict[str, object]:
    """All that is inside of mappings and lists, by its place."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for key, one in pairs for k, v in flat(one, f"{name}/{key}").items()}
    return {name: value}


def shown(original: Path, plan: Plan, path: Path) -> dict:
    """A release as it is read again by the same plan, and what is measured of it."""
    release = shoal.anonymize(original, plan)
    release.save(path)
    cells = values(read(path, None, plan.read))
    audit = shoal.audit(path, plan.changed(engine="memory"), original=original).as_dict()
    return {
        "names": list(cells),
        "rows": list(zip(*(map(str, column) for column in cells.values()), strict=True)),
        "losses": release.losses,
        "known": release.as_dict()["if_known"],
        "audit": audit,
    }


def test_duckdb_gives_one_label_to_all_spellings_of_a_number(tmp_path: Path) -> None:
    ages = ["25", "25.0", "+25", " 25", "025", "2.5e1", "31", "31.0", "7", "38"] * 2
    lines = "\n".join(["age,born", *(f"{age},2024-05-{17 + i % 2}" for i, age in enumerate(ages))])
    (tmp_path / "people.csv").write_text(lines.replace("2024-05-18", "20240517") + "\n")
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [10]}},
        "born": {"role": "quasi", "hierarchy": {"dates": ["month"]}},
    }
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 4}], seed=1)
    found = {}
    for engine in ("memory", "duckdb"):
        release = shoal.anonymize(tmp_path / "people.csv", plan.changed(engine=engine))
        release.save(tmp_path / f"{engine}.csv")
        lines = sorted((tmp_path / f"{engine}.csv").read_text().splitlines())
        audit = shoal.audit(tmp_path / f"{engine}.csv", plan, original=tmp_path / "people.csv")
        found[engine] = lines, release.losses, audit.as_dict()
    assert found["memory"] == found["duckdb"]
    assert found["memory"][0].count("25,2024-05-17") == 12


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_duckdb_reads_the_same(ending, tmp_path):
    rows = 40
    cells = {"n": [f"{1 + i % 4}.{100 + i % 2}" for i in range(rows)]}
    cells["d"] = [f"{1 + i % 9:02}.05.2024" for i in range(rows)]
    write(open_frame(pa.table(cells)), tmp_path / f"people{ending}")
    columns = {
        "n": {"role": "quasi", "hierarchy": {"ranges": [2000]}, "decimal": ",", "thousands": "."},
        "d": {"role": "other", "date_format": "%d.%m.%Y"},
    }
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 4}], seed=1)
    found = []
    for engine in ("memory", "duckdb"):
        release = shoal.anonymize(tmp_path / f"people{ending}", plan.changed(engine=engine))
        release.save(tmp_path / f"{engine}.csv")
        found.append(sorted((tmp_path / f"{engine}.csv").read_text().splitlines()))
    assert found[0] == found[1]
    assert "1100,2024-05-03" in found[0]
