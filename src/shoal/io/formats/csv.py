"""CSV: delimited text."""

from __future__ import annotations

from shoal.io.text import Text


class Csv(Text):
    """Delimited text; the header shows whether by comma, semicolon, tab or vertical bar."""

    name = "csv"
    endings = (".csv", ".txt")
