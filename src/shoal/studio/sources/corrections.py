"""Corrections: how a table is to be read instead, as a form says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shoal.base.errors import BadInput, BadPlan
from shoal.io.raw_text.detect_spelling import settings_of
from shoal.io.raw_text.spelling import Spelling, check_spelling
from shoal.io.reading import Reading
from shoal.studio.sources.source import Source, has_layout
from shoal.studio.tasks.open import SPELLING, Correction

if TYPE_CHECKING:
    from shoal.studio.project import Project

TAB = "tab"  # a tab cannot be typed into a field
PLAIN, OWN = "plain", "own"
NUMBERS = [(",", ""), (",", "."), (".", ","), (",", " "), (".", " "), (".", "'"), (",", "'")]
DATES = [
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%d.%m.%y", "%d/%m/%y",
    "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M",
    "%m/%d/%Y %I:%M %p",
]  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What a form about reading says, or what is so now."""

    reading: dict[str, Any]  # of [read], stated
    missing: list[str] | None  # words; None: the table was not read yet
    spellings: dict[str, Spelling] = field(default_factory=dict)  # Spelling(): none
    table: str = ""  # of a database
    query: str = ""
    mistakes: dict[str, str] = field(default_factory=dict)  # by field of the form

    def source(self, project: Project) -> Source:
        """The source of the project, with the table or query that is asked for."""
        if project.source["kind"] != "database":
            return project.source
        return {**project.source, "table": self.table or None, "query": self.query or None}


def current(project: Project) -> Asked:
    """How the table of a project is read now, or was asked for last."""
    jobs = (project.opening, project.rereading)
    if project.attempt is not None and any(one and one.status == "failed" for one in jobs):
        tried: Asked = project.attempt
        return tried
    plan = project.plan if project.history.texts else None
    source = project.source
    spelled = {} if plan is None else {
        name: one.spelling for name, one in plan.columns.items() if one.spelling is not None
    }  # fmt: skip
    return Asked(
        dict(project.reading) if plan is None else plan.read.stated(),
        None if plan is None else list(plan.missing_values),
        spelled,
        source.get("table") or "",
        source.get("query") or "",
    )


def asked_by(form: Mapping[str, str], project: Project) -> Asked:
    """What a form says; mistakes in it are noted by field."""
    now = current(project)
    mistakes: dict[str, str] = {}
    layout = has_layout(project.source)
    reading = {key: one for key, one in now.reading.items() if key not in layout}
    for key in sorted(layout & set(Reading.model_fields)):
        try:
            if (value := _setting(key, form.get(key, ""))) is not None:
                if key != "last_row":  # which needs the row of the names
                    Reading(**{key: value})
                reading[key] = value
        except BadInput as error:
            mistakes[key] = str(error)
    try:
        Reading(**reading)
    except BadInput as error:
        mistakes.setdefault("reading", str(error))
    missing = now.missing
    if "words" in form:
        words = [word for word in form["words"].replace("\r", "").split("\n") if word]
        missing = [*([""] if form.get("empty") != "no" else []), *dict.fromkeys(words)]
    spellings = dict(now.spellings)
    for key, name in form.items():
        if key.startswith("name-") and name:
            place = key.removeprefix("name-")
            try:
                spellings[name] = spelling_in(
                    form.get(f"form-{place}", PLAIN), form.get(f"own-{place}", "")
                )
            except BadInput as error:
                mistakes[f"form-{place}"] = str(error)
    table, query = form.get("table", now.table).strip(), form.get("query", now.query).strip()
    if table and query:
        mistakes["query"] = "give either a table or a query, not both"
    return Asked(reading, missing, spellings, table, query, mistakes)


def _setting(key: str, given: str) -> Any:
    """A setting of [read] as a field of a form has it; None: it is not stated."""
    if key in ("header_row", "last_row"):
        if not given.strip():
            return None
        if not (given.strip().isascii() and given.strip().isdecimal()) or len(given.strip()) > 9:
            raise BadPlan(f"the number of a row is a whole number of 1 or more, got {given[:40]!r}")
        return int(given)
    if key == "header":
        return False if given == "no" else None
    if key == "quote":
        return {"": None, "none": ""}.get(given, given)
    if key == "delimiter" and given == TAB:
        return "\t"
    return given or None


def spelling_in(word: str, own: str) -> Spelling:
    """The spelling that an option of the form stands for; `own` is a format of dates.

    >>> spelling_in("n|,|.|%", ""), spelling_in("own", "%d.%m.%Y").date_format
    (Spelling(decimal=',', thousands='.', percent=True, date_format=''), '%d.%m.%Y')
    """
    found = Spelling()
    if word == OWN:
        found = Spelling(date_format=own.strip())
        if not own.strip():
            raise BadPlan("write the format of the dates, as in %d.%m.%Y")
    elif word.startswith("d|"):
        found = Spelling(date_format=word[2:])
    elif word.startswith("n|"):
        parts = word.split("|")
        if len(parts) != 4:
            raise BadPlan("there is no such form of numbers")
        found = Spelling(parts[1], parts[2], parts[3] == "%")
    elif word != PLAIN:
        raise BadPlan("there is no such form of numbers or dates")
    try:
        check_spelling(found)
    except ValueError as error:
        raise BadPlan(f"a column {error}") from None
    return found


def option_of(spelling: Spelling | None) -> str:
    """The option of the form that stands for a spelling.

    >>> option_of(Spelling(",")), option_of(Spelling(date_format="%d.%m.%Y")), option_of(None)
    ('n|,||', 'd|%d.%m.%Y', 'plain')
    """
    if spelling is None or spelling == Spelling():
        return PLAIN
    if spelling.date_format:
        return f"d|{spelling.date_format}"
    return f"n|{spelling.decimal}|{spelling.thousands}|{'%' if spelling.percent else ''}"


def options(also: Sequence[Spelling]) -> tuple[list[Spelling], list[Spelling]]:
    """The spellings that a form offers, of numbers and of dates; `also` are among them."""
    numbers = [Spelling(*signs) for signs in NUMBERS]
    numbers += [Spelling(".", "", True), Spelling(",", "", True)]
    dates = [Spelling(date_format=one) for one in DATES]
    for one in also:
        known = dates if one.date_format else numbers
        if one != Spelling() and one not in known:
            known.append(one)
    return numbers, dates


def correction_of(asked: Asked, project: Project) -> Correction:
    """What changes; columns and words that stay as they are are not named."""
    plan = project.plan if project.history.texts else None
    if plan is None:
        columns = {n: _settings(one) for n, one in asked.spellings.items() if one != Spelling()}
        return Correction(asked.reading, asked.missing, columns)
    before = {name: one.spelling or Spelling() for name, one in plan.columns.items()}
    columns = {
        name: _settings(one)
        for name, one in asked.spellings.items()
        if one != before.get(name, Spelling())
    }
    missing = asked.missing if asked.missing != list(plan.missing_values) else None
    return Correction(asked.reading, missing, columns)


def _settings(spelling: Spelling) -> dict[str, Any]:
    """All settings of a spelling: those that it does not need are taken back."""
    none = {"decimal": None, "thousands": None, "percent": False, "date_format": None}
    assert set(none) == set(SPELLING)
    return {**none, **settings_of(spelling)}
