"""The texts of the studio: every language says everything, with the same places to fill in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import shoal
from shoal.base.progress import STAGES
from shoal.studio.page import environment
from shoal.studio.wording import LANGUAGES, Wording, on_page, preferred, texts


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text(language: str) -> None:
    own, english = texts(language), texts("en")
    assert own.keys() == english.keys()
    for key, text in own.items():
        assert text.strip() == text
        assert text, key
        assert places(text) == places(english[key]), key


@pytest.mark.parametrize(
    ("header", "language"),
    [("de-AT,de;q=0.9,en;q=0.5", "de"), ("fr, en;q=0.2", "en"), ("", "en"), ("zz", "en")],
)
def test_the_language_of_the_browser_is_used(header: str, language: str) -> None:
    assert preferred(header) == language


def test_numbers_are_written_as_people_do() -> None:
    assert (Wording("en").number(12345), Wording("de").number(12345)) == ("12,345", "12.345")
    assert (Wording("en").percent(0.125), Wording("de").percent(0.125)) == ("12.5%", "12,5\u00a0%")
    assert Wording("xx").language == "en"


def test_every_stage_of_work_has_words_in_every_language() -> None:
    """The stages are named in `base.progress`; a new one needs a text here."""
    for words in STAGES.values():
        assert Wording("en").stage(words) == words
        assert Wording("de").stage(words) != words, words
    known = {re.sub("[^a-z]+", "-", words.lower()).strip("-") for words in STAGES.values()}
    assert {key for key in texts("en") if key.startswith("stages.")} == {
        f"stages.{key}" for key in known
    }
    assert Wording("de").stage("something new") == "something new"


ROOMS = ("cli", "papers", "report", "datasets", "studio")
# Messages of other commands, which no page shows.
ELSEWHERE = ("audit", "apply", "setup", "level_tables", "standard_streams", "within_at_most")


def messages() -> Iterator[tuple[str, str]]:
    """The texts with options of the command line, outside of the room that has these options."""
    source = Path(shoal.__file__).parent
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        if parts[0] in ("cli", "papers", "report", "datasets", "studio") or set(parts) & set(
            ELSEWHERE
        ):
            continue
        written = path.read_text(encoding="utf-8")
        if not re.search(r"--[a-z]", written):  # most files: parsing them takes seconds
            continue
        tree = ast.parse(written)
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        known = docs | {
            id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
            for value in node.values
        }  # fmt: skip
        for node in ast.walk(tree):
            if id(node) in known or not isinstance(node, ast.Constant | ast.JoinedStr):
                continue
            pieces = [node] if isinstance(node, ast.Constant) else node.values
            text = "".join(
                str(one.value) if isinstance(one, ast.Constant) else "X" for one in pieces
            )
            if re.search(r"[ (]--[a-z]", text):
                yield "/".join(parts), text


def test_messages_name_what_a_page_offers() -> None:
    found = list(messages())
    assert len(found) > 10
    for place, text in found:
        assert "--" not in on_page(text), place
        assert "  " not in on_page(text), place
    assert on_page("plain -- text") == "plain -- text"
    sheets = "a.xlsx has 2 sheets: 'x', 'y'; name the one to read, in the plan ([read] sheet = …) "
    assert on_page(f"{sheets}or with --sheet").endswith("to read, under How the table is read")
    exists = (
        "x.db has a table 'r' already; --replace replaces it, and otherwise choose another name"
    )
    assert on_page(exists).endswith("tick the box below to replace it, or choose another name")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_whose_studio_has_ended_says_so(language: str) -> None:
    t = Wording(language)
    page = environment().get_template("error.html.jinja").render(
        t=t, languages=LANGUAGES, program="1", steps=(), path="/", project=None, error="x"
    )  # fmt: skip
    assert f'data-lost="{t("page.lost")}"' in page
    style = Path(shoal.__file__).parent / "studio" / "static" / "studio.css"
    assert "attr(data-lost)" in style.read_text(encoding="utf-8")
