"""Draft: a first proposal of a plan, guessed from the table and meant to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Longs
from shoal.base.errors import BadTable
from shoal.flow.draft.dependencies import Dependency, dependencies
from shoal.flow.draft.dictionary import Entry, check_described, read_dictionary
from shoal.flow.draft.facts import Facts
from shoal.flow.draft.guess_role import ADVICE, PEOPLE_ADVICE, Guess, guess_role
from shoal.flow.draft.missing_codes import missing_codes
from shoal.flow.draft.ranking import Ranking, columns_to_leave, rank_columns
from shoal.flow.draft.ranking_lines import ranking_lines
from shoal.flow.draft.spellings import (
    detected_spellings,
    note_on,
    reading_of,
    with_spellings,
)
from shoal.hierarchies.values import MISSING_WORDS, text
from shoal.io.frames import Frame, open_frame
from shoal.io.labels import NO_LABELS, Labels, labels_of
from shoal.io.raw_text.detect_spelling import Detected, settings_of
from shoal.io.reading import Reading
from shoal.models.k_anonymity import KAnonymity
from shoal.plan import Plan
from shoal.table.coded_columns import coded, person_codes
from shoal.table.header import check_header
from shoal.table.roles import Column

K = 5
WRITTEN = ("quasi", "sensitive", "other")  # roles of columns whose values are published
MANY = 15  # quasi-identifiers from which on much information is lost


@dataclass(frozen=True)
class Examined:
    """What was found out about a table, column by column."""

    frame: Frame
    facts: Mapping[str, Facts]
    guesses: Mapping[str, Guess]
    dependencies: Sequence[Dependency]
    missing: list[str]  # texts that mean missing in any column
    read: Reading = field(default_factory=Reading)  # how its file is read
    detected: Mapping[str, Detected] = field(default_factory=dict)  # how columns are written


@dataclass(frozen=True)
class Draft:
    """A proposed plan, and the evidence for it."""

    plan: Plan
    facts: Mapping[str, Facts]
    ranking: Ranking


def draft(
    table: Any,
    dictionary: str | Path | None = None,
    *,
    read: Reading | Mapping[str, Any] | None = None,
) -> Plan:
    """Propose a plan: roles and hierarchies guessed from values and names, to be edited.

    In doubt a column becomes a quasi-identifier, which is the safe choice. `dictionary` is a table
    with the columns column, label, role and codes, whose roles are kept. `read` says how the file
    is read where that cannot be found in it, as in `{"header": False}`.

    >>> import pyarrow as pa
    >>> plan = draft(pa.table({"name": ["Ann", "Bob"], "age": [31, 47]}))
    >>> plan.columns["name"].role, plan.columns["age"].role
    ('identifier', 'quasi')
    """
    reading = Reading(**read) if isinstance(read, Mapping) else read
    return propose(table, dictionary, reading).plan


def propose(
    table: Any, dictionary: str | Path | None = None, reading: Reading | None = None
) -> Draft:
    """Propose a plan, with the evidence for it; the plan states how the file is read."""
    examined = examine(table, dictionary, reading)
    return complete(examined, examined.guesses)


def examine(
    table: Any, dictionary: str | Path | None = None, reading: Reading | None = None
) -> Examined:
    """Find out what the columns of a table are."""
    described = {} if dictionary is None else read_dictionary(dictionary)
    frame = open_frame(table, None, reading)
    read = reading_of(frame)
    if reading is not None:
        read = read.model_copy(update=reading.stated())
    if frame.height == 0:
        raise BadTable("the table has no rows; there is nothing to guess from")
    check_header(frame)
    check_described(described, frame.names)
    missing = _missing_words(frame)
    detected = detected_spellings(frame, missing)
    frame = with_spellings(frame, detected, missing)
    facts = {n: _facts(frame, n, missing, described.get(n, Entry())) for n in frame.names}
    guesses = {
        name: guess_role(one, described[name].role if name in described else "")
        for name, one in facts.items()
    }
    _one_person(guesses)
    _several_records(guesses)
    found = dependencies([facts[name] for name in _published(guesses)])
    _settle(guesses, found)
    return Examined(frame, facts, guesses, found, missing, read, detected)


def complete(examined: Examined, guesses: Mapping[str, Guess]) -> Draft:
    """The plan with these roles, and a ranking of its quasi-identifiers."""
    quasi = [examined.facts[name] for name in _quasi(guesses)]
    if not quasi:
        raise BadTable(
            "no column looks like a quasi-identifier (age, sex, postcode, job …); "
            "write the plan by hand"
        )
    people = people_of(examined, guesses)
    ranking = rank_columns(quasi, people)
    plan = _plan(examined, guesses)
    plan.comments.extend(ranking_lines(ranking))
    if len(quasi) > MANY:
        leave = columns_to_leave(quasi, people, MANY)
        plan.remarks.append(
            f"{len(quasi)} quasi-identifiers are many and will lose much information; which of "
            "them can an outsider really know? Without these, fewest people are unique: "
            f"{', '.join(leave)}. Give them the role drop if nobody needs them"
        )
    return Draft(plan, examined.facts, ranking)


def draft_k(examined: Examined) -> int:
    """The k that is proposed."""
    return max(2, min(K, examined.frame.height))


def people_of(examined: Examined, guesses: Mapping[str, Guess]) -> Longs | None:
    """The person of each record; None if each record is a person of its own."""
    for name, guess in guesses.items():
        if guess.role == "person":
            return person_codes(examined.frame, name, examined.missing)
    return None


def _missing_words(frame: Frame) -> list[str]:
    """The words for missing values that occur anywhere in the table."""
    missing = [""]
    for name in frame.names:
        _, values = coded(frame, name)
        texts = values.texts
        if texts is not None and texts is values.array:  # a column of texts
            known = pa.array(sorted(MISSING_WORDS), texts.type)
            found = set(known.filter(pc.is_in(known, texts)).to_pylist())
            missing += sorted(found - set(missing))
    return missing


def _facts(frame: Frame, name: str, missing: Sequence[str], described: Entry) -> Facts:
    """Facts about a column, without the codes that stand for missing values in it."""
    filed = _labels(frame, name)
    label, labels = described.label or filed.column, {**filed.values, **described.codes}
    codes, values = coded(frame, name, missing)
    facts = Facts(name, label, codes, values, labels, measure=filed.measure)
    known = set(map(text, values.listed)) if filed.missing else set()
    own = [*dict.fromkeys([*(w for w in filed.missing if w in known), *missing_codes(facts)])]
    if not own:
        return facts
    codes, values = coded(frame, name, [*missing, *own])
    return replace(facts, codes=codes, coded=values, missing=tuple(own))


def _labels(frame: Frame, name: str) -> Labels:
    """The labels that the file has for a column."""
    return labels_of(frame.native.schema.field(name)) if frame.kind == "arrow" else NO_LABELS


def _column(examined: Examined, name: str, guess: Guess) -> Column:
    """The settings of a column; codes that stand for missing come with the words that do."""
    codes = examined.facts[name].missing
    column = Column(role=guess.role, hierarchy=guess.hierarchy, **_stated(examined, name, guess))
    if not codes or guess.role not in ("quasi", "sensitive"):
        return column
    _, values = coded(examined.frame, name)
    words = [word for word in examined.missing if word and word in set(map(text, values))]
    return column.changed(missing_values=[*words, *codes])


def _plan(examined: Examined, guesses: Mapping[str, Guess]) -> Plan:
    plan = Plan(
        columns={name: _column(examined, name, guess) for name, guess in guesses.items()},
        read=examined.read,
        models=[KAnonymity(k=draft_k(examined))],
        missing_values=examined.missing,
    )
    plan._drafted = True
    for name, guess in guesses.items():
        facts, note = examined.facts[name], guess.note
        if plan.columns[name].missing_values is not None:
            note += f"; {', '.join(facts.missing)} taken as missing"
        if guess.role in WRITTEN:
            note += note_on(examined.detected.get(name, Detected()))
        plan.notes[name] = f"{facts.label}: {note}" if facts.label else note
    return plan


def _stated(examined: Examined, name: str, guess: Guess) -> dict[str, Any]:
    """How a published column writes its numbers or dates."""
    found = examined.detected.get(name, Detected()).spelling
    return settings_of(found) if found is not None and guess.role in WRITTEN else {}


def _quasi(guesses: Mapping[str, Guess]) -> list[str]:
    return [name for name, guess in guesses.items() if guess.role == "quasi"]


def _published(guesses: Mapping[str, Guess]) -> list[str]:
    """The columns that are published by value, generalized or not."""
    return [n for n, guess in guesses.items() if guess.role in ("quasi", "sensitive", "other")]


def _one_person(guesses: dict[str, Guess]) -> None:
    """Keep the first person column; a second number for people is an identifier."""
    persons = [name for name, guess in guesses.items() if guess.role == "person"]
    given = [name for name in persons if guesses[name].given]  # two of them are an error in a plan
    for name in persons:
        if name not in (given or persons[:1]):
            guesses[name] = guesses[name].changed_to("identifier", "a second number for people")


def _several_records(guesses: dict[str, Guess]) -> None:
    """Recommend models about people if they have several records."""
    if any(guess.role == "person" for guess in guesses.values()):
        for name, guess in guesses.items():
            guesses[name] = replace(guess, note=guess.note.replace(ADVICE, PEOPLE_ADVICE))


def _settle(guesses: dict[str, Guess], found: Sequence[Dependency]) -> None:
    """Drop what gives a quasi-identifier back; what must stay gets a note."""
    for one in found:
        of, column = guesses[one.of], guesses[one.column]
        if "drop" in (of.role, column.role) or "quasi" not in (of.role, column.role):
            continue
        if of.role == "quasi":
            if column.role == "sensitive" or column.given:
                guesses[one.column] = replace(column, note=f"{column.note}; {one.text}")
            else:
                guesses[one.column] = column.changed_to("drop", one.text)
        else:
            # Published unchanged, it would tell the quasi-identifier.
            note = f"it gives {one.column} back, which follows from it"
            if of.role == "sensitive" or of.given:
                guesses[one.of] = replace(of, note=f"{of.note}; {note}")
            else:
                guesses[one.of] = of.changed_to("drop", f"drop it: {note}")
