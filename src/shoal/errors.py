"""The errors that shoal raises; `shoal.base.errors` has the tree of them."""

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

__all__ = [
    "BadFile",
    "BadHierarchy",
    "BadInput",
    "BadPlan",
    "BadTable",
    "BrokenPromise",
    "CannotReach",
    "NotHeld",
    "ShoalError",
]
