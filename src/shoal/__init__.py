"""Anonymize tables about people: satisfy privacy models, verify it, keep the information.

The public names are in `__all__`, among them the modules `bound`, `catalog`, `comparison`,
`datasets`, `distances`, `errors`, `plan` and `spark`. Everything else is internal and may change
at any time; see docs/stability.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal import bound, catalog, comparison, datasets, distances, errors, plan, spark
    from shoal.base.errors import (
        BadFile,
        BadHierarchy,
        BadInput,
        BadPlan,
        BadTable,
        BrokenPromise,
        CannotReach,
        NotHeld,
        ShoalError,
    )
    from shoal.base.version import __version__
    from shoal.comparing.compare import compare
    from shoal.comparing.comparison import Comparison
    from shoal.comparing.frontier.points import Frontier
    from shoal.comparing.frontier.search import frontier
    from shoal.databases.database import Database
    from shoal.flow.anatomy.anatomize import Anatomy, anatomize
    from shoal.flow.anatomy.audit_anatomy import AnatomyAudit, audit_anatomy
    from shoal.flow.anonymize import anonymize
    from shoal.flow.apply.fitted import Fitted
    from shoal.flow.audit import Audit, audit
    from shoal.flow.draft.draft import draft
    from shoal.flow.release import Release
    from shoal.hierarchies.base import Hierarchy
    from shoal.plan import Plan

# The module that defines each public name. It is imported on first use: `import shoal` is fast.
_HOMES = {
    "Anatomy": "flow.anatomy.anatomize",
    "AnatomyAudit": "flow.anatomy.audit_anatomy",
    "Audit": "flow.audit",
    "BadFile": "base.errors",
    "BadHierarchy": "base.errors",
    "BadInput": "base.errors",
    "BadPlan": "base.errors",
    "BadTable": "base.errors",
    "BrokenPromise": "base.errors",
    "CannotReach": "base.errors",
    "Comparison": "comparing.comparison",
    "Database": "databases.database",
    "Fitted": "flow.apply.fitted",
    "Frontier": "comparing.frontier.points",
    "Hierarchy": "hierarchies.base",
    "NotHeld": "base.errors",
    "Plan": "plan",
    "Release": "flow.release",
    "ShoalError": "base.errors",
    "__version__": "base.version",
    "anatomize": "flow.anatomy.anatomize",
    "anonymize": "flow.anonymize",
    "audit": "flow.audit",
    "audit_anatomy": "flow.anatomy.audit_anatomy",
    "compare": "comparing.compare",
    "draft": "flow.draft.draft",
    "frontier": "comparing.frontier.search",
}
_MODULES = ("bound", "catalog", "comparison", "datasets", "distances", "errors", "plan", "spark")

__all__ = [
    "Anatomy",
    "AnatomyAudit",
    "Audit",
    "BadFile",
    "BadHierarchy",
    "BadInput",
    "BadPlan",
    "BadTable",
    "BrokenPromise",
    "CannotReach",
    "Comparison",
    "Database",
    "Fitted",
    "Frontier",
    "Hierarchy",
    "NotHeld",
    "Plan",
    "Release",
    "ShoalError",
    "__version__",
    "anatomize",
    "anonymize",
    "audit",
    "audit_anatomy",
    "bound",
    "catalog",
    "compare",
    "comparison",
    "datasets",
    "distances",
    "draft",
    "errors",
    "frontier",
    "plan",
    "spark",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name in _MODULES:
        return import_module(f"shoal.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    thing = getattr(import_module(f"shoal.{_HOMES[name]}"), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return sorted(__all__)
