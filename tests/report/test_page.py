from __future__ import annotations

from html.parser import HTMLParser

from shoal.report.page import (
    Bullets,
    Cell,
    Form,
    HtmlTable,
    Numbers,
    Page,
    Plot,
    Section,
    Text,
    render,
    words,
)
from shoal.report.plots import Series, lines

VOID = {"meta", "col", "br", "hr", "img", "link", "input"}


class Balanced(HTMLParser):
    """Complains when a tag is not closed, or closed in the wrong place."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)


def page() -> Page:
    svg = lines([Series("one", [(1, 1), (2, 2)])], "x", "y")
    return Page(
        title="Fish <b>& chips</b>",
        about="`shoal test`",
        source="nowhere",
        warning="only a sample",
        summary=[Text("In short: 1 < 2"), Numbers([("7 of 9", "things hold")])],
        sections=[
            Section("Words", [Bullets(["first", "<script>second</script>"])]),
            Section(
                "Table",
                [
                    HtmlTable(
                        ["name", "value"],
                        [["a", Cell("1.0", "paper 2", "far")], ["b", "3"]],
                        "A caption.",
                        numbers=True,
                        widths=(60, 40),
                        files=("table.csv",),
                    ),
                    HtmlTable(["bare"], [["x"]]),
                ],
            ),
            Section("Plot", [Plot(svg, "What it shows.", ("plot.svg",))]),
            Section("Signature", [Form(["Name & date"])]),
        ],
        foot="the end",
    )


def test_everything_is_there_and_balanced() -> None:
    html = render(page())
    parser = Balanced()
    parser.feed(html)
    assert not parser.open
    for tag in ("h1", "h2", "nav", "table", "svg", "ul", "dl", "footer"):
        assert tag in parser.seen
    for piece in ("only a sample", "7 of 9", "things hold", "A caption.", "What it shows."):
        assert piece in html
    assert '<td class="far">1.0<small>paper 2</small></td>' in html
    assert 'href="table.csv"' in html
    assert "<code>shoal test</code>" in html


def test_words_are_escaped() -> None:
    html = render(page())
    assert "<h1>Fish &lt;b&gt;&amp; chips&lt;/b&gt;</h1>" in html
    assert "<script" not in html
    assert "&lt;script&gt;second" in html
    assert words("`<i>`") == "<code>&lt;i&gt;</code>"


def test_a_page_needs_nothing_but_itself() -> None:
    html = render(page())
    assert "http" not in html
    assert not set(tags(html)) & {"script", "link", "img", "iframe", "object"}
    assert "url(" not in html
    assert "@import" not in html


def tags(html: str) -> list[str]:
    parser = Balanced()
    parser.feed(html)
    return parser.seen


def test_light_dark_and_paper() -> None:
    html = render(page())
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert "h2, h3 { break-after: avoid; }" in html
    assert "<dt>Name &amp; date</dt><dd></dd>" in html


def test_a_short_page_has_no_table_of_contents() -> None:
    html = render(Page("t", "a", "s", [], [Section("only", [Text("x")])]))
    assert "<nav" not in html


def test_the_title_is_on_every_sheet_of_paper_and_stays_text() -> None:
    title = 'Stays "2024" \\ </style><script>alert(1)</script> {{ 7*7 }}'
    html = render(Page(title, "Report", "s", [], []))
    assert "<script" not in html
    assert html.count("</style>") == 1
    (footer,) = [line for line in html.splitlines() if "@bottom-left" in line]
    assert footer.count('"') == 2
    assert "Report: Stays \\22 2024\\22 " in footer
    assert (
        "x" * 91
        not in render(Page("x" * 900, "a", "s", [], [])).partition("@media print")[0][-900:]
    )


def test_wide_tables_are_stacked_on_a_small_screen() -> None:
    rows = [["a", Cell("1", tone="bad"), "2"]]
    html = render(Page("t", "a", "s", [HtmlTable(["what", "<is>", "was"], rows, stacks=True)], []))
    assert '<td class="bad" data-label="&lt;is&gt;">1</td>' in html
    assert '<td data-label="was">2</td>' in html
    assert "data-label" not in render(page()).partition("</head>")[2]
