"""Resources: memory and threads that an engine may use, and where its temporary files go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.base.errors import BadPlan
from shoal.io.memory import bytes_of, machine_memory, shown

DEFAULT = 0.5  # share of the memory of the machine that an engine uses
# Bytes per distinct combination of values while it is recoded and measured. With nine columns,
# 224,123 combinations took 0.58 GB more than the process itself (benchmarks/scale.py).
PER_UNIT = 3_000


@dataclass(frozen=True)
class Resources:
    """What an engine may use."""

    memory: int  # bytes
    folder: Path | None = None  # for temporary files; None: next to the output
    threads: int | None = None  # None: all

    @staticmethod
    def of(
        memory: str | None, folder: str | Path | None = None, threads: int | None = None
    ) -> Resources:
        """The resources that a plan asks for."""
        limit = int(DEFAULT * machine_memory()) if memory is None else bytes_of(memory)
        return Resources(limit, None if folder is None else Path(folder), threads)

    def check_units(self, units: int, columns: int) -> None:
        """Raise an error if so many distinct combinations of values do not fit into memory."""
        needed = units * PER_UNIT
        if needed > self.memory:
            raise BadPlan(
                f"the {columns} quasi-identifiers and sensitive columns have {units:,} distinct "
                f"combinations of values, which need about {shown(needed)} of memory, and the "
                f"limit is {shown(self.memory)}; raise it (--memory-limit, or memory in the plan), "
                "or make the columns coarser before"
            )
