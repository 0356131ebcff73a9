"""Wording: the texts of the pages in the language of the user, from one file per language."""

from __future__ import annotations

import re
import tomllib
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from shoal.io.raw_text.spelling import Spelling

LANGUAGES = {"en": "English", "de": "Deutsch"}
DEFAULT = "en"
SIGNS = {",": "comma", ";": "semicolon", "tab": "tab", "|": "bar", " ": "space", ":": "colon"}
EXAMPLE = datetime(2024, 5, 17, 13, 45)

# Messages of the rooms below name options of the command line; a page offers something else.
OFFERED = (
    (r"--replace replaces it, and otherwise", "tick the box below to replace it, or"),
    (r"name a table with --table", "choose a table"),
    (r", in the plan \(\[read\] sheet = …\) or with --sheet", ", under How the table is read"),
    (r" with --temp-directory \(", " ("),
    (r"\(--[a-z-]+( and --[a-z-]+)*, or ", "("),
    (r"as in --k ", "as in "),
    (r"state header = false under \[read\]", "say that there are no names under [read]"),
    (r"\bunder \[read\]( in the plan)?", "under How the table is read"),
    (r" ?\((draft )?--[a-z-]+[^()]*\)", ""),
)


def on_page(said: str) -> str:
    """A message that names what the pages offer, in place of options of the command line.

    >>> on_page("name the table of people.db to write to (--out-table)")
    'name the table of people.db to write to'
    >>> on_page("it is too low; raise it (--memory-limit, or memory in the plan), or cut it")
    'it is too low; raise it (memory in the plan), or cut it'
    """
    for option, words in OFFERED:
        said = re.sub(option, words, said)
    return said


@cache
def texts(language: str) -> dict[str, str]:
    """All texts of a language, by keys such as columns.title."""
    found = files("shoal.studio.texts").joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return dict(_flat(tomllib.loads(found), ""))


def _flat(table: dict[str, Any], before: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, one in table.items():
        name = f"{before}{key}"
        found += _flat(one, f"{name}.") if isinstance(one, dict) else [(name, one)]
    return found


class Wording:
    """Says things in one language; what is not translated is English."""

    def __init__(self, language: str) -> None:
        self.language = language if language in LANGUAGES else DEFAULT

    def __call__(self, key: str, **given: Any) -> str:
        """The text of this key, with what is given in its places."""
        own = texts(self.language).get(key) or texts(DEFAULT)[key]
        return own.format(**given) if given else own

    def many(self, number: int, key: str) -> str:
        """A number with its noun: `records` has one text for one, and one for more."""
        return self(f"{key}.{'one' if number == 1 else 'more'}", n=self.number(number))

    @property
    def foreign(self) -> Markup:
        """The attribute of an element whose text is English on any page: errors of the engine."""
        return Markup("" if self.language == DEFAULT else f' lang="{DEFAULT}"')

    def number(self, value: int) -> str:
        """A whole number as people of this language write it."""
        written = f"{value:,}"
        return written.replace(",", ".") if self.language == "de" else written

    def maybe(self, key: str, otherwise: str) -> str:
        """The text of this key; another one if there is none, as for an entry of a plug-in."""
        return texts(self.language).get(key) or texts(DEFAULT).get(key, otherwise)

    def exact(self, share: float) -> str:
        """A share from 0 to 1 in percent, with the digits that it has, up to six.

        >>> Wording("en").exact(0.09), Wording("de").exact(0.125), Wording("en").exact(1 / 3)
        ('9%', '12,5\xa0%', '33.3333%')
        """
        written = f"{100 * share:.6g}"
        return f"{written.replace('.', ',')}\u00a0%" if self.language == "de" else f"{written}%"

    def plain(self, value: float) -> str:
        """A number with the digits that it has, up to four.

        >>> Wording("en").plain(5.0), Wording("de").plain(0.25), Wording("en").plain(1 / 3)
        ('5', '0,25', '0.3333')
        """
        if abs(value) >= 1000 and value == int(value):
            return self.number(int(value))
        written = f"{value:.4g}"
        return written.replace(".", ",") if self.language == "de" else written

    def share(self, share: float | None) -> str:
        """A share from 0 to 1 in percent with the digits that matter; None is not known.

        >>> [Wording("en").share(one) for one in (None, 0, 0.2, 0.00004, 0.0666)]
        ['–', '0%', '20%', '< 0.01%', '6.7%']
        >>> [Wording("en").share(one) for one in (0.9996, 0.99999, 1)]
        ['99.96%', '> 99.99%', '100%']
        """
        if share is None:
            return "–"
        if 0 < share < 0.0001:
            return f"< {self.percent(0.0001, 2)}"
        if 0.9999 < share < 1:  # not all of them
            return f"> {self.percent(0.9999, 2)}"
        digits = 1 if 0.001 <= share <= 0.999 or share in (0, 1) or share > 1 else 2
        written = self.percent(share, digits)
        return written.replace(".0%", "%").replace(",0\u00a0%", "\u00a0%")

    def stage(self, words: str) -> str:
        """What work is being done, given in the English of `base.progress`."""
        key = f"stages.{re.sub('[^a-z]+', '-', words.lower()).strip('-')}"
        return texts(self.language).get(key, words)

    def duration(self, seconds: float) -> str:
        """A time that something takes, as people say it.

        >>> [Wording("en").duration(one) for one in (0.2, 4.26, 59.7, 100, 4000)]
        ['0.2 s', '4.3 s', '60 s', '1 min 40 s', '1 h 7 min']
        """
        if seconds < 10:
            written = f"{max(seconds, 0.0):.1f}"
            return f"{written.replace('.', ',') if self.language == 'de' else written} s"
        whole = round(seconds)
        if whole <= 90:
            return f"{whole} s"
        if whole < 3600:
            return f"{whole // 60} min {whole % 60} s"
        minutes = round(seconds / 60)
        return f"{minutes // 60} h {minutes % 60} min"

    def moment(self, when: datetime) -> str:
        """A date and a time of the day."""
        form = "%d.%m.%Y, %H:%M" if self.language == "de" else "%Y-%m-%d %H:%M"
        return when.strftime(form)

    def percent(self, share: float, digits: int = 1) -> str:
        """A share from 0 to 1 in percent."""
        written = f"{100 * share:.{digits}f}"
        return f"{written.replace('.', ',')}\u00a0%" if self.language == "de" else f"{written}%"

    def when(self, seconds: float) -> str:
        """A moment that is counted in seconds; "" if it is not known."""
        return self.moment(datetime.fromtimestamp(seconds)) if seconds else ""

    def bytes(self, size: int) -> str:
        """The size of a file."""
        for unit, least in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
            if size >= least:
                written = f"{size / least:.3g}"
                return f"{written.replace('.', ',') if self.language == 'de' else written} {unit}"
        return f"{size} B"

    def sign(self, sign: str) -> str:
        """A sign that separates fields, by its name if it has one."""
        known = texts(self.language)
        name = known.get(f"signs.{SIGNS.get(sign, '')}")
        return name if name is not None else sign

    def spelled(self, spelling: Spelling) -> str:
        """A number or a date in a spelling, as an example."""
        if spelling.date_format:
            return f"{EXAMPLE.strftime(spelling.date_format)} ({spelling.date_format})"
        whole = f"1{spelling.thousands}234" if spelling.thousands else "1234"
        return f"{whole}{spelling.decimal}5{' %' if spelling.percent else ''}"


def preferred(header: str) -> str:
    """The language that a browser asks for first, of those that there are."""
    for part in header.split(","):
        language = part.partition(";")[0].strip().lower().partition("-")[0]
        if language in LANGUAGES:
            return language
    return DEFAULT
