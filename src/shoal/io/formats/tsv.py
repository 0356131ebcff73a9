"""TSV: text with tabs."""

from __future__ import annotations

from shoal.io.text import Text


class Tsv(Text):
    """Text whose delimiter is a tab."""

    name = "tsv"
    endings = (".tsv", ".tab")
    delimiter = "\t"
