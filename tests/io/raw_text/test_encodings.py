"""Encodings: found by the bytes or stated, and never guessed wrong without a word."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import BadPlan
from shoal.base.errors import BadFile
from shoal.engines.source import Source
from shoal.io.frames import read, read_back, write
from shoal.io.raw_text import encodings
from shoal.io.reading import Reading
from shoal.io.text_layout import ENCODING_KEY
from tests.io.tables import SECRET, as_read, file, refuse, values

TEXT = "name,größe\nJürgen,1\nAndré,2\n"
EXPECTED = {"name": ["Jürgen", "André"], "größe": ["1", "2"]}


def found(path, reading=None):
    """The encoding that was found, by both ways of reading."""
    metadata = read(path, None, reading).native.schema.metadata or {}
    again = Source.of(path, reading).schema.metadata or {}
    assert metadata.get(ENCODING_KEY) == again.get(ENCODING_KEY)
    return metadata.get(ENCODING_KEY, b"").decode()


@pytest.mark.parametrize(
    ("encoding", "called"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
        ("latin-1", "latin-1"),
        ("windows-1252", "latin-1"),  # no byte is different
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_what_is_found(encoding, called, packed, tmp_path):
    raw = TEXT.encode(encoding)
    path = file(tmp_path, gzip.compress(raw) if packed else raw, "x.csv" + ".gz" * packed)
    assert values(read(path)) == EXPECTED
    assert found(path) == called


def test_windows_has_letters_where_latin_1_has_none(tmp_path):
    path = file(tmp_path, "name,b\n“Š”,€\n".encode("windows-1252"))
    assert values(read(path)) == {"name": ["“Š”"], "b": ["€"]}
    assert found(path) == "windows-1252"


@pytest.mark.parametrize("chunk", [5, 64])
def test_a_late_letter_decides_for_the_whole_file(chunk, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.io.text_reading.CHUNK", chunk)
    text = "a,b\n" + "1,x\n" * 1000 + "2,ß\n" + "3,é\n" * 5
    path = file(tmp_path, text.encode("latin-1"))
    assert values(read(path))["b"][-6:] == ["ß", *["é"] * 5]
    assert found(path) == "latin-1"
    batches = [batch for _, batch in Source.of(path).batches(lambda _: None)]
    assert [cell for batch in batches for cell in batch["b"].to_pylist()][-6:-4] == ["ß", "é"]


@given(
    st.lists(st.text("aé€ß𝄞", min_size=1), min_size=1, max_size=30),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    st.integers(1, 9),
)
def test_characters_cut_in_two(tmp_path_factory, cells, encoding, chunk):
    """Whatever the size of the chunks, each character comes out whole."""
    raw = "\n".join(["a", *cells]).encode(encoding)
    path = file(tmp_path_factory.mktemp("x"), raw)
    with path.open("rb") as stream:
        text = encodings.Utf8(stream, "x", lambda: path.open("rb"))
        parts = []
        while part := text.read(chunk):
            parts.append(part)
    assert b"".join(parts).decode() == "\n".join(["a", *cells])


def test_what_cannot_be_found_is_refused(tmp_path):
    message = refuse(file(tmp_path, b"a,b\n1," + SECRET.encode() + b"\x81\n"))
    assert "neither in UTF-8 nor in Windows-1252 nor in Latin-1" in message
    assert "encoding = 'latin-1'" in message
    assert "has control characters" in refuse(file(tmp_path, b"a,b\n\x01,\xff\n"))


def test_a_stated_encoding_is_used(tmp_path):
    path = file(tmp_path, "a,b\nŁódź,1\n".encode("iso-8859-2"))
    stated = Reading(encoding="iso-8859-2")
    assert values(read(path, None, stated)) == {"a": ["Łódź"], "b": ["1"]}
    assert found(path, stated) == ""  # nothing was guessed


@pytest.mark.parametrize(("stated", "line"), [("utf-8", 3), ("ascii", 3), ("cp1253", 3)])
def test_a_wrong_statement(stated, line, tmp_path):
    raw = b"a,b\n1,x\n" + f"{SECRET} ".encode() + b"\xd2\xff\xd2,2\n"
    path = file(tmp_path, raw)
    with pytest.raises(BadFile, match=f"as \\[read\\] states: line {line} cannot") as caught:
        read(path, None, Reading(encoding=stated))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("stated", ["windows-1252", "latin-1", "cp850"])
@pytest.mark.parametrize("chunk", [4, 1 << 20])
def test_a_statement_that_would_garble_utf_8(stated, chunk, tmp_path, monkeypatch):
    """Every byte is a letter in these encodings: München would be published as MÃ¼nchen."""
    monkeypatch.setattr("shoal.io.text_reading.CHUNK", chunk)
    path = file(tmp_path, f"a,b\n{SECRET},1\nMünchen,2\nKöln €,3\n".encode())
    with pytest.raises(BadFile, match=r"is in UTF-8, although .* would be read as ") as caught:
        read(path, None, Reading(encoding=stated))
    assert SECRET not in str(caught.value)
    assert "'ü'" in str(caught.value)


@pytest.mark.parametrize("stated", ["windows-1252", "cp1251", "shift_jis", "gbk"])
def test_a_statement_about_text_that_is_not_utf_8(stated, tmp_path):
    words = {"windows-1252": "Ã¼ and ü", "cp1251": "её", "shift_jis": "ﾃｽﾄ日本", "gbk": "联通"}
    path = file(tmp_path, f"a,b\n{words[stated]},1\n".encode(stated))
    assert values(read(path, None, Reading(encoding=stated)))["a"] == [words[stated]]


@pytest.mark.parametrize("name", ["latin-99", "zlib", "punycode", "undefined", "", "a\0b", "utf-7"])
def test_no_encoding_of_files(name):
    with pytest.raises(BadPlan, match="has no encoding"):
        Reading(encoding=name)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp850", "utf-8", None])
@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".txt"])
def test_the_same_statement_reads_what_is_written(encoding, ending, tmp_path):
    stated = Reading(encoding=encoding)
    frame, path = as_read({**EXPECTED, "c": ["𝄞", None]}), tmp_path / f"x{ending}"
    write(frame, path, stated)
    assert values(read_back(path, stated)) == values(frame)
