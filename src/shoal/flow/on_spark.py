"""The flow on a cluster: Spark groups and joins the rows, and we recode groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from shoal.base.errors import BadPlan
from shoal.base.progress import Progress, silent
from shoal.base.threads import cached_property
from shoal.engines.spark_table import SparkTable
from shoal.flow.at_scale import LargeRelease, anonymize_at_scale, grouped
from shoal.flow.audit import Audit, audit_groups, check_known
from shoal.flow.choose_engine import not_served
from shoal.flow.choose_parts import resources_of
from shoal.io.frames import Frame
from shoal.measures.column_disclosure import ColumnDisclosure, worth_warning
from shoal.plan import Plan
from shoal.table.roles import other_columns


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelease(LargeRelease):
    """A release whose records are on a cluster: `dataframe` has them, and `save` writes them."""

    @cached_property
    def dataframe(self) -> Any:
        """The published records, as a Spark DataFrame in an order that discloses nothing.

        Spark computes them when they are used, from the original: write them to where they are
        published, and do not publish the query itself. `release.save` also verifies what it wrote.
        """
        assert isinstance(self.table, SparkTable)
        assert self.recoded is not None
        return self.table.dataframe(self.recoded)


def anonymize_on_spark(table: Any, plan: Plan, progress: Progress = silent) -> SparkRelease:
    """Turn a DataFrame, a file or the files of a folder into a table that can be published."""
    progress("read", 0.0)
    given = SparkTable.of(table, resources_of(plan))
    return anonymize_at_scale(given, plan, progress, SparkRelease)


def audit_on_spark(
    table: Any,
    plan: Plan,
    original: Any = None,
    progress: Progress = silent,
    target: str | None = None,
) -> Audit:
    """Measure a DataFrame, a file or the files of a folder, alone or against its original.

    Spark counts the combinations of quasi-identifiers and sensitive values, and what other columns
    would disclose; all measures are computed from these counts.
    """
    # An audit neither recodes nor weighs: whatever the plan names for that does not matter.
    if reason := not_served(plan.changed(algorithm="peel", loss="nllm"), False, "spark"):
        raise BadPlan(f"engine = 'spark' does not support {reason}; use engine = 'memory'")
    given = SparkTable.of(table, resources_of(plan))
    names = given.schema.names
    check_known(names, plan)
    units = _units(given, plan, progress)
    before = None
    if original is not None:
        before = _units(SparkTable.of(original, resources_of(plan)), plan, progress)
    here = [name for name in other_columns(plan.columns) if name in names]
    others = {name: plan.missing_of(name) for name in here}

    def watch(share: float) -> None:
        progress("known", share)

    elsewhere = given.values(units, others, watch)
    found = audit_groups(
        units, plan, names, elsewhere, original=before, target=target, progress=progress
    )
    counts = given.alone(units, found.published.classes.label, others, watch)
    known = {name: ColumnDisclosure(*counts[name]) for name in others} | found.if_known
    return replace(found, if_known=known, worrying=worth_warning(known, plan.columns, found.people))


def _units(table: SparkTable, plan: Plan, progress: Progress) -> Frame:
    """The combinations of quasi-identifiers and sensitive values, with their counts."""
    wanted = [name for name in grouped(plan) if name in table.schema.names]
    others = other_columns(plan.columns)
    table.check_types([*wanted, *(name for name in others if name in table.schema.names)])
    return table.group(wanted, lambda share: progress("group", share))
