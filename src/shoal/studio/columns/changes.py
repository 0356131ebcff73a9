"""Changes of single columns in a plan: roles, and what goes with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from shoal.base.errors import BadPlan
from shoal.flow.draft.spellings import PUBLISHED
from shoal.flow.setup.kept_plan import attackers_of
from shoal.plan import Plan
from shoal.studio.tasks._columns import ColumnView
from shoal.table.roles import ROLES, Column, Role, columns_with_role, counts_households

FIRST_WORDS = {"importance": 1.0, "at_most": None, "microaggregate": None}
CODING = {"bottom": "the lowest number", "top": "the highest number", "round": "the step"}
# Roles that one column of a plan can have, and what becomes of another column that had it.
SINGLE = {"person": "identifier", "household": "identifier", "weight": "drop"}
CODED = ("quasi", "sensitive", "other")  # roles of columns whose numbers may be coded


@dataclass(frozen=True)
class Changed:
    """A plan after a change, and what else had to change."""

    plan: Plan
    models: tuple[str, ...] = ()  # requirements that are gone
    before: str = ""  # the column that had the role before, of which a plan has one
    role: str = ""  # that role


def with_roles(
    plan: Plan, views: Sequence[ColumnView], places: Collection[int], role: str
) -> Changed:
    """The plan with another role for some columns; what only their old roles allow is dropped."""
    if role not in get_args(Role):
        raise BadPlan(f"there is no role {role!r}; roles are {ROLES}")
    names = [views[place].name for place in places]
    if role in SINGLE and len(names) > 1:
        raise BadPlan(f"a plan can have one {role} column; choose one of them")
    before = [name for name, one in plan.columns.items() if role in SINGLE and one.role == role]
    columns = dict(plan.columns)
    for place in places:
        view = views[place]
        columns[view.name] = _with_role(columns[view.name], view, role)
    others = [name for name in before if name not in names]
    for name in others:
        columns[name] = columns[name].changed(role=SINGLE[role], publish=True, together=True)
    if not columns_with_role(columns, "household"):  # nothing can be a household's any more
        columns = {
            name: one.changed(of_household=False) if one.of_household and not one.derive else one
            for name, one in columns.items()
        }
    sensitive = columns_with_role(columns, "sensitive")
    models = [
        one
        for one in plan.models
        if (one.about is None or one.about in sensitive)
        and (not one.needs_household_column or counts_households(columns))
    ]
    made = plan.changed(columns=columns, models=models, attackers=attackers_of(plan, columns))
    lost = tuple(one.key for one in plan.models if one not in models)
    return Changed(made, lost, others[0] if others else "", role)


def _with_role(old: Column, view: ColumnView, role: str) -> Column:
    fields: dict[str, Any] = {"role": role, "publish": True, "together": True}
    if role != "quasi":
        fields |= FIRST_WORDS
    if role not in CODED or (role == "quasi" and old.hierarchy is not None):
        fields |= dict.fromkeys(CODING)
    if role in PUBLISHED and old.role not in PUBLISHED and old.spelling is None:
        fields |= {key: one for key, one in view.published.items() if key != "missing_values"}
    if role in ("quasi", "sensitive") and old.role not in ("quasi", "sensitive"):
        own = view.published.get("missing_values")
        fields["missing_values"] = old.missing_values or own
    coded = old.codes_numbers and "top" not in fields
    if role == "quasi" and old.role != "quasi" and old.hierarchy is None and not coded:
        fields["hierarchy"] = view.quasi.get("hierarchy")
    return old.changed(**fields)


def with_settings(plan: Plan, name: str, form: Mapping[str, str]) -> Plan:
    """The plan with the settings of a column as a form has them; others stay as they are."""
    column = plan.columns[name]
    fields: dict[str, Any] = {}
    if "importance" in form:
        fields["importance"] = number_in(form["importance"], "the importance")
    if "at_most" in form:
        fields["at_most"] = _at_most(form["at_most"], form.get("amount", ""))
    if "microaggregate" in form:
        fields["microaggregate"] = form["microaggregate"] or None
    for word, what in CODING.items():
        if word in form:
            given = form[word]
            fields[word] = number_in(given, what) if given.strip() else None
    if "publish" in form:
        fields["publish"] = form["publish"] not in ("no", "apart")
        fields["together"] = form["publish"] != "apart"
    accept = list(plan.accept)
    if "accept" in form:
        accept = [one for one in accept if one != name]
        if form["accept"] == "yes":
            accept = [one for one in plan.columns if one in (*accept, name)]
    columns = {**plan.columns, name: column.changed(**fields)}
    return plan.changed(columns=columns, accept=accept)


def with_suppression(plan: Plan, given: str) -> Plan:
    """The plan with another share of records, in percent, that `at_most` may suppress."""
    return plan.changed(suppression=round(number_in(given, "the share in percent") / 100, 6))


def _at_most(word: str, amount: str) -> Any:
    if word == "":
        return None
    if word == "exact":
        return "exact"
    if word == "level":
        level = number_in(amount, "the number of steps")
        if level != int(level):
            raise BadPlan(f"the number of steps is a whole number, got {amount!r}")
        return {"level": int(level)}
    if word == "width":
        width = number_in(amount, "the width")
        return {"width": int(width) if width == int(width) else width}
    raise BadPlan("choose one of the limits that the page offers")


def number_in(given: str, what: str) -> float:
    """A number as people type it, with a point or a comma."""
    plain = given.strip().replace(",", ".")
    try:
        number = float(plain)
        if abs(number) > 1e15 or number != number:
            raise ValueError
    except ValueError:
        raise BadPlan(f"{what} is a number such as 2 or 0.5, got {given[:40]!r}") from None
    return number


def words_in(given: str) -> list[str]:
    """Words for missing values, one per line."""
    return list(dict.fromkeys(word for word in given.replace("\r", "").split("\n") if word))
