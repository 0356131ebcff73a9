"""Draft: a first proposal of a plan, guessed from the table and meant to be edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.arrays import Longs
from shoal.base.errors import BadTable
from shoal.base.progress import Progress, silent
from shoal.base.wording import short
from shoal.flow.draft.dependencies import Dependency, dependencies
from shoal.flow.draft.dictionary import Entry, check_described, read_dictionary
from shoal.flow.draft.facts import Facts, titled
from shoal.flow.draft.guess_role import Guess, guess_role
from shoal.flow.draft.missing_codes import missing_codes
from shoal.flow.draft.plan_lines import ranking_lines, type_lines
from shoal.flow.draft.ranking import Ranking, columns_to_leave, rank_columns
from shoal.flow.draft.spellings import (
    PUBLISHED,
    Stated,
    detected_spellings,
    note_on,
    reading_of,
    with_own,
    with_spellings,
)
from shoal.flow.draft.table_rows import open_with_rows, row_remarks
from shoal.flow.draft.unprotected import model_lines, unprotected_remark
from shoal.flow.estimate.trial import Trial, try_plan
from shoal.hierarchies.values import MISSING_WORDS, text
from shoal.io.frames import Frame
from shoal.io.labels import NO_LABELS, Labels, labels_of
from shoal.io.raw_text.detect_spelling import Detected, settings_of
from shoal.io.reading import Reading
from shoal.measures.breakdowns.linked_members import linked_members
from shoal.models import Model
from shoal.models.household_k_anonymity import HouseholdKAnonymity
from shoal.models.k_anonymity import KAnonymity
from shoal.plan import Plan
from shoal.plan.toml_text import toml_line
from shoal.table.coded_columns import code_all, coded, person_codes
from shoal.table.header import check_header
from shoal.table.roles import LINKS, Column, Role, columns_with_role, household_apart

K = 5
CODES = 6  # whose labels a note has
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
    trial: Trial = field(default_factory=Trial)  # whether the release would be refused


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
    table: Any,
    dictionary: str | Path | None = None,
    reading: Reading | None = None,
    progress: Progress = silent,
) -> Draft:
    """Propose a plan, with the evidence for it; the plan states how the file is read."""
    examined = examine(table, dictionary, reading, progress)
    return complete(examined, examined.guesses, progress=progress)


def examine(
    table: Any,
    dictionary: str | Path | None = None,
    reading: Reading | None = None,
    progress: Progress = silent,
    stated: Stated | None = None,
    tried: bool = True,
) -> Examined:
    """Find out what the columns of a table are; what is stated about its cells is kept.

    Unless `tried`, columns stay as they are by which the release would be refused.
    """
    given = stated or Stated()
    described = {} if dictionary is None else read_dictionary(dictionary)
    frame, asked = open_with_rows(table, reading or Reading(), progress)
    read = reading_of(frame).model_copy(update=asked.stated())
    if frame.height == 0:
        raise BadTable("the table has no rows; there is nothing to guess from")
    check_header(frame)
    check_described(described, frame.names)
    code_all(frame, dict.fromkeys(frame.names, ()), lambda share: progress("examine", share / 4))
    missing = _missing_words(frame) if given.missing is None else list(given.missing)
    detected = detected_spellings(
        frame, missing, lambda share: progress("examine", (1 + share) / 4)
    )
    detected = given.apply(detected)
    frame = with_spellings(frame, detected, missing, given)
    facts, guesses = {}, {}
    for i, name in enumerate(frame.names):
        progress("examine", (1 + i / len(frame.names)) / 2)
        described_as = described.get(name, Entry())
        facts[name] = _facts(frame, name, missing, described_as, given.own_missing.get(name))
        guesses[name] = guess_role(facts[name], described_as.role)
    _one_of_each(guesses)
    _one_household_per_person(frame, guesses, missing)
    found = dependencies([facts[name] for name in _published(guesses)])
    _settle(guesses, found)
    examined = Examined(frame, facts, guesses, found, missing, read, detected)
    return _tried(examined, progress) if tried else examined


def complete(
    examined: Examined,
    guesses: Mapping[str, Guess],
    models: Sequence[Model] | None = None,
    progress: Progress = silent,
) -> Draft:
    """The plan with these roles, and a ranking of its quasi-identifiers.

    Without `models`, k-anonymity is proposed.
    """
    quasi = [examined.facts[name] for name in _quasi(guesses)]
    if not quasi:
        raise BadTable(
            "no column looks like a quasi-identifier (age, sex, postcode, job …); "
            "write the plan by hand"
        )
    people = people_of(examined, guesses)
    many = len(quasi) > MANY
    ranking = rank_columns(quasi, people, lambda share: progress("rank", share / (1 + many)))
    plan = plan_with_roles(examined, guesses, models)
    plan.comments.extend(model_lines(plan, examined.facts))
    plan.comments.extend(type_lines(examined.facts[name] for name in _published(guesses)))
    plan.comments.extend(ranking_lines(ranking))
    plan.remarks.extend(row_remarks(examined.read))
    plan.remarks.extend(examined.trial.remarks(columns_with_role(plan.columns, "drop")))
    if bare := unprotected_remark(plan):
        plan.remarks.append(bare)
    if many:
        found = columns_to_leave(quasi, people, MANY, lambda s: progress("rank", (1 + s) / 2))
        leave = [examined.facts[name] for name in found]
        plan.remarks.append(
            f"{len(quasi)} quasi-identifiers are many and will lose much information; which of "
            "them can an outsider really know? Without these, fewest people are unique: "
            f"{', '.join(map(titled, leave))}. Give them the role drop if nobody needs them"
        )
    return Draft(plan, examined.facts, ranking)


def draft_k(examined: Examined) -> int:
    """The k that is proposed."""
    return max(2, min(K, examined.frame.height))


def people_of(examined: Examined, guesses: Mapping[str, Guess]) -> Longs | None:
    """The person or household of each record; None if each is a person of its own."""
    for role in ("household", "person"):  # members of a household may be hidden together
        for name, guess in guesses.items():
            if guess.role == role and not _is_apart(examined, name, guess):
                return person_codes(examined.frame, name, examined.missing)
    return None


def _is_apart(examined: Examined, name: str, guess: Guess) -> bool:
    """Whether members of a household are generalized each by itself: unless the role was given."""
    return guess.role == "household" and not guess.given and _most_households(examined, name) > 1


def _most_households(examined: Examined, name: str) -> int:
    """The largest k of household-k-anonymity that the whole table as one class reaches."""
    sizes = np.bincount(person_codes(examined.frame, name, examined.missing))
    return int(examined.frame.height // sizes.max())


def _missing_words(frame: Frame) -> list[str]:
    """The words for missing values that occur anywhere in the table."""
    missing = [""]
    for name in frame.names:
        _, values = coded(frame, name)
        texts = values.texts
        if texts is not None and texts is values.array:  # a column of texts
            known = pa.array(sorted(MISSING_WORDS), texts.type)
            bare = pc.utf8_trim_whitespace(texts)  # " ?" after a comma and a blank
            found = set(texts.filter(pc.is_in(bare, known)).to_pylist())
            missing += sorted(found - set(missing))
    return missing


def _facts(
    frame: Frame,
    name: str,
    missing: Sequence[str],
    described: Entry,
    stated: Sequence[str] | None = None,
) -> Facts:
    """Facts about a column, without the codes that stand for missing values in it.

    `stated` are these codes, if they are known.
    """
    filed = _labels(frame, name)
    label, labels = described.label or filed.column, {**filed.values, **described.codes}
    codes, values = coded(frame, name, missing)
    facts = Facts(name, label, codes, values, labels, measure=filed.measure)
    known = set(map(text, values.listed)) if filed.missing else set()
    found = [*(w for w in filed.missing if w in known), *missing_codes(facts)]
    own = [*dict.fromkeys(found if stated is None else stated)]
    if not own:
        return facts
    words = [*missing, *own] if stated is None else with_own(missing, own)
    codes, values = coded(frame, name, words)
    return replace(facts, codes=codes, coded=values, missing=tuple(own))


def _labels(frame: Frame, name: str) -> Labels:
    """The labels that the file has for a column."""
    return labels_of(frame.native.schema.field(name)) if frame.kind == "arrow" else NO_LABELS


def column_as(examined: Examined, name: str, guess: Guess) -> Column:
    """The settings of a column; codes that stand for missing come with the words that do."""
    codes = examined.facts[name].missing
    column = Column(
        role=guess.role,
        hierarchy=guess.hierarchy,
        publish=guess.given or guess.role not in ("household", "weight"),
        together=not _is_apart(examined, name, guess),
        **_stated(examined, name, guess),
    )
    if not codes or guess.role not in ("quasi", "sensitive"):
        return column
    _, values = coded(examined.frame, name)
    words = [word for word in examined.missing if word and word in set(map(text, values))]
    return column.changed(missing_values=[*words, *codes])


def plan_with_roles(
    examined: Examined, guesses: Mapping[str, Guess], models: Sequence[Model] | None = None
) -> Plan:
    """The plan with these roles, without a ranking of its quasi-identifiers.

    Without `models`, k-anonymity is proposed; household-k-anonymity is added where there are
    households.
    """
    columns = {name: column_as(examined, name, guess) for name, guess in guesses.items()}
    asked: list[Model] = list(models or [KAnonymity(k=draft_k(examined))])
    if (home := household_apart(columns)) is not None:
        k = max((one.hidden_among for one in asked), default=K)
        asked.append(HouseholdKAnonymity(k=min(max(k, 2), _most_households(examined, home))))
    plan = Plan(columns=columns, read=examined.read, models=asked, missing_values=examined.missing)
    plan._drafted = True
    for name, guess in guesses.items():
        facts, note = examined.facts[name], guess.note
        if plan.columns[name].missing_values is not None:
            note += f"; {', '.join(map(str.strip, facts.missing))} taken as missing"
        if guess.role in PUBLISHED:
            found = examined.detected.get(name, Detected())
            note += _codes(facts) + note_on(found, guess.kind == "spelled dates")
        plan.notes[name] = f"{facts.label}: {note}" if facts.label else note
    return plan


def _codes(facts: Facts) -> str:
    """What codes stand for, for the note on a column."""
    if not facts.labels:
        return ""
    known = [(code, facts.labels[code]) for code in map(text, facts.values) if code in facts.labels]
    if not known:
        return ""
    shown = [f"{short(code, 20)} {short(label, 30)}" for code, label in sorted(known)[:CODES]]
    more = f" and {len(known) - CODES} more" if len(known) > CODES else ""
    return f"; {', '.join(shown)}{more}"


def _stated(examined: Examined, name: str, guess: Guess) -> dict[str, Any]:
    """How a column that is published, or has weights, writes its numbers or dates."""
    found = examined.detected.get(name, Detected()).spelling
    read = guess.role in PUBLISHED or guess.role == "weight"
    return settings_of(found) if found is not None and read else {}


def _quasi(guesses: Mapping[str, Guess]) -> list[str]:
    return [name for name, guess in guesses.items() if guess.role == "quasi"]


def _published(guesses: Mapping[str, Guess]) -> list[str]:
    """The columns that are published by value, generalized or not."""
    return [n for n, guess in guesses.items() if guess.role in ("quasi", "sensitive", "other")]


def _tried(examined: Examined, progress: Progress) -> Examined:
    """Drop the columns by which the release of the plan would be refused."""
    guesses = dict(examined.guesses)
    if _quasi(guesses):
        _unlink_members(examined, guesses)
        examined = replace(examined, guesses=guesses)
    varying = [
        name
        for name, facts in examined.facts.items()
        if guesses[name].role == "other" and facts.distinct + (facts.filled < facts.rows) > 1
    ]
    if not varying or not _quasi(guesses):
        return examined
    given = [name for name in varying if guesses[name].given]
    people, plan = people_of(examined, guesses), plan_with_roles(examined, guesses)
    trial = try_plan(examined.frame, plan, varying, given, people, progress)
    for one in trial.telling:
        guess = guesses[one.column]
        if guess.given:
            guesses[one.column] = replace(guess, note=f"{guess.note}; {one.kept}")
        else:
            guesses[one.column] = guess.changed_to("drop", f"{guess.note}; {one.dropped}")
    return replace(examined, guesses=guesses, trial=trial)


def _unlink_members(examined: Examined, guesses: dict[str, Guess]) -> None:
    """Drop columns that would put members together again who are hidden each by itself."""
    while True:
        found = linked_members(examined.frame, plan_with_roles(examined, guesses))
        if found is None or found.holds:
            return
        why = f"members of {found.share} could be linked by it, and the release would be refused"
        for name in found.by:
            guess = guesses[name]
            instead = (
                "the role quasi generalizes it, or write "
                f"{toml_line('accept', [name])} at the top of the plan"
            )
            guesses[name] = (
                replace(guess, note=f"{guess.note}; {why}: {instead}")
                if guess.given
                else guess.changed_to("drop", f"{guess.note}; drop it: {why}. Or {instead}")
            )
        if all(guesses[name].given for name in found.by):
            return


# What a second column of a role becomes that a plan has once.
_SECOND: dict[Role, tuple[Role, str]] = {
    "person": ("identifier", "a second number for people"),
    "household": ("identifier", "a second number for households"),
    "weight": ("drop", "a second survey weight"),
}


def _one_of_each(guesses: dict[str, Guess]) -> None:
    """Keep the first column with a role that a plan has once."""
    for role, instead in _SECOND.items():
        found = [name for name, guess in guesses.items() if guess.role == role]
        given = [name for name in found if guesses[name].given]  # two of them are an error
        for name in found:
            if name not in (given or found[:1]):
                guesses[name] = guesses[name].changed_to(*instead)


def _one_household_per_person(
    frame: Frame, guesses: dict[str, Guess], missing: Sequence[str]
) -> None:
    """A number by which people are in several households is none of households."""
    named = {guess.role: name for name, guess in guesses.items() if guess.role in LINKS}
    if len(named) < 2 or guesses[named["household"]].given:
        return
    person, home = (person_codes(frame, named[role], missing) for role in ("person", "household"))
    first = np.zeros(int(person.max()) + 1, np.int64)
    first[person] = home
    if (first[person] != home).any():
        guess = guesses[named["household"]]
        note = "named like a household number, but some people have several of them"
        guesses[named["household"]] = guess.changed_to("identifier", note)


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
