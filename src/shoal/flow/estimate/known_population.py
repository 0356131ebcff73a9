"""A population that stays in memory while plans change: read once, coded once per columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.flow.population.open_population import PopulationFrame
from shoal.plan import Plan
from shoal.table.encode import Table
from shoal.table.population.population import Population


@dataclass
class KnownPopulation:
    """The last population that was read, and how it was coded."""

    source: Any = None  # of the frame
    frame: PopulationFrame | None = None
    columns: str = ""  # of the coded population
    coded: Population | None = None

    def add(self, table: Table, plan: Plan, written: Plan) -> Table:
        """The table with the population of the plan, if a model is about it.

        `written` says how the file of the population is read and spelled.
        """
        if plan.population.data is None or not plan.against_population:
            return table
        source = _source(written)
        if source != self.source:
            self.frame, self.coded = None, None
            self.frame, self.source = PopulationFrame.of(written), source
        assert self.frame is not None
        columns = repr([(name, one.setting_in()) for name, one in plan.columns.items()])
        columns += repr((plan.missing, plan.missing_values))
        if self.coded is None or columns != self.columns:
            self.coded, self.columns = self.frame.coded(plan), columns
        return self.frame.with_population(table, plan, self.coded)


def _source(plan: Plan) -> tuple[Any, ...]:
    """What a population is read from: it is read again if any of it changes."""
    data = plan.population.data
    changed: Any = id(data)
    if isinstance(data, Path) and data.exists():
        changed = data.stat().st_mtime_ns
    roles = sorted((name, one.role, repr(one.setting_in())) for name, one in plan.columns.items())
    return (str(data), changed, plan.population.incomplete, repr(plan.read), repr(roles))
