"""Sentences of the rooms below, in the language of the user.

They speak English: why a role is proposed, what is published, what an attacker does, what is wrong.
`sentences-de.toml` has those that pages show most, with places for what is filled in; any other one
stays English, and comes with its language, for those who have pages read aloud.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from shoal.studio.requirements.catalog_words import Said
from shoal.studio.wording import DEFAULT, Wording, texts

PLACES = {"n": r"[0-9][0-9,]*", "m": r"[0-9][0-9,]*", "list": ".+", **dict.fromkeys("xyzw", ".+?")}
# A text may have several: reasons with a semicolon between them, or sentences.
BREAKS = (r"; ", r"(?<=[.?]) (?=[A-Z])")


def sentence(t: Wording, english: str) -> Said:
    """A text in the language of the page, or in English with its language.

    >>> sentence(Wording("de"), "1,391 people with 2,000 records").text
    '1.391 Personen mit 2.000 Datensätzen'
    >>> sentence(Wording("de"), "by month, 5 years or decade").text
    'nach Monat, 5 Jahren oder Jahrzehnt'
    >>> sentence(Wording("de"), "somebody else's words")
    Said(text="somebody else's words", lang='en')
    """
    if t.language == DEFAULT or not english.strip() or english in texts(t.language).values():
        return Said(english)
    for around in ("(?!)", *BREAKS):
        parts = [_translated(t, part.strip()) for part in re.split(around, english)]
        if None not in parts:
            joined = "; " if around == BREAKS[0] else " "
            return Said(joined.join(part for part in parts if part))
    return Said(english, DEFAULT)


def _translated(t: Wording, english: str) -> str | None:
    if not english:
        return ""
    plain = english.replace("\xa0", " ")
    for pattern, own in _patterns(t.language):
        if found := pattern.fullmatch(plain):
            given = {name: _filled(t, name, text) for name, text in found.groupdict().items()}
            return own.format(**given)
    return None


def _filled(t: Wording, name: str, text: str) -> str:
    if name in ("n", "m"):
        return t.number(int(text.replace(",", "")))
    if name == "list":
        for word, own in _file(t.language)["lists"].items():
            text = re.sub(rf"\b{word}\b" if word.isalpha() else re.escape(word), own, text)
    return text


@cache
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    found = []
    for section, pairs in _file(language).items():
        if section == "lists":
            continue
        for english, own in pairs.items():
            pattern = re.sub(
                r"\\{(\w+)\\}", lambda place: f"(?P<{place[1]}>{PLACES[place[1]]})",
                re.escape(english),
            )  # fmt: skip
            found.append((re.compile(pattern, re.S), own))
    return found


@cache
def _file(language: str) -> dict[str, dict[str, str]]:
    name = f"sentences-{language}.toml"
    return tomllib.loads(files("shoal.studio.texts").joinpath(name).read_text(encoding="utf-8"))
