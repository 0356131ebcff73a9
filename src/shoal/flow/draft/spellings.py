"""How a table is written: its file, and the numbers and dates of its columns."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence

from shoal.io.frames import Frame
from shoal.io.raw_text.canonical import SpelledColumn
from shoal.io.raw_text.detect_spelling import Detected, detect_spelling
from shoal.io.reading import Reading
from shoal.io.text_layout import DELIMITER_KEY, DELIMITERS, ENCODING_KEY
from shoal.table.coded_columns import coded
from shoal.table.written.spelled_columns import canonical


def reading_of(frame: Frame) -> Reading:
    """What a plan states about the file of a table.

    Metadata of a Parquet file may be anything, also under these names.
    """
    notes = {} if frame.schema is None else frame.schema.metadata or {}
    encoding = notes.get(ENCODING_KEY, b"").decode(errors="replace")
    delimiter = notes.get(DELIMITER_KEY, b",").decode(errors="replace")
    try:
        codecs.lookup(encoding)
    except (LookupError, ValueError):
        encoding = ""
    other = delimiter in list(DELIMITERS[1:])  # the first one is the default
    return Reading(encoding=encoding or None, delimiter=delimiter if other else None)


def detected_spellings(frame: Frame, missing: Sequence[str]) -> dict[str, Detected]:
    """The columns of text that write numbers or dates in a way of their own, or in doubt."""
    found = {}
    for name in frame.names:
        _, values = coded(frame, name, missing)
        if len(values) and isinstance(values[0], str):
            found[name] = detect_spelling(values.listed)
    return {name: one for name, one in found.items() if one != Detected()}


def with_spellings(frame: Frame, found: Mapping[str, Detected], missing: Sequence[str]) -> Frame:
    """The same table with these numbers and dates in canonical form."""
    words = frozenset(missing)
    columns = {n: SpelledColumn(one.spelling, words) for n, one in found.items() if one.spelling}
    return canonical(frame, columns)


def note_on(found: Detected) -> str:
    """The doubt about a column, for its comment in the plan."""
    return f"; in doubt: {found.doubt}; state which one" if found.doubt else ""
