"""The pages in German: no English words, unless an element says that it is English."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from shoal import catalog
from shoal.attacks import Attack
from shoal.flow.draft.guess_role import IDENTIFIERS, PROTECTED
from shoal.plan.limits import PRESETS
from shoal.studio.texts.sentences import sentence
from shoal.studio.wording import Wording
from tests.studio.served import Served

ENGLISH = re.compile(
    r"(?<![\w/-])(the|of|and|with|from|this|that|are|is|not|every|which|values?|records|people|can|"
    r"has|have|than|there|who|by)(?![\w-])",
    re.IGNORECASE,
)
# The name of a file is no text of ours.
FILE = re.compile(r"[\w. -]+\.(csv|tsv|xlsx|sav|jsonl|parquet)(\.[gx]z)?", re.IGNORECASE)
ATTRIBUTES = ("aria-label", "title", "placeholder", "alt")
EMPTY = ("meta", "link", "input", "br", "img", "hr", "wbr")
CODE = ("script", "style", "code", "textarea", "pre")  # plan keys, commands and addresses
GERMAN = Wording("de")


class Texts(HTMLParser):
    """What a page says in its own language."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[tuple[str, bool]] = []

    @property
    def _elsewhere(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        other = self._elsewhere or tag in CODE or given.get("lang", "de") != "de"
        if not other:
            self.found += [given[name] or "" for name in ATTRIBUTES if name in given]
        if tag not in EMPTY:
            self._open.append((tag, other))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._elsewhere:
            self.found.append(" ".join(data.split()))


def german(studio: Served, path: str) -> list[str]:
    answer = studio.ask("GET", path, headers={"accept-language": "de"})
    assert 'lang="de"' in answer.text or "<html" not in answer.text
    page = Texts()
    page.feed(answer.text)
    return [text for text in page.found if text]


@pytest.mark.parametrize(
    "page",
    ["columns", "columns/2/hierarchy", "columns/4/hierarchy", "columns/8/hierarchy",
     "requirements", "preview", "run", "export", "compare", "frontier", "whole",
     "columns/0/hierarchy", "columns/99/hierarchy", "run/x/report.html"],
)  # fmt: skip
def test_no_page_of_a_project_speaks_english(studio: Served, project: str, page: str) -> None:
    studio.until(f"{project}/preview", "data-version")
    found = german(studio, f"{project}/{page}")
    assert found
    shown = [one for one in found if not re.search(r"[0-9]{4} to [0-9]{4}", one)]  # published
    assert [one for one in shown if ENGLISH.search(one)] == []


def test_the_first_page_and_a_wrong_address(studio: Served) -> None:
    for path in ("/", "/browse", "/p/nix/columns"):
        found = german(studio, path)
        assert found
        said = [one for one in found if not FILE.fullmatch(one)]
        assert [one for one in said if ENGLISH.search(one)] == []


@pytest.mark.parametrize("linked", [False, True])
def test_every_attack_is_explained(linked: bool) -> None:
    for name, kind in catalog.attacks.items():
        attack = kind()
        assert isinstance(attack, Attack)
        said = sentence(GERMAN, f"{attack.about(linked)} {attack.success(linked)}")
        assert said.lang == "", name


def test_what_is_proposed_and_limited() -> None:
    words = [*IDENTIFIERS.values(), *PROTECTED.values()]
    words += [text for one in PRESETS.values() for text in (one.words, one.source)]
    words += ["12 values; follows from zip: drop it or it gives zip back", "in ranges of 5 or 10"]
    assert [one for one in words if sentence(GERMAN, one).lang] == []
    assert sentence(GERMAN, words[-1]).text == "in Bereichen von 5 oder 10"
    assert sentence(Wording("en"), words[-1]) == (words[-1], "")
