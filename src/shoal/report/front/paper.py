"""How much room blocks take on paper, so that page one and page two are one page each.

Heights are in points, by the sizes in the print part of page.html.jinja, for a wide font: with
most fonts the text takes less. Page one is the summary below the title; page two ends with the
signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from shoal.report.page import Block, Bullets, Cell, Form, Heading, HtmlTable, Numbers, Section, Text

PAGE = 754.0  # A4 without its margins, which is 510 points wide
WIDE, INSIDE = 510.0, 490.0  # the width of a page, and within the summary box
REM, LETTER = 9.0, 0.5  # points of the letters; the width of one as a share of its height
FORM_LINE = 23.0


def height(blocks: Sequence[Block], width: float = INSIDE) -> float:
    """What blocks take one below the other."""
    return sum(_height(block, width) for block in blocks)


def head_height(title: str, source: str, details: Sequence[tuple[str, str]], warning: str) -> float:
    """The title with what is below it, above the summary box."""
    both = [max(1, _lines(text, 168, 0.94)) for _, text in details]  # in two columns
    columns = max(sum(both[::2]), sum(both[1::2]), ceil(sum(both) / 2)) if both else 0
    noted = 18 + 11 * _lines(warning, 490, 0.94) if warning else 0
    lines = 13 + 19 * _lines(title, WIDE, 1.8) + 14 * _lines(source, WIDE, 1)
    return 20 + lines + (10 + 11 * columns if both else 0) + noted


def front_height(sections: Sequence[Section]) -> float:
    """What the sections of page two take."""
    return sum(30 + height(one.blocks, WIDE) for one in sections)


def _height(block: Block, width: float) -> float:
    if isinstance(block, Text):
        size = 1.2 if block.leads else 0.94
        return 4.5 + (13 if block.leads else 10.9) * _lines(block.text, width, size)
    if isinstance(block, Heading):
        return 26
    if isinstance(block, Bullets):
        inside = width - (40 if block.tone else 36)
        return 17 + sum(2 + 10.9 * _lines(item, inside, 0.94) for item in block.items)
    if isinstance(block, Numbers):
        each = width / max(1, len(block.facts)) - 15
        return 30 + 10.5 * max(_lines(label, max(each, 90), 0.86) for _, label in block.facts)
    if isinstance(block, HtmlTable):
        caption = 5 + 10.4 * _lines(block.caption, width, 0.9) if block.caption else 0
        return 28 + sum(_row(block, row, width) for row in range(len(block.rows))) + caption
    if isinstance(block, Form):
        each = FORM_LINE * len(block.lines) + (11 if any(block.people) else 0) + 11
        return each * ceil(len(block.people) / 2)
    return PAGE  # a plot, or code: not in front


def _row(table: HtmlTable, row: int, width: float) -> float:
    """The height of a row: that of its highest cell."""
    cells = table.cells[row]
    shares = table.widths or [100 // len(cells)] * len(cells)
    lines = [
        _lines(f"{cell.text} {cell.note}".strip(), width * share / 100 - 7, _letters(cell))
        for cell, share in zip(cells, shares, strict=True)
    ]
    return 4 + 10.7 * max(1, *lines)


def _letters(cell: Cell) -> float:
    """The size of the letters of a cell, on average: its note is smaller."""
    text, note = len(cell.text), len(cell.note)
    return (0.92 * (text + 1) + 0.8 * note) / (text + 1 + note)


def _lines(text: str, width: float, size: float) -> int:
    """How many lines a text needs: words that do not fit any more begin the next one."""
    room, lines, used = max(1, int(width / (REM * size * LETTER))), 1, 0
    for word in text.split():
        need = len(word) + (1 if used else 0)
        if used + need <= room:
            used += need
            continue
        long = ceil(len(word) / room)
        lines += long if used else long - 1
        used = len(word) - (long - 1) * room
    return lines
