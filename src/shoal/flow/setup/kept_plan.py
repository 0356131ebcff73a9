"""A plan for a table that is read in another way: what still fits is kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from shoal.flow.draft.draft import Examined, plan_with_roles
from shoal.flow.draft.facts import Facts
from shoal.models import Model
from shoal.plan import Plan
from shoal.plan.attackers import Attacker
from shoal.table.roles import Column, columns_with_role, counts_households, linking_columns

FITTING = 0.5  # share of the values that a hierarchy must know to be kept; a person adds the others
TRIED = 10_000  # values of a column


@dataclass(frozen=True)
class Kept:
    """A plan that fits a table, and what had to change for that."""

    plan: Plan
    new: list[str] = field(default_factory=list)  # columns that the plan did not name
    lost: list[str] = field(default_factory=list)  # columns that the table lacks
    models: list[str] = field(default_factory=list)  # requirements that are gone
    hierarchies: list[str] = field(default_factory=list)  # columns whose hierarchy did not fit
    lacking: list[str] = field(default_factory=list)  # columns whose hierarchy lacks some values

    @property
    def is_same(self) -> bool:
        """Whether nothing had to change."""
        return not (self.new or self.lost or self.models or self.hierarchies)


def kept_plan(
    plan: Plan,
    examined: Examined,
    before: Plan | None = None,
    proposed: Collection[str] = (),
) -> Kept:
    """The plan for a table: columns that it does not name are proposed, others are kept.

    `before` is what was proposed when the table was read differently. A column for which nothing
    else was decided then gets what is proposed now, and so do the columns `proposed`.
    """
    drafted = plan_with_roles(examined, examined.guesses)
    names = examined.frame.names
    untouched = set() if before is None else _untouched(plan, before)
    columns: dict[str, Column] = {}
    odd, lacking = [], []
    for name in names:
        if name not in plan.columns or name in untouched or name in proposed:
            columns[name] = drafted.columns[name]
            continue
        columns[name] = plan.columns[name]
        known = _known(plan.columns[name], examined.facts[name])
        if known < FITTING:
            odd.append(name)
            columns[name] = _refitted(plan.columns[name], drafted.columns[name])
        elif known < 1:
            lacking.append(name)
    models = [one for one in plan.models if _serves(one, columns)]
    missing = plan.missing_values
    if before is not None and missing == before.missing_values:
        missing = drafted.missing_values
    made = plan.changed(
        columns=columns,
        models=models,
        attackers=attackers_of(plan, columns),
        read=examined.read,
        missing_values=missing,
    )
    return Kept(
        made,
        [name for name in names if name not in plan.columns],
        [name for name in plan.columns if name not in names],
        [one.key for one in plan.models if one not in models],
        odd,
        lacking,
    )


def _untouched(plan: Plan, before: Plan) -> set[str]:
    """The columns for which the plan has what was proposed."""
    return {
        name
        for name, column in plan.columns.items()
        if name in before.columns and column.setting_in() == before.columns[name].setting_in()
    }


def _known(column: Column, facts: Facts) -> float:
    """The share of the values that the hierarchy of a column knows; of many, some are tried."""
    if column.hierarchy is None or not facts.distinct:
        return 1.0
    some = facts.values[:: 1 + facts.distinct // TRIED]
    return sum(map(column.hierarchy.knows, some)) / len(some)


def _refitted(column: Column, drafted: Column) -> Column:
    """A column with another hierarchy: the proposed one, or none."""
    return column.changed(hierarchy=drafted.hierarchy, at_most=None)


def _serves(model: Model, columns: Mapping[str, Column]) -> bool:
    """Whether a model is still about something."""
    if model.needs_person_column and not linking_columns(columns):
        return False
    if model.needs_household_column and not counts_households(columns):
        return False
    about = model.about
    return about is None or (about in columns and columns[about].role == "sensitive")


def attackers_of(plan: Plan, columns: Mapping[str, Column]) -> list[Attacker]:
    """The attackers, who know the quasi-identifiers that are left; all of them know a new one."""
    quasi = columns_with_role(columns, "quasi")
    known = {name for one in plan.attackers for name in one.knows}
    found: dict[str, Attacker] = {}
    for one in plan.attackers:
        knows = [name for name in quasi if name in one.knows or name not in known]
        if knows:
            left = Attacker(knows=knows, who=one.who)
            found.setdefault(left.title, left)  # two may know the same now
    return list(found.values())
