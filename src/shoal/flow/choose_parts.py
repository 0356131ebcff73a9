"""Choose the parts: into how many parts a table is cut before it is recoded."""

from __future__ import annotations

from shoal.algorithms._shared.parts.cuts import Parting
from shoal.engines.resources import Resources
from shoal.plan import Plan


def parting_of(plan: Plan) -> Parting:
    """The number of parts that the plan asks for, or the memory that they must fit into."""
    if plan.parts == "auto":
        return Parting(memory=Resources.of(plan.memory).memory)
    return Parting(plan.parts)
