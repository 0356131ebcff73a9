"""The errors that shoal raises; see `shoal.base.errors` for the tree."""

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
