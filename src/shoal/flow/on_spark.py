"""The flow on a cluster: Spark groups and joins the rows, and we recode groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shoal.base.progress import Progress, silent
from shoal.engines.spark_table import SparkTable
from shoal.flow.at_scale import LargeRelease, anonymize_at_scale
from shoal.flow.choose_parts import resources_of
from shoal.plan import Plan


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
