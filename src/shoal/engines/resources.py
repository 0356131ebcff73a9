"""Resources: memory and threads that an engine may use, and where its temporary files go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.algorithms._shared.parts.cuts import MOST_PARTS, memory_for
from shoal.base.errors import BadPlan
from shoal.io.memory import bytes_of, machine_memory, shown

PER_RECORD = 1_700  # bytes of a record of people who are counted together
PER_PAIR = 250  # bytes, for counting the people with the same values
PER_CELL = 200  # bytes, for values that occur together, of other columns and of the rest
PER_CODE = 16  # bytes, for each of these values
DEFAULT = 0.5  # share of the memory of the machine that an engine uses


@dataclass(frozen=True)
class Resources:
    """What an engine may use."""

    memory: int  # bytes
    folder: Path | None = None  # for temporary files; None: next to the input
    threads: int | None = None  # None: all
    parts: int | None = 1  # into which combinations of values are cut; None: as many as necessary

    @staticmethod
    def of(
        memory: str | None,
        folder: str | Path | None = None,
        threads: int | None = None,
        parts: int | None = 1,
    ) -> Resources:
        """The resources that a plan asks for."""
        limit = int(DEFAULT * machine_memory()) if memory is None else bytes_of(memory)
        return Resources(limit, None if folder is None else Path(folder), threads, parts)

    def check_profiles(self, records: int, columns: int) -> None:
        """Raise an error if the distinct sets of records that people have do not fit into memory.

        `records`: of all sets. Tables with a person column are not cut into parts.
        """
        needed = records * PER_RECORD
        if needed > self.memory:
            raise BadPlan(
                f"people differ in the {columns} quasi-identifiers and sensitive columns of their "
                f"records: the different people have {records:,} records, which need about "
                f"{shown(needed)} of memory, and the limit is {shown(self.memory)}; raise it "
                "(--memory-limit, or memory in the plan), or make the columns coarser before"
            )

    def check_pairs(self, pairs: int) -> None:
        """Raise an error if so many pairs of a person and a value do not fit into memory."""
        needed = pairs * PER_PAIR
        if needed > self.memory:
            raise BadPlan(
                f"counting who would be unique by a column takes about {shown(needed)} of memory "
                f"for {pairs:,} different values of people, and the limit is {shown(self.memory)}; "
                "raise it (--memory-limit, or memory in the plan), or remove columns with the role "
                "other that have many values"
            )

    def fit_cells(self, cells: int, columns: int) -> bool:
        """Whether so many combinations of values of other columns fit into memory."""
        return cells * (PER_CELL + columns * PER_CODE) <= self.memory

    def needed_for(self, units: int) -> int:
        """Bytes that so many distinct combinations of values need."""
        return memory_for(units, MOST_PARTS if self.parts is None else self.parts)

    def check_units(self, units: int, columns: int) -> None:
        """Raise an error if so many distinct combinations of values do not fit into memory."""
        parts = MOST_PARTS if self.parts is None else self.parts
        needed = self.needed_for(units)
        if needed > self.memory:
            cut = parts == 1 and memory_for(units, MOST_PARTS) <= self.memory
            raise BadPlan(
                f"the {columns} quasi-identifiers and sensitive columns have {units:,} distinct "
                f"combinations of values, which need about {shown(needed)} of memory"
                f"{'' if parts == 1 else ', even if they are recoded part by part'}, and the limit "
                f"is {shown(self.memory)}; raise it (--memory-limit, or memory in the plan), "
                + (
                    "let shoal cut the table (parts = 'auto', not with full-domain), "
                    if cut
                    else ""
                )
                + "or make the columns coarser before"
            )
