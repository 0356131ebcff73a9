"""Check that the limits of a plan can be judged on a release of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal import catalog
from shoal.attacks import LinkageAttack, SensitiveAttack
from shoal.attacks.dependency import Dependency
from shoal.attacks.interval_disclosure import IntervalDisclosure
from shoal.base.errors import BadPlan, WayOut
from shoal.table.roles import columns_with_role

if TYPE_CHECKING:
    from shoal.plan.plan import Plan


def check_limits(plan: Plan) -> None:
    """Raise an error for a limit on what no release of this plan can show."""
    for name in plan.limits.attacks:
        kind = catalog.attacks[name]
        if issubclass(kind, LinkageAttack) and not plan.linked:
            raise BadPlan(
                f"[limits] has a limit on the attack {name}, which is run on releases without "
                "classes only (k-concealment and the like); remove it, or limit linkage"
            ).offering(WayOut("limit", f"attacks.{name}"))
        if issubclass(kind, Dependency) and plan.linked:
            model = next(model.name for model in plan.models if model.linkage)
            raise BadPlan(
                f"[limits] has a limit on the attack {name}, which rules out records of a class, "
                f"and {model} forms no classes; remove it, or limit matching"
            ).offering(WayOut("limit", f"attacks.{name}"), WayOut("remove", model))
        if issubclass(kind, IntervalDisclosure) and (plan.linked or not _has_numbers(plan)):
            raise BadPlan(
                f"[limits] has a limit on the attack {name}, which needs classes and a column with "
                "microaggregate, top, bottom or round; remove it"
            ).offering(WayOut("limit", f"attacks.{name}"))
        if issubclass(kind, SensitiveAttack) and not columns_with_role(plan.columns, "sensitive"):
            raise BadPlan(
                f"[limits] has a limit on the attack {name}, which learns sensitive values, and "
                "the plan has no sensitive column; give one the role sensitive, or remove the limit"
            ).offering(WayOut("limit", f"attacks.{name}"))
    if plan.limits.share_at_risk is not None and plan.linked:
        model = next(model.name for model in plan.models if model.linkage)
        raise BadPlan(
            f"[limits] has share_at_risk, which is measured on classes, and {model} forms none; "
            "limit highest_risk and average_risk instead"
        ).offering(WayOut("limit", "share_at_risk"), WayOut("remove", model))


def _has_numbers(plan: Plan) -> bool:
    """Whether a column has numbers that are coded, or those of classes."""
    return any(one.codes_numbers or one.microaggregate for one in plan.columns.values())
