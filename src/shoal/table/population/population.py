"""Population: a table of all people who could be in a sample, coded like the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shoal.base.threads import cached_property
from shoal.table.encode import Table
from shoal.table.population.index import Index
from shoal.table.population.reader import Reader


@dataclass(frozen=True, eq=False)
class Population:
    """All people who could be in a table, with original values and the hierarchies of its plan."""

    table: Table
    incomplete: bool = False  # whether it may lack people of the table; they count as its people
    members: int | None = None  # its people, where `table` counts households; None: it does not
    _indexes: dict[tuple[str, ...], Index] = field(default_factory=dict)

    @cached_property
    def people(self) -> int:
        """How many people the population has, or households, if these are hidden together."""
        return self.table.person_count

    @property
    def persons(self) -> int:
        """How many people the population has, members of households one by one."""
        return self.people if self.members is None else self.members

    @cached_property
    def several_records(self) -> bool:
        """Whether some people of the population have several records."""
        return self.table.people is not None and self.table.person_count < self.table.rows

    def reader(
        self, names: Sequence[str], labels: Sequence[Sequence[object]], linked: bool = True
    ) -> Reader:
        """Reads published vectors of these columns; their codes are places among these labels.

        `linked`: the records of each person are published linked, so that somebody is covered if
        all of their records are. Otherwise one of them is enough.
        """
        return Reader(self, self._index(tuple(names)), labels, linked)

    def _index(self, names: tuple[str, ...]) -> Index:
        if names not in self._indexes:
            self._indexes[names] = Index.of(self.table, names)
        return self._indexes[names]
