"""What the pages show of a column: its values, what was proposed, and how it was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shoal.flow.draft.draft import Examined, column_as
from shoal.flow.draft.facts import Facts
from shoal.flow.draft.guess_role import as_quasi
from shoal.flow.draft.propose_hierarchy import HINT
from shoal.hierarchies.values import text
from shoal.io.raw_text.detect_spelling import Detected, settings_of
from shoal.io.raw_text.spelling import Form, Spelling
from shoal.studio.tasks._spread import Spread, spread_of

LABELS = 200  # labels of values that a page shows


@dataclass(frozen=True)
class Way:
    """One way to read a column: its settings in a plan, and a value in both forms."""

    settings: dict[str, Any]
    example: str
    read: str


@dataclass(frozen=True)
class ColumnView:
    """One column."""

    name: str
    label: str
    kind: str  # "numbers", "dates" or "texts"
    distinct: int
    missing: int  # records
    spread: Spread  # its values as a small picture
    unlike: bool  # whether most records have a text of their own, so that a picture says nothing
    proposed: str  # role
    reason: str
    labels: tuple[tuple[str, str], ...] = ()  # of its values
    missing_codes: tuple[str, ...] = ()  # values of its own that mean missing
    spelling: dict[str, Any] = field(default_factory=dict)  # how it was read; {}: as it is
    doubt: str = ""  # why it is not clear how to read it
    ways: tuple[Way, ...] = ()  # to read it, if that is in doubt or was not stated
    # Settings that it needs with another role than the one it has: those of a column that is
    # published, and those of a quasi-identifier.
    published: dict[str, Any] = field(default_factory=dict)
    quasi: dict[str, Any] = field(default_factory=dict)


def view_of(examined: Examined, name: str) -> ColumnView:
    """What a page shows of a column."""
    facts, guess = examined.facts[name], examined.guesses[name]
    found = examined.detected.get(name, Detected())
    texts = {text(value) for value in facts.values[:LABELS]} if facts.labels else set()
    as_known = column_as(examined, name, as_quasi(facts, guess.kind)).setting_in()
    settings = {key: one for key, one in as_known.items() if key != "role"}
    own = {key: one for key, one in settings.items() if key != "hierarchy"}
    return ColumnView(
        name=name,
        label=facts.label,
        kind=_kind(facts),
        distinct=facts.distinct,
        missing=facts.rows - facts.filled,
        spread=spread_of(facts),
        unlike=_kind(facts) == "texts" and facts.mostly_unlike,
        proposed=guess.role,
        reason=guess.note.replace(HINT, ""),  # the page of its hierarchy says so
        labels=tuple((code, label) for code, label in facts.labels.items() if code in texts),
        missing_codes=facts.missing,
        spelling={} if found.spelling is None else settings_of(found.spelling),
        doubt="" if found.spelling is not None else found.doubt,
        ways=_ways(facts, found),
        published=own,
        quasi=settings,
    )


def _ways(facts: Facts, found: Detected) -> tuple[Way, ...]:
    """The readings that a column may have, each with a value that shows the difference."""
    if found.spelling is not None or not found.readings:
        return ()
    made = []
    example = _telling(facts, found.readings)
    for spelling in found.readings:
        made.append(Way(settings_of(spelling), example, spelling.read(example).text))
    return tuple(made)


def _telling(facts: Facts, ways: tuple[Spelling, ...]) -> str:
    """A value that the ways read differently; if there is none, one that all of them can read."""
    best = ""
    for value in facts.texts:
        read = [one.read(value) for one in ways]
        if all(one.form in (Form.SPELLED, Form.EITHER) for one in read):
            if len({one.text for one in read}) == len(ways):
                return value
            best = best or value
    return best


def _kind(facts: Facts) -> str:
    if facts.numbers is not None and facts.distinct:
        return "numbers"
    return "dates" if facts.dates else "texts"
