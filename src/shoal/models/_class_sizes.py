"""What models that hide everybody among k people of a class have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from shoal.models import ClassSize, Model


class ClassSizeModel(Model):
    """A requirement that every class has k people; each model counts them in its own way."""

    size_option: ClassVar[str | None] = "k"
    loosest: ClassVar[Mapping[str, Any]] = {"k": 2}
    k: ClassSize = Field(description="smallest class, in people")

    @property
    def required(self) -> float:
        """The smallest class size."""
        return self.k

    @property
    def min_people(self) -> int:
        """Every class has k people."""
        return self.k

    @property
    def only_class_size(self) -> bool:
        """It requires nothing else."""
        return True
