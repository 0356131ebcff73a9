"""One self-contained HTML page with text, tables and plots, for screen and paper."""

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
    leads: bool = False  # whether it is the first sentence to read


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Code:
    """Lines of a file, unchanged."""

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
    """The most important numbers, each with a label."""

    kind: ClassVar[str] = "numbers"
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, a smaller line below, and its tone."""

    text: str
    note: str = ""
    tone: Tone = ""


@dataclass(frozen=True)
class HtmlTable:
    """A table; `numbers` means that all columns except the first have numbers."""

    kind: ClassVar[str] = "table"
    head: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    caption: str = ""
    numbers: bool = False
    widths: Sequence[int] = ()  # of the columns, in percent; empty: as the content needs
    files: Sequence[str] = ()  # next to the page, with the same content
    stacks: bool = False  # whether its columns are too wide for a small screen next to each other

    @property
    def cells(self) -> list[list[Cell]]:
        """The rows, with plain text as cells too."""
        return [
            [cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows
        ]


@dataclass(frozen=True)
class Plot:
    """A plot as SVG, with its caption."""

    kind: ClassVar[str] = "plot"
    svg: str
    caption: str  # what it shows, in a sentence with numbers
    files: Sequence[str] = ()
    alt: str = ""  # its numbers as text, for readers who do not see it; empty: the caption

    @property
    def inline(self) -> str:
        """The plot as part of a page, where SVG needs no namespaces."""
        return re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", self.svg, count=2)


@dataclass(frozen=True)
class Form:
    """Lines to fill in by hand, on paper; the same lines for each of several people."""

    kind: ClassVar[str] = "form"
    lines: Sequence[str]
    people: Sequence[str] = ("",)


Block: TypeAlias = Text | Heading | Code | Bullets | Numbers | HtmlTable | Plot | Form


@dataclass(frozen=True)
class Section:
    """A part of a page with its own heading."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A whole page; the summary has everything that a reader in a hurry needs.

    On paper the summary is page one, the sections `in_front` are page two, and the annex begins on
    page three with a table of contents. Without `in_front` the sections just follow.
    """

    title: str
    about: str  # a line above the title
    source: str  # a line below it
    summary: Sequence[Block]
    sections: Sequence[Section]
    in_front: Sequence[Section] = ()
    details: Sequence[tuple[str, str]] = ()  # pairs of a label and a text, below the title
    warning: str = ""
    foot: str = ""


def render(page: Page, paper: str = "") -> str:
    """Write the page as HTML; `paper` is its size where it is printed, otherwise as the printer's.

    >>> page = Page("Fish & chips", "a test", "nowhere", [Text("a < b")], [])
    >>> html = render(page)
    >>> "<h1>Fish &amp; chips</h1>" in html and "a &lt; b" in html
    True
    """
    return _template().render(page=page, paper=paper)


@cache
def _template() -> jinja2.Template:
    import jinja2  # slow to import, and rarely needed

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["words"] = words
    environment.filters["css_text"] = css_text
    return environment.get_template(TEMPLATE)


def words(text: str) -> markupsafe.Markup:
    """Escape a text; text between backticks becomes code, and a percent sign stays on its line.

    >>> words("run `shoal list` & see")
    Markup('run <code>shoal list</code> &amp; see')
    """
    import markupsafe

    escaped = re.sub(r"(?<=\d) %", "\xa0%", str(markupsafe.escape(text)))
    return markupsafe.Markup(re.sub("`([^`]+)`", r"<code>\1</code>", escaped))


def css_text(text: str) -> markupsafe.Markup:
    """A text between quotes in a style sheet: whatever is in it stays text.

    >>> css_text('Stays, 2024 "</style>')
    Markup('Stays, 2024 \\\\22 \\\\3c \\\\2f style\\\\3e ')
    """
    import markupsafe

    plain = (c if c.isalnum() or c in " .,-–" else f"\\{ord(c):x} " for c in text)
    return markupsafe.Markup("".join(plain))
