"""Names of files that a browser saves."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from shoal.studio.exports.file_names import LONGEST, disposition, stem_of

ODD = [
    "people.csv", "../../etc/passwd", "..\\..\\boot.ini", "C:people.csv", 'a"b;c%00.csv',
    "\u202egnp.exe", "x\r\nSet-Cookie: y=1.csv", "\u00c4rzte.sav", "\U0001f41f" * 200 + ".csv",
    "...", "", " ", "-rf", ".bashrc", "<script>.csv", "con", "a\0b.csv",
    "\u0438\u043c\u044f.tar.gz",
]  # fmt: skip


@pytest.mark.parametrize("title", ODD)
def test_names_are_safe_on_every_system(title: str) -> None:
    stem = stem_of(title)
    assert stem
    assert len(stem.encode()) <= LONGEST
    assert not set(stem) & set('/\\:*?"<>|%;\r\n\0\u202e')
    assert not stem.startswith((".", "-", " "))
    assert not stem.endswith((".", " "))


@pytest.mark.parametrize("title", ODD)
def test_headers_are_one_line_and_say_the_name(title: str) -> None:
    name = f"{stem_of(title)}-release.csv"
    said = disposition(name)
    assert said.isascii()
    assert "\n" not in said
    assert said.count('"') == 2
    if name.isascii():
        assert said == f'attachment; filename="{name}"'
    else:
        coded = said.partition("filename*=utf-8''")[2].partition(";")[0]
        assert unquote(coded) == name


def test_several_tables_are_told_apart() -> None:
    assert stem_of("people.csv") == "people"
    assert stem_of("people v1.2.csv.gz") == "people v1.2"
    assert stem_of("../../etc/passwd") == "passwd"
    assert stem_of("...") == "table"
