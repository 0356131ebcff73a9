"""Spark: tables larger than a machine (extra `shoal[spark]`); see docs/scale.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.base.errors import BadPlan
from shoal.base.progress import Progress, silent
from shoal.flow.anonymize import anonymize as _anonymize
from shoal.flow.audit import Audit
from shoal.flow.on_spark import SparkRelease, audit_on_spark
from shoal.plan import Plan

__all__ = ["SparkRelease", "anonymize", "audit"]


def anonymize(
    dataframe: Any, plan: Plan | str | Path | dict[str, Any], *, progress: Progress = silent
) -> SparkRelease:
    """Turn a Spark DataFrame, or files that all workers can read, into a verified release.

    It is the release that `shoal.anonymize` makes of the same table in memory. Its `dataframe` has
    the published records, and `save` writes and verifies them.
    """
    asked = Plan.of(plan)
    if asked.engine not in ("auto", "spark"):
        raise BadPlan(f"the plan has engine = {asked.engine!r}; remove it, or use shoal.anonymize")
    release = _anonymize(dataframe, asked.changed(engine="spark"), progress=progress)
    assert isinstance(release, SparkRelease)
    return release


def audit(
    dataframe: Any,
    plan: Plan | str | Path | dict[str, Any],
    *,
    original: Any = None,
    progress: Progress = silent,
) -> Audit:
    """Measure a Spark DataFrame, or files that all workers can read; also against its original.

    The numbers are those that `shoal.audit` finds in memory.
    """
    return audit_on_spark(dataframe, Plan.of(plan), original, progress)
