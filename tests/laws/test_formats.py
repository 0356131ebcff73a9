"""Laws of file formats: what is written comes back, and damaged files are refused."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal import catalog
from shoal.base.errors import BadFile, BadInput, BadTable
from shoal.io.frames import Frame, read, read_back, same_rows, write
from shoal.io.labels import Labels, labelled, labels_of
from tests.strategies import examples

# Every format, by an ending that can be written.
ENDINGS = {
    name: next(ending for ending in form.endings if ending not in form.reads_only)
    for name, form in catalog.formats.items()
}
BINARY = [name for name in ENDINGS if name not in ("csv", "tsv", "jsonl")]
MORE = [".zsav", ".jsonl.gz", ".csv.zst"]  # other code, or another container
ALL = [*ENDINGS.values(), *MORE]

CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")
CELLS = {
    "text": (pa.string(), st.text(CHARACTERS, max_size=6)),
    "integer": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "small": (pa.int64(), st.integers(-200, 200)),
    "float": (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    "truth": (pa.bool_(), st.booleans()),
    "date": (pa.date32(), st.dates()),
    "moment": (
        pa.timestamp("ms"),
        st.datetimes().map(lambda one: one.replace(microsecond=one.microsecond // 1000 * 1000)),
    ),
}
VISIBLE = st.characters(codec="utf-8", categories=["L", "N", "P", "S"])
PLAIN = {  # what every format can store
    "text": (pa.string(), st.text(VISIBLE, max_size=6)),
    "small": CELLS["small"],
    "truth": CELLS["truth"],
    "date": (pa.date32(), st.dates(dt.date(1900, 1, 1))),
}  # fmt: skip


def tables(cells, missing=True) -> st.SearchStrategy[pa.Table]:
    def table(kinds: list[str], rows: int) -> st.SearchStrategy[pa.Table]:
        columns = [
            st.lists(
                st.none() | cells[kind][1] if missing else cells[kind][1],
                min_size=rows,
                max_size=rows,
            ).map(lambda values, kind=kind: pa.array(values, cells[kind][0]))
            for kind in kinds
        ]
        names = [f"c{i}" for i in range(len(kinds))]
        return st.tuples(*columns).map(lambda made: pa.table(list(made), names))

    some = st.lists(st.sampled_from(sorted(cells)), min_size=1, max_size=4)
    return st.tuples(some, st.integers(1, 5)).flatmap(lambda one: table(*one))


def written(table: pa.Table, folder: str, ending: str) -> Path:
    path = Path(folder, f"table{ending}")
    write(Frame(table), path)
    return path


@pytest.mark.parametrize("ending", ALL)
@settings(max_examples=examples(60))
@given(table=tables(CELLS))
def test_a_table_comes_back_or_is_refused(ending, table):
    """The cells are the same and the file has nothing else, or an error names what does not fit."""
    with TemporaryDirectory() as folder:
        try:
            path = written(table, folder, ending)
        except BadFile:
            assume(False)
        assert same_rows(read_back(path), Frame(table))


@pytest.mark.parametrize("ending", ALL)
@settings(max_examples=examples(40))
@given(table=tables(PLAIN, missing=False))
def test_every_format_stores_plain_tables(ending, table):
    with TemporaryDirectory() as folder:
        assert same_rows(read_back(written(table, folder, ending)), Frame(table))


TEXTS = st.text(CHARACTERS, max_size=30)
CODES = st.integers(-9, 9)


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta", ".xpt"])
@settings(max_examples=examples(120))
@given(
    numbers=st.lists(CODES, min_size=1, max_size=5),
    words=st.lists(st.text(VISIBLE, min_size=1, max_size=12), min_size=1, max_size=5),
    said=st.tuples(TEXTS, st.dictionaries(CODES, TEXTS), st.dictionaries(st.integers(0, 4), TEXTS)),
)
def test_labels_come_back(ending, numbers, words, said):
    """Those of columns, and of published values as far as the format has them."""
    about, of_codes, of_words = said
    rows = min(len(numbers), len(words))
    table = pa.table({"code": numbers[:rows], "word": words[:rows]})
    coded = {str(code): text for code, text in of_codes.items()}
    worded = {words[i]: text for i, text in of_words.items() if i < rows}
    labels = {"code": Labels(about, coded), "word": Labels(about, worded)}
    with TemporaryDirectory() as folder:
        back = read_back(written(labelled(table, labels), folder, ending)).native
    found = {name: labels_of(back.schema.field(name)) for name in labels}
    for name, one in found.items():
        assert one.column == about.rstrip()
        there = set(map(str, table[name].to_pylist()))
        stored = {".xpt": [], ".dta": ["code"]}.get(ending, ["code", "word"])
        kept = {v: text.rstrip() for v, text in labels[name].values.items() if v in there}
        assert one.values == ({v: t for v, t in kept.items() if t} if name in stored else {})


@pytest.mark.parametrize("ending", ALL)
@settings(max_examples=examples(60))
@given(table=tables(PLAIN), data=st.data())
def test_damaged_files_are_refused_or_read(ending, table, data):
    """Never with a traceback: a file that is cut off, or has other bytes somewhere."""
    with TemporaryDirectory() as folder:
        try:
            path = written(table, folder, ending)
        except BadFile:
            assume(False)
        content = bytearray(path.read_bytes())
        if data.draw(st.booleans()):
            del content[data.draw(st.integers(1, len(content) - 1)) :]
        else:
            places = st.integers(0, len(content) - 1)
            for place in data.draw(st.lists(places, min_size=1, max_size=3)):
                content[place] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        with suppress(BadInput):
            read(path)


@pytest.mark.parametrize("name", BINARY)
@given(content=st.binary(min_size=1, max_size=400))
def test_random_bytes_are_refused(name, content):
    for ending in catalog.formats[name].endings:
        with TemporaryDirectory() as folder:
            path = Path(folder, f"table{ending}")
            path.write_bytes(content)
            with pytest.raises(BadFile):
                read(path)


PLAN = shoal.Plan(
    columns={
        "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
        "sex": {"role": "quasi"},
        "born": {"role": "other"},
        "zip": {"role": "other"},
        "income": {"role": "sensitive"},
    },
    models=[{"name": "k-anonymity", "k": 3}],
    algorithm={"name": "mondrian"},
    seed=7,
)
ROWS = 60
PEOPLE = pa.table(
    {
        "age": [20 + 7 * i % 37 for i in range(ROWS)],
        "sex": ["fm"[i % 2] for i in range(ROWS)],
        "born": [dt.date(1950, 1, 1) + dt.timedelta(100 * i) for i in range(ROWS)],
        "zip": [f"0{1300 + i % 5}" for i in range(ROWS)],
        "income": [1000.5 * (i % 9) for i in range(ROWS)],
    }
)


@pytest.mark.parametrize("ending", ALL)
def test_a_table_without_rows_is_refused_by_every_command(ending, tmp_path):
    """It is read with the names of its columns, if the format stores them."""
    path = tmp_path / f"people{ending}"
    if ".jsonl" in ending:
        with pytest.raises(BadFile, match="without rows do not name the columns"):
            write(Frame(PEOPLE.slice(0, 0)), path)
        return
    write(Frame(PEOPLE.slice(0, 0)), path)
    assert (read(path).names, read(path).height) == (PEOPLE.column_names, 0)
    for work in (
        lambda: shoal.anonymize(path, PLAN),
        lambda: shoal.audit(path, PLAN),
        lambda: shoal.draft(path),
    ):
        with pytest.raises(BadTable, match="the table has no rows"):
            work()


def test_the_same_table_gives_the_same_release_in_every_format(tmp_path):
    """From every format, and read back from every format."""
    expected = None
    for ending in ALL:
        path = tmp_path / f"people{ending}"
        write(Frame(PEOPLE), path)
        release = shoal.anonymize(path, PLAN)
        release.save(tmp_path / f"release{ending}")
        found = read(tmp_path / f"release{ending}")
        expected = expected or found
        assert same_rows(found, expected), ending
        assert found.column("zip").type == pa.string()
