"""Level tables: one row per value, from the value up to the root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from shoal.base.errors import BadFile, BadHierarchy
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.given import Given
from shoal.hierarchies.level_text import rows_of_file, tidy_rows
from shoal.hierarchies.tree import Tree
from shoal.io.sources import check_source


class Levels(Given):
    """A level table in the plan: each row leads from a value up to the root."""

    name = "levels"
    takes = "the rows, each a list from a value up to the root"

    def __init__(self, rows: Iterable[Sequence[object]]) -> None:
        self._rows = tidy_rows(rows)
        self._tree = Tree.from_rows(self._rows)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return {"levels": [["" if label is None else label for label in r] for r in self._rows]}


class LevelFile(Given):
    """A level table in a CSV file: each row leads from a value up to the root."""

    name = "csv"
    takes = "the path of the file, relative to the plan file"
    options: ClassVar[dict[str, str]] = {
        "sep": "the delimiter; default: the most frequent of ; tab | and ,"
    }

    def __init__(self, path: str | Path, sep: str | None = None) -> None:
        self._path = Path(path)
        self._sep = sep
        self._rows = tidy_rows(_read_rows(self._path, sep))
        try:
            self._tree = Tree.from_rows(self._rows)
        except BadHierarchy as error:
            raise BadHierarchy(f"{self._path}: {error}") from None

    def settled(self, tree: Tree | None = None) -> Hierarchy:  # noqa: ARG002
        """The content of the file."""
        return Levels(self._rows)

    def setting(self) -> Any:
        """How a plan file writes it."""
        return self._setting(str(self._path))

    def _setting(self, path: str) -> Any:
        return path if self._sep is None else {"csv": path, "sep": self._sep}

    @classmethod
    def from_setting(cls, value: Any, folder: Path, **options: Any) -> Hierarchy:
        """The file in the folder of the plan."""
        return cls(folder / value, **options)

    def setting_in(self, folder: Path | None) -> Any:
        """The setting with a path that is relative to the plan file."""
        if folder is None:
            return self.setting()
        return self._setting(Path(os.path.relpath(self._path, folder)).as_posix())

    @property
    def file(self) -> Path:
        """The file of the level table."""
        return self._path

    def describe(self) -> str:
        """How values are published."""
        return f"by the hierarchy in {self._path.name}"

    def listed_values(self) -> int:
        """None: the values are in the file, not in the plan."""
        return 0

    def public_setting(self) -> Any:
        """The setting without folders of this machine."""
        path = self._path
        outside = path.is_absolute() or ".." in path.parts
        return self._setting(path.name if outside else path.as_posix())


def _read_rows(path: Path, sep: str | None) -> list[list[str]]:
    check_source(path, "the hierarchy ", "; paths are relative to the plan file")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"no hierarchy file {path}; paths are relative to the plan file") from None
    except OSError as error:
        raise BadFile(f"cannot read the hierarchy {path}: {type(error).__name__}") from None
    return rows_of_file(content, str(path), sep)
