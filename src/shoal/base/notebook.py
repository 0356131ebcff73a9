"""Small tables in HTML, as notebooks show objects."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

HtmlRows = tuple[Sequence[str], Sequence[Sequence[str]]]  # the names of columns, and the rows
LONGEST = 80  # characters of a cell
# No colours of its own: a notebook may be light or dark, and lines are shades of its text.
_CELL = "text-align:left;padding:.15em .8em .15em 0;vertical-align:top;border:0"
_LINE = "border-bottom:1px solid color-mix(in srgb,currentColor 25%,transparent)"


def html_block(
    title: str, facts: Sequence[tuple[str, str]] = (), tables: Sequence[HtmlRows] = ()
) -> str:
    """A title, facts with their names, and tables.

    >>> "<strong>a &lt; b</strong>" in html_block("a < b")
    True
    """
    parts = [f"<p style='margin:.2em 0'><strong>{_text(title)}</strong></p>"]
    if facts:
        parts.append(_table([], facts))
    parts += [_table(head, rows) for head, rows in tables]
    return f"<div style='font-size:.95em'>{''.join(parts)}</div>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    names = "".join(f"<th style='{_CELL};{_LINE};opacity:.75'>{_text(name)}</th>" for name in head)
    lines = [
        "<tr style='background:none'>"
        + "".join(f"<td style='{_CELL}'>{_text(cell)}</td>" for cell in row)
        + "</tr>"
        for row in rows
    ]
    top = f"<thead><tr style='background:none'>{names}</tr></thead>" if head else ""
    return (
        "<table style='border-collapse:collapse;margin:.4em 0 .8em;border:0'>"
        f"{top}<tbody>{''.join(lines)}</tbody></table>"
    )


def _text(cell: str) -> str:
    return escape(cell if len(cell) <= LONGEST else f"{cell[: LONGEST - 1]}…")
