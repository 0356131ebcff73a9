"""Options of the algorithm that are given on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal import catalog
from shoal.base.errors import BadPlan
from shoal.plan.plan import Plan


def with_options(plan: Plan, options: Mapping[str, Any]) -> Plan:
    """The same plan with these options of its algorithm; None: not given."""
    given = {name: value for name, value in options.items() if value is not None}
    known = type(plan.algorithm).model_fields
    for name in given:
        if name not in known:
            kinds = catalog.algorithms.decided.items()
            able = " or ".join(one for one, kind in kinds if name in kind.model_fields)
            raise BadPlan(
                f"the algorithm {plan.algorithm.name} has no option {name!r}; remove --{name}, or "
                f"use the algorithm {able}"
            )
    if not given:
        return plan
    return plan.changed(algorithm={**plan.algorithm.setting(), **given})
