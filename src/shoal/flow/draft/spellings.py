"""How a table is written: its file, and the numbers and dates of its columns."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from shoal.io.frames import Frame
from shoal.io.raw_text.canonical import SpelledColumn
from shoal.io.raw_text.detect_spelling import Detected, detect_spelling
from shoal.io.raw_text.spelling import CANONICAL, Spelling
from shoal.io.reading import Reading
from shoal.io.text_layout import DELIMITER_KEY, DELIMITERS, ENCODING_KEY
from shoal.plan import Plan
from shoal.table.coded_columns import coded
from shoal.table.roles import EMPTY
from shoal.table.written.spelled_columns import canonical

TRIED = 1000  # values of a column that show whether it has numbers
PLAIN = Spelling()
PUBLISHED = ("quasi", "sensitive", "other")  # roles of columns whose values are published


@dataclass(frozen=True)
class Stated:
    """What somebody has stated about the cells of a table already; the rest is found out."""

    missing: Sequence[str] | None = None  # words that mean missing in any column
    spellings: Mapping[str, Spelling] = field(default_factory=dict)  # PLAIN: neither is spelled
    # Words of columns that have their own instead, (): none.
    own_missing: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @staticmethod
    def in_plan(plan: Plan) -> Stated:
        """What a plan states; about columns that are not published it says nothing."""
        columns = plan.columns.items()
        return Stated(
            plan.missing_values,
            {n: c.spelling or PLAIN for n, c in columns if c.spelling or c.role in PUBLISHED},
            {
                name: column.missing_values or ()
                for name, column in columns
                if column.missing_values or column.role in ("quasi", "sensitive")
            },
        )

    def words(self, name: str, missing: Sequence[str]) -> frozenset[str]:
        """The words that mean missing in a column; `missing` are those of all columns."""
        return frozenset(with_own(missing, self.own_missing.get(name, ())))

    def apply(self, found: Mapping[str, Detected]) -> dict[str, Detected]:
        """What was found, with what is stated instead; a doubt about stated columns is over."""
        known = dict(found)
        for name, spelling in self.spellings.items():
            if spelling != PLAIN:
                known[name] = Detected(spelling)
            elif (one := known.get(name)) is not None and one.spelling is not None:
                known[name] = Detected(readings=(one.spelling,))  # it may be so, but is not stated
        return known


def with_own(missing: Sequence[str], own: Sequence[str]) -> list[str]:
    """The words for missing of a column; an empty cell stays missing if it has words of its own.

    >>> with_own(["", "?"], ["99"]), with_own(["", "?"], [])
    (['', '99'], ['', '?'])
    """
    return [*([EMPTY] if EMPTY in missing else []), *own] if own else list(missing)


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


def detected_spellings(
    frame: Frame, missing: Sequence[str], watch: Callable[[float], None] = lambda _: None
) -> dict[str, Detected]:
    """The columns of text that write numbers or dates in a way of their own, or in doubt.

    Columns that are clear settle those in doubt, if they agree.
    """
    found, texts = {}, {}
    for i, name in enumerate(frame.names):
        watch(i / len(frame.names))
        _, values = coded(frame, name, missing)
        if len(values) and isinstance(values[0], str):
            found[name], texts[name] = detect_spelling(values), values
    if any(one.doubt for one in found.values()):
        clear = {name: one for name, one in found.items() if not one.doubt}
        decimals = {sign for name, one in clear.items() if (sign := _decimal(one, texts[name]))}
        dates = {one.spelling.date_format for one in clear.values() if one.spelling} - {""}
        found = {name: _settled(one, decimals, dates) for name, one in found.items()}
    return {name: one for name, one in found.items() if one != Detected()}


def _decimal(found: Detected, texts: Sequence[str]) -> str:
    """The decimal sign that a column shows; "" if it shows none."""
    if found.spelling is None:
        shown = all(map(CANONICAL.fullmatch, map(str.strip, texts[:TRIED])))
        return "." if shown and any("." in one for one in texts) else ""
    sign, thousands, _, date_format = found.spelling
    if date_format:
        return ""
    return sign if thousands in (".", ",") or any(sign in one for one in texts) else ""


def _settled(found: Detected, decimals: Collection[str], dates: Collection[str]) -> Detected:
    """A column in doubt as the other columns write theirs; as it is if they do not say it."""
    signs = [one for one in found.readings if not one.date_format and one.decimal in decimals]
    alike = [one for one in found.readings if one.date_format in dates]
    best = signs if len(decimals) == 1 and signs else alike
    if not best or (best is alike and len(alike) > 1):
        return found
    if best[0] == Spelling():  # numbers as most tables have them
        return Detected()
    return Detected(best[0], settled=f"read as in other columns ({found.doubt})")


def with_spellings(
    frame: Frame,
    found: Mapping[str, Detected],
    missing: Sequence[str],
    stated: Stated | None = None,
) -> Frame:
    """The same table with these numbers and dates in canonical form."""
    given = stated or Stated()
    return canonical(
        frame,
        {
            name: SpelledColumn(one.spelling, given.words(name, missing))
            for name, one in found.items()
            if one.spelling
        },
    )


def note_on(found: Detected, unread: bool = False) -> str:
    """The doubt about a column, for its comment in the plan; `unread`: no date of it was read."""
    if found.settled:
        return f"; {found.settled}"
    if not found.doubt:
        return "; rewrite them" if unread else ""
    # Without readings there is nothing to state: the doubt says what to do.
    which = "; state which one in the plan" if found.readings else ""
    if any(one.date_format for one in found.readings):
        which += ', and a hierarchy such as { dates = ["month", "year"] }'
    return f"; in doubt: {found.doubt}{which}"
