"""One self-contained HTML page: words, numbers, tables and plots, on screen and on paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

if TYPE_CHECKING:
    import jinja2
    import markupsafe

Tone: TypeAlias = Literal["", "strong", "near", "off", "far", "good", "mixed", "bad", "unknown"]
TEMPLATE = "page.html.jinja"


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Code:
    """Lines as they stand in a file."""

    kind: ClassVar[str] = "code"
    text: str
    caption: str = ""


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    kind: ClassVar[str] = "bullets"
    items: Sequence[str]
    tone: Literal["", "alert"] = ""


@dataclass(frozen=True)
class Numbers:
    """A few numbers that matter most, each with what it counts."""

    kind: ClassVar[str] = "numbers"
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what stands in it, a smaller line below, and its tone."""

    text: str
    note: str = ""
    tone: Tone = ""


@dataclass(frozen=True)
class Table:
    """A table; `numbers` says that all columns but the first hold numbers."""

    kind: ClassVar[str] = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    caption: str = ""
    numbers: bool = False
    widths: Sequence[int] = ()  # of the columns, in percent; none: as the content needs
    files: Sequence[str] = ()  # beside the page, with the same content

    @property
    def cells(self) -> list[list[Cell]]:
        """The rows, with plain words as cells too."""
        return [
            [cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows
        ]


@dataclass(frozen=True)
class Plot:
    """A plot as SVG, with what it shows."""

    kind: ClassVar[str] = "plot"
    svg: str
    caption: str
    files: Sequence[str] = ()

    @property
    def inline(self) -> str:
        """The plot as it may stand within a page, where SVG needs no namespaces."""
        return re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", self.svg, count=2)


@dataclass(frozen=True)
class Form:
    """Lines to be filled in by hand, on paper."""

    kind: ClassVar[str] = "form"
    lines: Sequence[str]


Block: TypeAlias = Text | Heading | Code | Bullets | Numbers | Table | Plot | Form


@dataclass(frozen=True)
class Section:
    """A part of a page under a heading of its own."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A whole page; what stands first must tell a reader in a hurry all that matters."""

    title: str
    about: str  # a line above the title
    source: str  # a line below it
    summary: Sequence[Block]
    sections: Sequence[Section]
    warning: str = ""
    foot: str = ""


def render(page: Page) -> str:
    """Write the page as HTML.

    >>> page = Page("Fish & chips", "a test", "nowhere", [Text("a < b")], [])
    >>> html = render(page)
    >>> "<h1>Fish &amp; chips</h1>" in html and "a &lt; b" in html
    True
    """
    return _template().render(page=page)


@cache
def _template() -> jinja2.Template:
    import jinja2  # slow to import, and seldom needed

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["words"] = words
    return environment.get_template(TEMPLATE)


def words(text: str) -> markupsafe.Markup:
    """Escape a text; what stands between backticks is set as code.

    >>> words("run `shoal list` & see")
    Markup('run <code>shoal list</code> &amp; see')
    """
    import markupsafe

    escaped = str(markupsafe.escape(text))
    return markupsafe.Markup(re.sub("`([^`]+)`", r"<code>\1</code>", escaped))
