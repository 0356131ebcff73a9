"""A part of the page on Mauger 2023: what one section of the paper leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.papers._result import Row
from shoal.report.page import Block, Section


@dataclass(frozen=True)
class Part:
    """What a part gives to the page, and by file name its tables and plots."""

    summary: Sequence[Block]
    sections: Sequence[Section]
    files: dict[str, Sequence[Row]]
    plots: dict[str, str]
