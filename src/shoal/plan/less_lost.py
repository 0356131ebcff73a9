"""Less lost: what to change in a plan whose release contains almost no information."""

from __future__ import annotations

from shoal import catalog
from shoal.algorithms import Algorithm
from shoal.plan.plan import Plan

# Its classes do not overlap. Those of others may, and then delta-presence makes them one.
APART = "full-domain"


def less_lost(plan: Plan) -> str:
    """What may keep more, as the end of a sentence."""
    usual = "weaker requirements, fewer quasi-identifiers, finer hierarchies or another algorithm"
    by_presence = any(model.name == "delta-presence" for model in plan.models)
    other = catalog.algorithms[APART]()
    assert isinstance(other, Algorithm)
    if not by_presence or plan.algorithm.name == APART or not all(map(other.serves, plan.models)):
        return f"{usual} may keep more"
    return (
        f'with delta-presence, algorithm = "{APART}" usually keeps more, as its classes do not '
        "cover the same people; weaker requirements, fewer quasi-identifiers or finer hierarchies "
        "may keep more, too"
    )
