"""Large tables: what every engine does with a table that is not in memory.

An engine groups the rows, counts what other columns would disclose, and writes the rows of a
release. Which values are published is decided elsewhere, from the groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

import pyarrow as pa

from shoal.algorithms._shared.parts.part_task import MapParts
from shoal.base.arrays import Longs
from shoal.base.errors import BadTable
from shoal.io.frames import Frame

Watch: TypeAlias = Callable[[float], None]  # called with the share that is done


@dataclass(frozen=True, eq=False)
class Recoded:
    """What is published of each combination of original values."""

    units: Frame  # combinations of original values that are published
    released: Frame  # what is published of each; in the same order
    names: tuple[str, ...]  # the columns of the release
    entropy: tuple[int, ...]  # of the shuffle

    @property
    def others(self) -> list[str]:
        """The columns that are published row by row."""
        return [name for name in self.names if name not in self.released.names]

    def schema(self, original: pa.Schema) -> pa.Schema:
        """Names and types of the columns of the release of a table of this schema."""
        native = self.released.native.schema
        fields = [
            native.field(name) if name in self.released.names else original.field(name)
            for name in self.names
        ]
        return pa.schema([pa.field(one.name, one.type) for one in fields], native.metadata)


class LargeTable(ABC):
    """A table that is not in memory, and the engine that works on its rows."""

    engine: ClassVar[str]  # its name in plans
    writes_folders: ClassVar[bool] = False  # of files, next to single files
    schema: pa.Schema  # of the table, as it would be in memory

    @property
    def map_parts(self) -> MapParts | None:
        """Recodes parts of the combinations of values in other processes; None: it does not."""
        return None

    @property
    @abstractmethod
    def sha256(self) -> str | None:
        """Of the file, or of the checksums of all files; None: the table is no file."""

    @abstractmethod
    def is_served(self, kind: pa.DataType) -> bool:
        """Whether the engine reads and returns cells of this type without any change."""

    @abstractmethod
    def group(self, columns: Sequence[str], watch: Watch) -> Frame:
        """The distinct combinations of values of these columns, each with its number of rows."""

    @abstractmethod
    def alone(
        self,
        units: Frame,
        label: Longs,
        others: Sequence[str],
        missing_values: Sequence[str],
        watch: Watch,
    ) -> dict[str, tuple[int, int]]:
        """Per column: its distinct values, and the rows that have theirs alone in their class.

        `label` is the class of each of the `units`; rows of other combinations are left out.
        """

    @abstractmethod
    def write(
        self, recoded: Recoded, target: Path, grouped: Sequence[str], watch: Watch
    ) -> tuple[Frame, str | None]:
        """Write the release to exactly this path and check what was written.

        Returns the distinct combinations of the `grouped` columns that were read back, and the
        SHA-256 of the text if it is one text file.
        """

    def check_types(self, columns: Sequence[str]) -> None:
        """Raise an error unless the engine returns the cells of these columns unchanged."""
        for name in columns:
            kind = self.schema.field(name).type
            if not self.is_served(kind):
                raise BadTable(
                    f"column {name!r} is of type {kind}, which engine = {self.engine!r} does not "
                    "support; use engine = 'memory', or cast it to text, numbers or dates"
                )
