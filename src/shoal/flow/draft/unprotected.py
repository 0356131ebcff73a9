"""Sensitive columns of a drafted plan that no requirement is about, and a model to add."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.base.errors import preview
from shoal.flow.draft.facts import Facts
from shoal.plan import Plan
from shoal.plan.toml_text import toml_lines
from shoal.table.roles import columns_with_role, linking_columns

VALUES = 3  # different values that are proposed for each class


def unprotected(plan: Plan) -> list[str]:
    """The sensitive columns that no requirement is about."""
    about = {getattr(model, "column", None) for model in plan.models}
    return [name for name in columns_with_role(plan.columns, "sensitive") if name not in about]


def unprotected_remark(plan: Plan) -> str:
    """What to do about these columns; "" if there are none."""
    names = unprotected(plan)
    if not names:
        return ""
    if _several_records(plan):
        what = (
            "people have several records here, so add eir-l-diversity, and "
            "eir-alpha-beta-anonymity if a likely guess does harm (docs/people.md)"
        )
    else:
        what = "add a model such as distinct-l-diversity or t-closeness (docs/models.md)"
    return (
        f"no requirement protects {preview(names)} yet: {what}. The end of the plan has one to "
        "start with"
    )


def model_lines(plan: Plan, facts: Mapping[str, Facts]) -> list[str]:
    """A model for the first of these columns, as lines of a plan file; [] if there is none."""
    names = [name for name in unprotected(plan) if facts[name].distinct > 1]
    if not names:
        return []
    first = max(names, key=lambda name: min(facts[name].distinct, VALUES))
    name = "eir-l-diversity" if _several_records(plan) else "distinct-l-diversity"
    values = min(facts[first].distinct, VALUES)
    setting = {"name": name, "column": first, "l": values}
    return [
        "To protect a sensitive column, remove the # in front of these lines; likewise for others:",
        "[[models]]",
        *toml_lines(setting),
        "",
    ]


def _several_records(plan: Plan) -> bool:
    return bool(linking_columns(plan.columns))
