"""Measure two tables of an anatomy, alone or against their original."""

from __future__ import annotations

from shoal.base.progress import Progress, silent
from shoal.io.frames import Frame
from shoal.measures.anatomy.anatomy_attacks import attack
from shoal.measures.anatomy.anatomy_measures import AnatomyMeasures
from shoal.measures.anatomy.anatomy_queries import answer_from_two
from shoal.measures.anatomy.two_tables import TwoTables
from shoal.measures.queries.draw import Queries
from shoal.plan import Plan
from shoal.table.encode import encode
from shoal.table.published_table import read_published
from shoal.table.roles import columns_with_role


def measure_two_tables(
    quasi: Frame,
    sensitive: Frame,
    plan: Plan,
    original: Frame | None = None,
    queries: Queries | None = None,
    progress: Progress = silent,
) -> AnatomyMeasures:
    """Measure everything that the two tables show, and with the original what they lose."""
    (column,) = columns_with_role(plan.columns, "sensitive")
    seen = TwoTables.of(quasi, sensitive, column, plan.missing_of(column))
    progress("attack", 0.0)
    attacks, answers = attack(seen), None
    if original is not None:
        # Nothing is generalized: what means missing is published as it is written.
        table = encode(original, plan.columns, "value", plan.missing_values, progress)
        shown = {name: one for name, one in plan.columns.items() if one.role == "quasi"}
        published = read_published(quasi, shown, plan.missing_values)
        progress("queries", 0.0)
        asked = queries or Queries()
        answers = answer_from_two(
            table, published, seen, asked, lambda share: progress("queries", share)
        )
    return AnatomyMeasures(
        plan=plan,
        column=column,
        records=len(seen.vector),
        groups=len(seen.size),
        checks=seen.check(plan.models, column),
        attacks=attacks,
        reconstruction_error=seen.reconstruction_error(),
        answers=answers,
    )
