"""Text files in every layout that a plan can state."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shoal import BadPlan
from shoal.base.errors import BadFile, BadTable
from shoal.engines.source import Source
from shoal.io.frames import read, read_back, write
from shoal.io.reading import Reading
from tests.io.tables import SECRET, as_read, file, values

CELLS = st.one_of(st.none(), st.text("a#,;'\"\n\r é|[ ", max_size=5))


def batched(path, reading):
    """The same cells, read part by part."""
    source = Source.of(path, reading)
    found: dict[str, list] = {name: [] for name in source.schema.names}
    for _, batch in source.batches(lambda _: None):
        for name, cells in zip(batch.schema.names, batch.columns, strict=True):
            found[name] += cells.to_pylist()
    return found


@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8),
    st.sampled_from([None, ",", ";", "|", "@", " "]),
    st.sampled_from([None, "'", "$"]),
    st.booleans(),
    st.sampled_from([None, "#", "//", "["]),
    st.sampled_from([None, "latin-1", "utf-16"]),
    st.integers(1, 2),
)
def test_what_is_written_is_read_again(
    tmp_path_factory, rows, delimiter, quote, header, comment, encoding, width
):
    stated = Reading(
        delimiter=delimiter, quote=quote, header=header, comment=comment, encoding=encoding
    )
    names = [f"column_{i + 1}" for i in range(width)] if not header else ["#a", "b;é"][:width]
    cells = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    if width == 1:  # then an empty text is missing
        cells = {name: [one or None for one in column] for name, column in cells.items()}
    path = tmp_path_factory.mktemp("x") / "x.csv"
    write(as_read(cells), path, stated)
    nothing = all(one is None for column in cells.values() for one in column)
    if nothing and width == 2 and delimiter == " " and not header:  # a file of nothing but blanks
        with pytest.raises(BadFile, match="the file is empty"):
            read_back(path, stated)
        return
    assert values(read_back(path, stated)) == cells
    assert batched(path, stated) == cells


@given(
    st.lists(
        st.sampled_from(["1,a", '2,"x\n#y"', "#z", "# 1,2,3", '#"', "3,#", '"#4",b']), min_size=1
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 50),
    st.booleans(),
)
def test_comments_are_left_out(tmp_path_factory, lines, end, chunk, last):
    folder = tmp_path_factory.mktemp("x")
    kept = [line for line in lines if not line.startswith("#")]
    assume(kept)
    with_comments = end.join(["# about", "a,b", *lines]) + end * last
    without = end.join(["a,b", *kept]) + end * last
    path, plain = file(folder, with_comments), file(folder, without, "plain.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.io.raw_text.comments.AT_ONCE", chunk)
        stated = Reading(comment="#")
        assert values(read(path, None, stated)) == values(read(plain)) == batched(path, stated)


def test_no_header(tmp_path):
    path = file(tmp_path, "17;f\n18;m\n")
    stated = Reading(header=False, delimiter=";")
    assert values(read(path, None, stated)) == {"column_1": ["17", "18"], "column_2": ["f", "m"]}
    with pytest.raises(BadTable, match="must have 2 fields as the first row has, but line 2 has 3"):
        read(file(tmp_path, f"17;f\n18;m;{SECRET}\n"), None, stated)


@pytest.mark.parametrize("text", ["1, x, x\n2, y, z\n", "1,,x\n2,y,z\n"])
def test_names_that_may_be_a_record(text, tmp_path):
    with pytest.raises(BadTable, match=r"If the first line is a record, .*header = false.*--no-he"):
        read(file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("name, first;age\nA, B;3\nC;4\n", ["name, first", "age"]),  # one comma more in the header
        ("a|b,c|d,e|f,g,h\n1|2|3|4\n5|6|7|8\n", ["a", "b,c", "d,e", "f,g,h"]),
        ("a;b\n1,5;2\n", ["a", "b"]),
    ],
)
def test_rows_show_the_delimiter_too(text, names, tmp_path):
    assert read(file(tmp_path, text)).names == names


def test_no_quotes_at_all(tmp_path):
    stated = Reading(quote="", delimiter=";")
    path = file(tmp_path, 'a;b\n5" pipe;"x\n')
    assert values(read(path, None, stated)) == {"a": ['5" pipe'], "b": ['"x']}
    write(as_read({"a": ['5"'], "b": ["x"]}), tmp_path / "y.csv", stated)
    assert (tmp_path / "y.csv").read_text() == 'a;b\n5";x\n'
    with pytest.raises(BadFile, match="cannot be written; state a quote"):
        write(as_read({"a": [f"{SECRET};"], "b": ["x"]}), tmp_path / "y.csv", stated)


@pytest.mark.parametrize(
    "stated",
    [
        {"delimiter": ""},
        {"delimiter": ";;"},
        {"delimiter": "\n"},
        {"delimiter": '"'},
        {"delimiter": "§"},
        {"quote": "''"},
        {"quote": "'", "delimiter": "'"},
        {"comment": ""},
        {"comment": "a\nb"},
        {"comment": '"a'},
        {"comment": ";", "delimiter": ";"},
        {"header": "no"},
    ],
)
def test_statements_that_contradict_themselves(stated):
    with pytest.raises(BadPlan, match=r"\[read\]"):
        Reading(**stated)
