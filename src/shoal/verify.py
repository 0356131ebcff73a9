"""Verify: judges the very table that would be published, and trusts nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.errors import NotHeld
from shoal.models import Check, Model
from shoal.published import Published


def verify(published: Published, models: Sequence[Model]) -> list[Check]:
    """Measure every promise on the published table; raise unless all of them hold."""
    checks = [model.check(published.classes) for model in models]
    broken = [check for check in checks if not check.holds]
    if broken:
        cases = "; ".join(
            f"{check.model} promises {check.required:g}, the table reaches {check.reached:g}"
            for check in broken
        )
        raise NotHeld(f"the table that would be published breaks a promise: {cases}")
    return checks
