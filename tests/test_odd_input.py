"""Item 16: odd files, odd settings, and messages that a reader can act on."""

from __future__ import annotations

import os
import socket
from math import inf, nan

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import BadFile, BadHierarchy, BadPlan, BadTable, Hierarchy, Plan
from shoal.base.errors import BadInput
from shoal.flow.apply.fitted import Fitted
from shoal.io.files import read_table
from shoal.io.frames import atomic
from tests.strategies import examples

K2 = {"name": "k-anonymity", "k": 2}
HALF = "x\ud800"  # a lone surrogate
TABLE = pa.table({"a": ["12", "34"] * 3, "s": ["x", "y"] * 3})


def plan(hierarchy=None, **more):
    column = {"role": "quasi"} | ({} if hierarchy is None else {"hierarchy": hierarchy})
    return Plan(**{"columns": {"a": column, "s": "sensitive"}, "models": [K2]} | more)


def nested(deep):
    inside = {"leaf": None}
    for level in range(deep):
        inside = {f"n{level}": inside}
    return inside


# Settings


@pytest.mark.parametrize(
    ("hierarchy", "words"),
    [
        ({"prefixes": True, "length": 10**9}, "at most 1,000 characters, got length = 1000000000"),
        ({"prefixes": True, "length": 10**5000}, "too large to show"),
        ({"prefixes": True, "length": -1}, "0 or more"),
        ({"prefixes": list(range(5000, 0, -1))}, "from 1 to 1,000"),
        ({"ranges": [10**400]}, "at most 15 digits"),
        ({"ranges": [10**5000]}, "too large to show"),
        ({"ranges": [nan]}, "nan"),
        ({"ranges": [5], "start": inf}, "inf"),
        ({"ranges": [-1e-300]}, "above 0"),
        ({"borders": [[10**5000]]}, "too large to show"),
        ({"borders": nested(3000)}, "one list of numbers or dates per level"),
        ({"borders": [[HALF]]}, "a border of dates is a date"),
        ({"free_ranges": True, "low": -(10**400)}, "at most 15 digits"),
        ({"dates": ["1000000000 years"]}, "no calendar step '1000000000 years'"),
        ({"dates": ["1" + "0" * 5000 + " years"]}, "no calendar step"),
        ({"tree": nested(3000)}, "too deep; give each value its parent"),
        ({"trees": nested(3000)}, "did you mean 'tree'"),
        ({"tree": {"*": ["12", "34", HALF]}}, "lone surrogate"),
    ],
)
def test_item_16_hierarchies_of_odd_settings(hierarchy, words):
    with pytest.raises(BadHierarchy, match="column 'a'") as error:
        plan(hierarchy)
    assert words in str(error.value)
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"models": [{"name": "k-anonymity", "k": 10**5000}]}, "k has more than 300 digits"),
        ({"models": [{"name": "k-anonymity", "k": nan}]}, "k=nan"),
        ({"models": [{"name": "k-anonymity", "k": -5}]}, "k=-5"),
        ({"models": [{"name": "k-anonymity", "k": nested(3000)}]}, "too large to show"),
        ({"seed": 10**5000}, "seed has more than 300 digits"),
        ({"seed": -1}, "seed=-1"),
        ({"algorithm": {"name": "full-domain", "suppression": nan}}, "suppression"),
        ({"algorithm": {"name": "full-domain", "suppression": inf}}, "suppression"),
        ({"missing_values": [HALF]}, "lone surrogate"),
    ],
)
def test_item_16_plans_of_odd_settings(more, words):
    with pytest.raises(BadPlan) as error:
        plan(**more)
    assert words in str(error.value)
    assert len(str(error.value)) < 1000


def test_item_16_a_number_of_digits_that_no_range_can_hold():
    long = ["1" * 301, "5"] * 3
    for hierarchy in ({"ranges": [5]}, {"free_ranges": True}):
        with pytest.raises(BadHierarchy, match=r"longer ones: '1{20}…'") as error:
            shoal.anonymize(pa.table({"a": long, "s": long}), plan(hierarchy))
        assert "if they are codes" in str(error.value)
        with pytest.raises(BadHierarchy, match="need numbers, but the column has 'old'") as error:
            shoal.anonymize(pa.table({"a": ["old", "5"] * 3, "s": long}), plan(hierarchy))
        assert "digits" not in str(error.value)


def test_codes_that_are_too_long_to_lose_one_character_at_a_time():
    long = pa.table({"a": ["x" * 100_000, "y"] * 3, "s": ["x", "y"] * 3})
    with pytest.raises(BadHierarchy, match="say how many characters to keep"):
        shoal.anonymize(long, plan({"prefixes": True}))
    assert shoal.anonymize(long, plan({"prefixes": [1]})).published == 6


@pytest.mark.parametrize("content", ["a = " + "[" * 3000, "a = " + "{ a = " * 3000])
def test_item_16_a_plan_nested_3000_deep(content, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(content)
    with pytest.raises(BadPlan, match=r"plan\.toml: tables or lists are nested too deep"):
        Plan.load(path)


# Half characters


def test_item_16_lone_surrogates():
    cells = pd.DataFrame({"a": pd.Series(["12", HALF], dtype=object), "s": ["x", "y"]})
    with pytest.raises(BadTable, match=r"^column 'a' contains half a character .* in the rows 2;"):
        shoal.anonymize(cells, plan())
    named = pd.DataFrame([["x", "y"]], columns=pd.Index([HALF, "s"], dtype=object))
    with pytest.raises(BadTable, match="columns whose names contain half a character"):
        shoal.anonymize(named, plan())
    for name in (f"{HALF}.csv", "x\0.csv"):
        with pytest.raises(BadFile, match="no file can have this name"):
            read_table(name)
        with pytest.raises(BadFile, match="no file can have this name"), atomic(name):
            pass
    with pytest.raises(BadPlan, match="lone surrogate"):
        Plan(columns={HALF: "quasi"}).to_toml()


# Files that are none


def test_item_16_pipes_devices_sockets_and_loops_are_refused(tmp_path):
    """At once: whatever reads a pipe nobody writes to would wait for ever."""
    for name in ("t.csv", "t.parquet", "t.csv.gz", "plan.toml", "fit.json", "levels.csv"):
        os.mkfifo(tmp_path / name)
    readers = {
        "t.csv": read_table, "t.parquet": read_table, "t.csv.gz": read_table,
        "plan.toml": Plan.load, "fit.json": Fitted.load, "levels.csv": Hierarchy.from_csv,
    }  # fmt: skip
    for name, read in readers.items():
        with pytest.raises(BadFile, match="it is a pipe, not a file; write its content to a file"):
            read(tmp_path / name)
    for name, read in readers.items():
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to("/dev/zero")
        with pytest.raises(BadFile, match="it is a device, not a file"):
            read(tmp_path / name)
        (tmp_path / name).unlink()
        (tmp_path / name).symlink_to(tmp_path / name)
        with pytest.raises(BadFile, match="symbolic links"):
            read(tmp_path / name)
        (tmp_path / name).unlink()
        with pytest.raises(BadFile, match="no such file"):
            read(tmp_path / name)
        (tmp_path / name).mkdir()
        with pytest.raises(BadFile, match="it is a directory, not a file"):
            read(tmp_path / name)
    with pytest.raises(BadFile, match="File name too long"):
        read_table(tmp_path / f"{'x' * 5000}.csv")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s.csv"))
        with pytest.raises(BadFile, match="it is a socket"):
            read_table(tmp_path / "s.csv")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
def test_marks_of_encodings(encoding, tmp_path):
    path = tmp_path / "t.csv"
    text = "a,b\nü,1\n"
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    path.write_bytes((mark + text).encode(encoding))
    assert read_table(path).to_pydict() == {"a": ["ü"], "b": ["1"]}


def test_a_file_with_the_line_ends_of_old_machines(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'a,b\r1,"2"\r3,4\r')
    assert read_table(tmp_path / "t.csv").to_pydict() == {"a": ["1", "3"], "b": ["2", "4"]}
    (tmp_path / "t.csv").write_bytes(b'a,b\r1,2\r3,"4"5\r')
    with pytest.raises(BadTable, match="closing quote"):
        read_table(tmp_path / "t.csv")


# Quotes


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv"])
@pytest.mark.parametrize("row", ['"abc"def,1', '1,""x', '"a,"b,1', '"a""b"c,1', '"a" ,1'])
def test_item_16_text_after_a_closing_quote(name, row, tmp_path):
    import gzip

    opened = gzip.open if name.endswith("gz") else open
    text = f"a,b\n1,2\n{row}\n3,4\n"
    with opened(tmp_path / name, "wt") as file:
        file.write(text.replace(",", "\t") if name.endswith("tsv") else text)
    with pytest.raises(
        BadTable, match=r"in the row that begins in line 3 .* text follows a closing"
    ):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    "row", ['"a ""quoted"" word",1', 'a 5" pipe,1', '"",1', '"a,b","1"', '"two\nlines",1', '"""",1']
)
def test_quotes_where_they_belong_are_read(row, tmp_path):
    import csv
    import io

    (tmp_path / "t.csv").write_text(f"a,b\n{row}\n{row}\n")
    found = read_table(tmp_path / "t.csv").to_pylist()
    (expected,) = csv.reader(io.StringIO(row))
    assert found == [dict(zip("ab", expected, strict=True))] * 2 or expected[0] == ""


@settings(max_examples=examples(400))
@given(
    st.lists(st.text(st.sampled_from('a",\n'), max_size=6), min_size=1, max_size=4).map("\n".join),
    st.integers(1, 9),
)
def test_a_stream_in_pieces_is_judged_as_the_strict_reader_does(content, size):
    """What is not odd to the quick look is sound to the slow one, wherever blocks end."""
    import csv
    import io

    from shoal.io.text_reading import CountedBytes

    source = CountedBytes(io.BytesIO(content.encode()), ",", lambda: None)
    while source.read(size):
        pass
    whole = CountedBytes(io.BytesIO(content.encode()), ",", lambda: None)
    whole.read(-1)
    assert (source.odd_quotes, source.quotes) == (whole.odd_quotes, whole.quotes)
    try:
        list(csv.reader(io.StringIO(content, newline=""), strict=True))
    except csv.Error:
        assert source.odd_quotes or source.quotes % 2


# Messages


def test_item_16_errors_name_the_file_that_was_asked_for(tmp_path):
    target = tmp_path / "release.csv"
    with pytest.raises(BadFile) as error, atomic(target) as beside:
        raise BadFile(f"cannot read {beside}: it is damaged")
    assert str(error.value) == f"cannot read {target}: it is damaged"
    with pytest.raises(BadInput) as error, atomic(target) as beside, atomic(beside) as second:
        read_table(second)
    assert ".shoal-" not in str(error.value)
    assert str(target) in str(error.value)


def test_item_16_a_plan_with_a_number_of_thousands_of_digits(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(f"seed = {'1' * 5000}\n", encoding="utf-8")
    with pytest.raises(BadPlan, match="number with too many digits"):
        Plan.load(path)


def test_item_16_a_level_file_with_an_endless_field(tmp_path):
    path = tmp_path / "levels.csv"
    path.write_text('"' + "a" * 200_000 + '",*\n', encoding="utf-8")
    with pytest.raises(BadFile, match="longer than 131,072 characters"):
        Hierarchy.from_csv(path).tree(["a"])


def test_a_dictionary_of_structs_is_refused():
    inside = pa.StructArray.from_arrays([pa.array(list("abcd"))], ["f"])
    odd = pa.DictionaryArray.from_arrays(pa.array(range(4), pa.int8()), inside)
    with pytest.raises(BadTable, match="'o' is a dictionary of struct"):
        shoal.audit(
            pa.table({"q": ["x"] * 4, "o": odd}), Plan(columns={"q": "quasi", "o": "other"})
        )
