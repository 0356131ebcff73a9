"""Rank: how much each column singles people out, and which columns follow from others."""

from __future__ import annotations

from dataclasses import dataclass, field

from shoal.base.arrays import Longs
from shoal.base.progress import Progress
from shoal.flow.draft.dependencies import dependencies
from shoal.flow.draft.draft import MANY, Examined
from shoal.flow.draft.ranking import (
    columns_to_leave,
    rank_columns,
    separation_of,
    unique_alone,
    unique_with,
)
from shoal.flow.draft.spellings import PUBLISHED
from shoal.studio.tasks._serving import Held
from shoal.table.coded_columns import person_codes
from shoal.table.roles import UNCHANGED


@dataclass(frozen=True)
class Singled:
    """How much one column singles people out."""

    separation: float  # percent of pairs of records that differ in it
    alone: int  # people who are unique by it alone
    without: int | None = None  # people who are unique by the other quasi-identifiers
    together: int | None = None  # people who were unique if outsiders knew this column as well


@dataclass(frozen=True)
class Ranked:
    """The columns of a table with the roles of a plan."""

    people: int
    counted: int  # people among whom it was counted: a sample of a large table
    unique: int  # people, by all quasi-identifiers
    columns: dict[str, Singled]
    follows: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)  # from which; the same
    leave: tuple[str, ...] = ()  # without these quasi-identifiers, fewest people are unique


def run(
    held: Held, progress: Progress, roles: dict[str, str], missing: dict[str, list[str]]
) -> Ranked:
    """Count the people that the columns single out; `missing` has the words of a person column."""
    examined: Examined = held["examined"]
    facts = [examined.facts[name] for name in roles if name in examined.facts]
    people = _people(examined, roles, missing)
    quasi = [one for one in facts if roles[one.name] == "quasi"]
    others = [one for one in facts if roles[one.name] in ("sensitive", *UNCHANGED)]
    progress("rank", 0.0)
    # Without a quasi-identifier, any column shows among how many people it is counted.
    ranking = rank_columns(quasi or facts[:1], people, lambda share: progress("rank", share / 3))
    without = {one.column: one.unique_without for one in ranking.ranks} if quasi else {}
    more = unique_with(quasi, others, people, lambda share: progress("rank", (1 + share) / 3))
    together = dict(zip((one.name for one in others), more, strict=True))
    alone = unique_alone(facts, people)
    published = [one for one in facts if roles[one.name] in PUBLISHED]
    follows: dict[str, list[tuple[str, bool]]] = {}
    for one in dependencies(published):
        follows.setdefault(one.column, []).append((one.of, one.both_ways))
    leave: list[str] = []
    if len(quasi) > MANY:
        leave = columns_to_leave(quasi, people, MANY, lambda share: progress("rank", share))
    return Ranked(
        people=examined.frame.height if people is None else int(people.max()) + 1,
        counted=ranking.people,
        unique=ranking.unique if quasi else 0,
        columns={
            one.name: Singled(
                separation_of(one), by_itself, without.get(one.name), together.get(one.name)
            )
            for one, by_itself in zip(facts, alone, strict=True)
        },
        follows=follows,
        leave=tuple(leave),
    )


def _people(
    examined: Examined, roles: dict[str, str], missing: dict[str, list[str]]
) -> Longs | None:
    for link in ("household", "person"):  # as in `linking_columns`
        for name, role in roles.items():
            if role == link and name in examined.facts:
                return person_codes(examined.frame, name, missing.get(name, []))
    return None
