"""Choose the parts: into how many parts a table is cut before it is recoded."""

from __future__ import annotations

from shoal.algorithms._shared.parts.cuts import Parting
from shoal.algorithms._shared.parts.part_task import MapParts
from shoal.engines.resources import Resources
from shoal.plan import Plan


def resources_of(plan: Plan) -> Resources:
    """What an engine may use, and into how many parts the plan lets it cut the table."""
    parts = (None if plan.parts == "auto" else plan.parts) if plan.algorithm.works_in_parts else 1
    return Resources.of(plan.memory, plan.temp_directory, plan.threads, parts)


def parting_of(plan: Plan, elsewhere: MapParts | None = None) -> Parting:
    """The number of parts that the plan asks for, or the memory that they must fit into.

    If there is enough memory, a large table may still be cut for several threads.

    `elsewhere` recodes the parts in other processes, with the same result.
    """
    if plan.parts == "auto":
        memory = Resources.of(plan.memory).memory
        return Parting(memory=memory, shared=True, elsewhere=elsewhere)
    return Parting(plan.parts, elsewhere=elsewhere)
