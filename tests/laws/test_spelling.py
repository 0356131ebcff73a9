"""However a table writes its numbers and dates, its release and all measures are the same."""

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
from tests.strategies import examples

HIERARCHIES = {
    "flat": None,
    "ranges": {"ranges": [0.5, 100]},
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


@settings(max_examples=examples(40))
@given(
    st.lists(st.integers(0, 79), min_size=4, max_size=12),
    st.sampled_from([(",", "."), (",", ""), (",", " "), (".", ","), (".", "'"), (".", "")]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(DATES),
    st.sampled_from(sorted(HIERARCHIES)),
    st.sampled_from([None, "latin-1"]),
    st.sampled_from([1, 1000]),
)
def test_the_same_release_and_the_same_audit(
    numbers, signs, percent, zeros, date_format, hierarchy, encoding, times
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
        "d": {"role": "quasi", "hierarchy": {"dates": ["month", "year"]}},
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
