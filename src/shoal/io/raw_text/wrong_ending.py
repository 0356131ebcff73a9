"""Files whose content is of another format than their name says."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from shoal.base.errors import BadFile
from shoal.io.format import format_of, packing_of

START = 4096  # bytes that are looked at
OF_TEXT = (".csv", ".txt", ".tsv", ".tab")
PAGE = "a web page, or XML: open it in a spreadsheet program, and save it as .xlsx"
SHEETS = ".xlsx .xls .xlsm .xlsb .ods"  # their reader tells them apart
# How files begin, what they are, and how their names end; the first ending is advised.
BEGINS = [
    (re.compile(pattern, re.DOTALL), what, endings.split())
    for pattern, what, endings in (
        (rb"PAR1", "Parquet", ".parquet .pq"),
        (rb"ARROW1\x00\x00", "Feather", ".feather .arrow .ipc"),
        (
            rb"PK\x03\x04.{26}mimetypeapplication/vnd.oasis",
            "an OpenDocument file",
            f".ods {SHEETS}",
        ),
        (rb"PK\x03\x04", "a workbook of Excel, or another zip archive", SHEETS),
        (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old workbook of Excel", f".xls {SHEETS}"),
        (rb"\$FL[23]@\(#\)", "a file of SPSS", ".sav .zsav"),
        (rb"<stata_dta>|[\x71-\x73][\x01\x02]\x01\x00", "a file of Stata", ".dta"),
        (rb"HEADER RECORD\*{7}LIB", "a transport file of SAS", ".xpt"),
        (rb"\x00{12}\xc2\xea\x81\x60\xb3\x14\x11\xcf", "a data set of SAS", ".sas7bdat"),
    )
]
PACKED = ((b"\x1f\x8b", ".gz"), (b"\xfd7zXZ\x00", ".xz"), (b"\x28\xb5\x2f\xfd", ".zst"))


def content_advice(path: Path) -> str:
    """What a file is and how to rename it, if its content is not what its name says; or ""."""
    with path.open("rb") as file:
        start = file.read(START)
    packing, endings = packing_of(path), format_of(path).endings
    packed = next((ending for begin, ending in PACKED if start.startswith(begin)), "")
    if packed:
        return "" if packed == packing else f"; its content is compressed; add {packed} to its name"
    for pattern, what, known in BEGINS:
        if pattern.match(start):
            fits = path.suffix.lower() in known
            return "" if fits else f"; its content is {what}; rename it to {known[0]}"
    return "" if _is_binary(start) else _text_advice(start, packing, endings)


def _text_advice(start: bytes, packing: str, endings: Sequence[str]) -> str:
    if re.match(rb"(\xef\xbb\xbf)?\s*<(\?xml|!doctype|html|table|div)\b", start, re.IGNORECASE):
        return f"; its content is {PAGE}"
    if packing:
        return f"; its content is not compressed; remove {packing} from its name"
    if _is_json(start):
        return "" if ".jsonl" in endings else "; its content is JSON lines; rename it to .jsonl"
    return "" if {*OF_TEXT, ".jsonl"} & set(endings) else "; its content is text; rename it to .csv"


def check_not_json(path: Path, form: str) -> None:
    """Raise an error if a file of CSV or TSV has JSON lines: its first record would be names."""
    if form in ("csv", "tsv") and not packing_of(path):
        with path.open("rb") as file:
            if _is_json(file.read(START)):
                raise BadFile(f"cannot read {path}: it is not a table of text")


def _is_json(start: bytes) -> bool:
    """Whether a text begins with a line that is a JSON object.

    >>> _is_json(b'{"age": 31}\\n'), _is_json(b"age,sex\\n")
    (True, False)
    """
    try:
        return isinstance(json.loads(start.splitlines()[0]), dict)
    except (ValueError, IndexError, RecursionError):
        return False


def _is_binary(start: bytes) -> bool:
    """Whether it has control characters that no text has; text in UTF-16 counts as such."""
    return re.search(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]", start) is not None
