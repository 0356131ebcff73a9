"""CSV: text with a delimiter that the header shows."""

from __future__ import annotations

from shoal.io.text import Text


class Csv(Text):
    """Text whose delimiter is a comma, a semicolon, a tab or a bar: the header decides."""

    name = "csv"
    endings = (".csv", ".txt")
