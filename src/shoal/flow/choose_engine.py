"""Choose the engine: in memory, DuckDB for tables too large for that, or Spark."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from shoal.base.errors import BadInput, BadPlan
from shoal.engines.spark import is_spark
from shoal.io.format import format_of
from shoal.io.memory import bytes_of, machine_memory, shown
from shoal.io.sources import StoredTable, is_folder
from shoal.plan import Plan
from shoal.table.roles import columns_with_role

SHARE = 0.25  # of the memory: a file that takes more is left to DuckDB
SMALL = 10**7  # bytes of a file that is never too large; its size in memory is not estimated


class Engine(NamedTuple):
    """The engine of a run, and remarks on the choice."""

    name: str  # "memory", "duckdb" or "spark"
    notes: tuple[str, ...] = ()


MEMORY = Engine("memory")


def choose_engine(table: Any, plan: Plan, keep_order: bool) -> Engine:
    """The engine that the plan names; otherwise DuckDB for folders and large files.

    A Spark DataFrame is for Spark. A file is large if it takes more than a quarter of the memory,
    which is the limit in the plan or the memory of the machine.
    """
    is_path = isinstance(table, str | Path)
    if is_spark(table) or plan.engine == "spark":
        return _spark(table, plan, keep_order)
    if plan.engine == "memory":
        return MEMORY
    if plan.engine == "duckdb":
        if not is_path and not isinstance(table, StoredTable):
            raise BadPlan(
                "engine = 'duckdb' reads files, and the table is in memory already; give the path "
                "of a file or a folder, or use engine = 'memory'"
            )
        if reason := not_served(plan, keep_order, "duckdb"):
            raise BadPlan(f"engine = 'duckdb' does not support {reason}; use engine = 'memory'")
        return Engine("duckdb")
    if not is_path:
        return MEMORY
    path = Path(table)
    size = _size(path)
    memory = machine_memory() if plan.memory is None else bytes_of(plan.memory)
    if not is_folder(path) and size <= SHARE * memory:
        return MEMORY
    reason = not_served(plan, keep_order, "duckdb")
    if is_folder(path):
        if reason:
            raise BadPlan(
                f"{path} is a folder, which engine = 'duckdb' reads, and it does not support "
                f"{reason}; write the table to one file"
            )
        return Engine("duckdb")
    if not reason and not format_of(path).streams:
        reason = f"files of the format {format_of(path).name}"
    if not reason and find_spec("duckdb") is None:
        reason = "this installation: pip install 'shoal[duckdb]'"
    if reason:
        needs = f"the table takes about {shown(size)} of {shown(memory)} of memory"
        return Engine("memory", (f"{needs}; engine = 'duckdb' needs less, but not for {reason}",))
    return Engine("duckdb")


def _spark(table: Any, plan: Plan, keep_order: bool) -> Engine:
    if is_spark(table) and plan.engine not in ("auto", "spark"):
        raise BadPlan(
            f"engine = {plan.engine!r} does not read a Spark DataFrame; use engine = 'spark', or "
            "give table.toArrow() if it fits into memory"
        )
    if isinstance(table, StoredTable):
        raise BadPlan(
            "engine = 'spark' reads Spark DataFrames and files; read the table of a database by "
            "spark.read.jdbc, or use engine = 'memory'"
        )
    if not is_spark(table) and not isinstance(table, str | Path):
        raise BadPlan(
            "engine = 'spark' reads Spark DataFrames and files, and the table is in memory "
            "already; use engine = 'memory'"
        )
    if reason := not_served(plan, keep_order, "spark"):
        raise BadPlan(f"engine = 'spark' does not support {reason}; use engine = 'memory'")
    return Engine("spark")


def not_served(plan: Plan, keep_order: bool, engine: str) -> str | None:
    """What in a plan the engine does not support, in words; None: it supports all of it."""
    for name in columns_with_role(plan.columns, "person"):
        if engine == "spark":
            return f"a person column ({name!r}) yet"
        if not plan.columns[name].publish:  # people could not be counted in the file
            return f"a person column that is not published ({name!r}, publish = false)"
    if engine == "spark" and plan.read.stated():
        return f"[read] yet ({', '.join(plan.read.stated())})"
    if engine == "spark" and (spelled := [n for n, c in plan.columns.items() if c.spelling]):
        return f"decimal, thousands, percent and date_format yet (column {spelled[0]!r})"
    if stated := plan.write.stated():
        return f"[write] yet ({', '.join(stated)})"
    if plan.algorithm.is_auto or plan.loss.is_auto:
        return "algorithm or loss = 'auto'; name the ones to use"
    if plan.linked:
        return f"{next(m.name for m in plan.models if m.linkage)}, which is about single records"
    if not plan.algorithm.counts_together:
        return f"the algorithm {plan.algorithm.name}, which needs single records"
    if keep_order:
        return "keep_order, as it shuffles the records"
    return None


def _size(path: Path) -> int:
    """Bytes that a file takes in memory, by estimate; 0 if that cannot be said."""
    with suppress(OSError, ValueError, BadInput):  # reading it will say what is wrong
        if path.is_file() and path.stat().st_size > SMALL:
            from shoal.engines.source import size_in_memory

            return size_in_memory(path)
    return 0
