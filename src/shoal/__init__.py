"""Publish a table about people: hide everybody in a crowd, prove it, lose as little as possible."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.anonymize import anonymize
    from shoal.audit import Audit, audit
    from shoal.compare import compare
    from shoal.comparison import Comparison
    from shoal.draft import draft
    from shoal.errors import (
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
    from shoal.fitted import Fitted
    from shoal.hierarchy import Hierarchy
    from shoal.plan import Plan
    from shoal.release import Release
    from shoal.version import __version__

# Where each public name lives. They are fetched when first used, so that `import shoal` is quick.
_HOMES = {
    "Audit": "audit",
    "BadFile": "errors",
    "BadHierarchy": "errors",
    "BadInput": "errors",
    "BadPlan": "errors",
    "BadTable": "errors",
    "BrokenPromise": "errors",
    "CannotReach": "errors",
    "Comparison": "comparison",
    "Fitted": "fitted",
    "Hierarchy": "hierarchy",
    "NotHeld": "errors",
    "Plan": "plan",
    "Release": "release",
    "ShoalError": "errors",
    "__version__": "version",
    "anonymize": "anonymize",
    "audit": "audit",
    "compare": "compare",
    "draft": "draft",
}

__all__ = [
    "Audit",
    "BadFile",
    "BadHierarchy",
    "BadInput",
    "BadPlan",
    "BadTable",
    "BrokenPromise",
    "CannotReach",
    "Comparison",
    "Fitted",
    "Hierarchy",
    "NotHeld",
    "Plan",
    "Release",
    "ShoalError",
    "__version__",
    "anonymize",
    "audit",
    "compare",
    "draft",
]


class _Package(ModuleType):
    """Fetches public names, and the modules of the package, when they are first used.

    A function and its file share a name (anonymize, audit, compare, draft). Python sets the file
    as an attribute of the package once it is imported; the function must win.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            # So that `shoal.datasets` works after `import shoal`, as the docs write it.
            known = name.isidentifier() and not name.startswith("_")
            if not known or find_spec(f"shoal.{name}") is None:
                raise AttributeError(f"module 'shoal' has no attribute {name!r}")
            return import_module(f"shoal.{name}")
        thing = getattr(import_module(f"shoal.{_HOMES[name]}"), name)
        super().__setattr__(name, thing)
        return thing

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(__all__)


sys.modules[__name__].__class__ = _Package
