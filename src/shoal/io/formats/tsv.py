"""TSV: tab-delimited text."""

from __future__ import annotations

from shoal.io.text import Text


class Tsv(Text):
    """Text delimited by tabs."""

    name = "tsv"
    endings = (".tsv", ".tab")
    delimiter = "\t"
