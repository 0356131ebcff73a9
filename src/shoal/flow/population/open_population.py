"""Open the table of the population, and code it with the hierarchies of the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from shoal.base.errors import BadInput, BadTable, did_you_mean, preview
from shoal.flow.opening import open_table
from shoal.io.frames import Frame
from shoal.models.delta_presence import DeltaPresence
from shoal.plan import Plan
from shoal.table.encode import Table, encode
from shoal.table.population.lacking import check_holds, values_shown
from shoal.table.population.population import Population
from shoal.table.roles import columns_with_role, linking_columns
from shoal.table.samples.households import own_persons


@dataclass(frozen=True, eq=False)
class PopulationFrame:
    """The columns of a population that a plan needs, not yet coded."""

    frame: Frame
    incomplete: bool

    @staticmethod
    def of(plan: Plan) -> PopulationFrame | None:
        """Read the population that a plan names, if a model is about it."""
        source = plan.population
        if source.data is None or not plan.against_population:
            return None
        return PopulationFrame(open_population(source.data, plan), source.incomplete)

    def coded(self, plan: Plan) -> Population:
        """The population, coded with the hierarchies of a plan."""
        table = encode_population(self.frame, plan)
        return Population(table, self.incomplete, _members(self.frame, plan))

    def with_population(
        self, table: Table, plan: Plan, population: Population | None = None
    ) -> Table:
        """The table of a plan, which knows its population; that may be coded already."""
        known = replace(table, population=population or self.coded(plan))
        assert known.population is not None
        if known.population.several_records and any(
            isinstance(model, DeltaPresence) for model in plan.models
        ):
            raise BadTable(
                "the population has people with several records, and delta-presence needs one "
                "record per person there; give one record of each, or choose k-map"
            )
        if not self.incomplete:
            _check_holds(known)
        return known


def open_population(source: Any, plan: Plan) -> Frame:
    """The quasi-identifiers and the persons of a population."""
    frame = open_table(source, plan, sure=False)
    homes = [n for n in columns_with_role(plan.columns, "household") if plan.columns[n].together]
    if homes and homes[0] not in frame.names and plan.against_population:
        raise BadTable(
            f"the table has households, and the population lacks the column {homes[0]!r}, so that "
            "its households cannot be counted; add the column, or drop it from the table"
        )
    names = columns_with_role(plan.columns, "quasi")
    lacking = [name for name in names if name not in frame.names]
    if lacking:
        raise BadTable(
            f"the population lacks the quasi-identifiers {preview(lacking)}"
            f"{did_you_mean(lacking[0], frame.names)}; add them to it, named as in the table"
        )
    links = [*linking_columns(plan.columns), *columns_with_role(plan.columns, "person")]
    names += [name for name in dict.fromkeys(links) if name in frame.names]
    return frame.select(names)


def _members(frame: Frame, plan: Plan) -> int | None:
    """The people of a population whose households are counted; None: people are."""
    if not (set(linking_columns(plan.columns)) & set(columns_with_role(plan.columns, "household"))):
        return None
    people = own_persons(frame, plan.columns, plan.missing_values)
    if people is not None:
        return int(people.max()) + 1
    return frame.height if frame.weight is None else int(frame.weight.sum())


def encode_population(frame: Frame, plan: Plan) -> Table:
    """The table of a population, coded with the hierarchies of the plan."""
    known = {name: column for name, column in plan.columns.items() if name in frame.names}
    if not frame.height:
        raise BadTable("the population has no rows; give a table of all people")
    try:
        return encode(frame, known, plan.missing, plan.missing_values)
    except BadInput as error:
        raise type(error)(f"in the population: {error}") from error


def _check_holds(table: Table) -> None:
    """Raise an error if the population lacks people of the table."""
    start = table.tally()
    vectors = table.unified[start.first]
    population = table.population
    assert population is not None
    reader = population.reader(table.names, [one.labels() for one in table.covers])
    people = reader.people(vectors)

    def shown(group: int) -> str:
        both = zip(table.covers, vectors[group], strict=True)
        return values_shown(table.names, [covers.labels()[code] for covers, code in both])

    check_holds(start.people, people, shown, population.several_records)
