"""Choose the engine: in memory, DuckDB for tables too large for that, or Spark."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from shoal.base.errors import BadInput, BadPlan
from shoal.databases.database import Database
from shoal.engines.spark import is_spark
from shoal.io.format import format_of
from shoal.io.memory import bytes_of, machine_memory, shown
from shoal.io.sources import StoredTable, is_folder
from shoal.plan import Plan
from shoal.table.roles import (
    Role,
    columns_with_role,
    linking_columns,
    microaggregated_columns,
)

SHARE = 0.25  # of the memory: a file that takes more is left to DuckDB
SMALL = 10**7  # bytes of a file that is never too large; its size in memory is not estimated


class Engine(NamedTuple):
    """The engine of a run, and remarks on the choice."""

    name: str  # "memory", "duckdb" or "spark"
    notes: tuple[str, ...] = ()


MEMORY = Engine("memory")


def choose_engine(table: Any, plan: Plan, keep_order: bool) -> Engine:
    """The engine that the plan names; otherwise DuckDB for folders, and for large files and tables.

    A Spark DataFrame is for Spark. A file or a table of a database is large if it takes more than a
    quarter of the memory, which is the limit in the plan or the memory of the machine.
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
    if is_path and is_folder(Path(table)):
        return _of_folder(Path(table), plan, keep_order)
    if not is_path and not isinstance(table, Database):
        return MEMORY
    size = _stored_size(table) if isinstance(table, Database) else _size(Path(table))
    memory = machine_memory() if plan.memory is None else bytes_of(plan.memory)
    if size <= SHARE * memory:
        return MEMORY
    reason = not_served(plan, keep_order, "duckdb")
    if not reason:
        reason = _odd_type(table, plan) if isinstance(table, Database) else _odd_form(table)
    if not reason and find_spec("duckdb") is None:
        reason = "this installation: pip install 'shoal[duckdb]'"
    needs = f"the table takes about {shown(size)} of {shown(memory)} of memory"
    if reason:
        return Engine("memory", (f"{needs}; engine = 'duckdb' needs less, but not for {reason}",))
    if isinstance(table, Database):
        how = "it was not read into memory; its records are read when the release is written"
        return Engine("duckdb", (f"{needs}, so that engine = 'duckdb' was used: {how}",))
    return Engine("duckdb")


def _of_folder(path: Path, plan: Plan, keep_order: bool) -> Engine:
    if reason := not_served(plan, keep_order, "duckdb"):
        raise BadPlan(
            f"{path} is a folder, which engine = 'duckdb' reads, and it does not support {reason}; "
            "write the table to one file"
        )
    return Engine("duckdb")


def _odd_form(path: str | Path) -> str | None:
    """The format of a file that is read as a whole only, in words; None: it is read in parts."""
    form = format_of(Path(path))
    return None if form.streams else f"files of the format {form.name}"


def _odd_type(table: Database, plan: Plan) -> str | None:
    """A type of a column that DuckDB would change, in words; None: there is none."""
    from shoal.engines.cells import is_person, is_served

    for field in table.schema():
        role = plan.columns[field.name].role if field.name in plan.columns else "drop"
        served = is_person if role in ("person", "household") else is_served
        if role not in ("identifier", "drop") and not served(field.type):
            return f"columns of type {field.type} ({field.name!r})"
    return None


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
    roles: tuple[Role, ...] = ("household", "weight")
    for role in roles:
        for name in columns_with_role(plan.columns, role):
            return f"a {role} column ({name!r}) yet"
    for name in linking_columns(plan.columns):
        if engine == "spark":
            return f"a person column ({name!r}) yet"
        if not plan.columns[name].publish:  # people could not be counted in the file
            return f"a person column that is not published ({name!r}, publish = false)"
    if engine == "spark" and plan.read.stated():
        return f"[read] yet ({', '.join(plan.read.stated())})"
    if engine == "spark" and (spelled := [n for n, c in plan.columns.items() if c.spelling]):
        return f"decimal, thousands, percent and date_format yet (column {spelled[0]!r})"
    if rows := [name for name in ("units", "totals") if getattr(plan.read, name)]:
        return f"{rows[0]} = true under [read] yet"
    if stated := plan.write.stated():
        return f"[write] yet ({', '.join(stated)})"
    if coded := [name for name, one in plan.columns.items() if one.codes_numbers]:
        return f"top, bottom and round yet (column {coded[0]!r})"
    if numbers := microaggregated_columns(plan.columns):
        return f"microaggregate yet (column {numbers[0]!r})"
    if plan.against_population:
        return f"{next(m.name for m in plan.models if m.needs_population)} yet"
    if plan.attackers:
        return "several attackers ([[attackers]]) yet"
    if plan.algorithm.is_auto or plan.loss.is_auto:
        return "algorithm or loss = 'auto'; name the ones to use"
    if plan.linked:
        return f"{next(m.name for m in plan.models if m.linkage)}, which is about single records"
    if not plan.algorithm.counts_together:
        return f"the algorithm {plan.algorithm.name}, which needs single records"
    if keep_order:
        return "keep_order, as it shuffles the records"
    return None


def _stored_size(table: Database) -> int:
    """Bytes that a table of a database takes in memory, by estimate."""
    if table.file is not None and table.file.exists() and table.file.stat().st_size <= SMALL:
        return 0
    return table.size()


def _size(path: Path) -> int:
    """Bytes that a file takes in memory, by estimate; 0 if that cannot be said."""
    with suppress(OSError, ValueError, BadInput):  # reading it will say what is wrong
        if path.is_file() and path.stat().st_size > SMALL:
            from shoal.engines.source import size_in_memory

            return size_in_memory(path)
    return 0
