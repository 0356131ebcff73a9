"""How files are read: the table `[read]` of a plan."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import field_validator, model_validator

from shoal.base.errors import did_you_mean
from shoal.base.settings import Setting

USUAL = ("utf-8", "utf-16", "latin-1", "windows-1252", "iso-8859-15", "cp850", "mac-roman")
# Encodings of names and of programs, not of files.
_NOT_TEXT = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "utf-7"}


class Reading(Setting):
    """How the files of a plan are read; what is not stated is found in the file."""

    name: ClassVar[str] = "[read]"

    encoding: str | None = None  # of text files; None: by the bytes of the file
    delimiter: str | None = None  # between the fields of a text file; None: by its first lines
    quote: str | None = None  # around fields of a text file, "" for none; None: "
    header: bool = True  # whether a text file or a sheet has a row with the names of the columns
    comment: str | None = None  # lines of a text file that begin with it are left out
    sheet: str | None = None  # of a spreadsheet; None: it has only one
    header_row: int | None = None  # of a sheet, with the names; None: the first that is not empty
    last_row: int | None = None  # of the table in a sheet, as notes may follow; None: of the sheet
    # Whether the first row below the names has units, and whether the last ones have totals. Such
    # rows are left out; None: a table that seems to have them is refused.
    units: bool | None = None
    totals: bool | None = None

    @field_validator("encoding")
    @classmethod
    def _encoding(cls, given: str | None) -> str | None:
        if given is None:
            return None
        try:
            # Encodings that are not of text, such as zlib, say so when they are used.
            "a".encode(given)
            known = codecs.lookup(given).name.replace("_", "-") not in _NOT_TEXT
        except (LookupError, ValueError):
            known = False
        if not known:
            raise ValueError(
                f"has no encoding {given!r}{did_you_mean(given, USUAL) or '; usual ones are '}"
                f"{'' if did_you_mean(given, USUAL) else ', '.join(USUAL)}"
            )
        return given

    @field_validator("delimiter", "quote")
    @classmethod
    def _one_character(cls, given: str | None) -> str | None:
        if given and (len(given) != 1 or not given.isascii() or given in "\r\n\0"):
            raise ValueError(f"needs one ASCII character as delimiter and as quote, got {given!r}")
        return given

    @field_validator("delimiter", "comment")
    @classmethod
    def _not_empty(cls, given: str | None) -> str | None:
        if given == "" or (given and set(given) & set("\r\n\0")):
            raise ValueError(
                "needs a delimiter and a comment of visible characters; leave them out instead of "
                f"{given!r}"
            )
        return given

    @model_validator(mode="after")
    def _told_apart(self) -> Reading:
        quote = '"' if self.quote is None else self.quote
        if self.delimiter is not None and self.delimiter == quote:
            raise ValueError(f"has {quote!r} as delimiter and as quote")
        if self.comment and self.comment[0] in (quote, self.delimiter):
            raise ValueError(
                f"has a comment that begins with {self.comment[0]!r}, as fields and rows do"
            )
        return self

    @model_validator(mode="after")
    def _rows(self) -> Reading:
        """Check the rows of a sheet, which are counted from 1, as spreadsheets show them."""
        if self.header_row is not None and (self.header_row < 1 or not self.header):
            raise ValueError(
                "needs a header_row of 1 or more, and no header = false with it, got "
                f"header_row = {self.header_row}"
            )
        if self.last_row is not None and self.last_row <= (self.header_row or self.last_row):
            raise ValueError(
                f"needs a header_row above last_row, got header_row = {self.header_row} and "
                f"last_row = {self.last_row}"
            )
        return self

    def updated(self, given: Reading | Mapping[str, Any] | None) -> Reading:
        """The same with what is given instead.

        >>> Reading(encoding="latin-1").updated({"sheet": "People"}).stated()
        {'encoding': 'latin-1', 'sheet': 'People'}
        """
        if given is None:
            return self
        stated = given.stated() if isinstance(given, Reading) else dict(given)
        return Reading(**{**self.stated(), **stated})

    @property
    def of_release(self) -> Reading:
        """How a release is read: it has no titles, notes, units and totals."""
        others = dict.fromkeys(("header_row", "last_row", "units", "totals"))
        return self.model_copy(update=others)

    @property
    def is_foreign(self) -> bool:
        """Whether an encoding other than UTF-8 is stated."""
        if self.encoding is None:
            return False
        return codecs.lookup(self.encoding).name not in ("utf-8", "utf-8-sig", "ascii")

    def stated(self) -> dict[str, object]:
        """The settings that differ from their defaults.

        >>> Reading(encoding="latin-1").stated()
        {'encoding': 'latin-1'}
        """
        return self.model_dump(exclude_defaults=True)
