"""Privacy models: the level that a table reaches, and whether that is enough.

A model is one file in this room. It carries everything that other rooms say or ask about it: its
options, what it guarantees in a sentence, how many people a class needs, its loosest setting.
Internal: the catalog finds the models in this folder.
"""

from shoal.models._check import Check, finite, requirement_rows
from shoal.models._linkage_model import LinkageModel
from shoal.models._model import (
    MANY,
    TOLERANCE,
    ClassNeeds,
    ClassSize,
    DistinctValues,
    Model,
    min_class_size,
    min_factor,
)
from shoal.models._sensitive_model import SensitiveModel, not_sensitive
from shoal.models._table_model import TableModel

__all__ = [
    "MANY",
    "TOLERANCE",
    "Check",
    "ClassNeeds",
    "ClassSize",
    "DistinctValues",
    "LinkageModel",
    "Model",
    "SensitiveModel",
    "TableModel",
    "finite",
    "min_class_size",
    "min_factor",
    "not_sensitive",
    "requirement_rows",
]
