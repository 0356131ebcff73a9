"""Folder registry: the classes that the modules of a folder define, by name.

To add an entry, add a file with a class to the folder.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from inspect import getattr_static, isabstract
from typing import Generic, TypeVar

T = TypeVar("T")


class FolderRegistry(Mapping[str, type[T]], Generic[T]):
    """All entries of one kind, in alphabetical order. The folder is scanned on first use.

    An entry is a class that is defined in a module of the folder, derives from `kind`, is not
    abstract and has a `name`.
    """

    def __init__(self, package: str, kind: type[T]) -> None:
        self._package = package
        self._kind = kind

    @cached_property
    def _found(self) -> dict[str, type[T]]:
        package = importlib.import_module(self._package)
        found: dict[str, type[T]] = {}
        for module in pkgutil.iter_modules(package.__path__):
            contents = importlib.import_module(f"{self._package}.{module.name}")
            for thing in vars(contents).values():
                if (
                    isinstance(thing, type)
                    and issubclass(thing, self._kind)
                    and thing.__module__ == contents.__name__
                    and not isabstract(thing)
                    and isinstance(name := getattr_static(thing, "name", None), str)
                ):
                    found[name] = thing
        return dict(sorted(found.items()))

    def __getitem__(self, name: str) -> type[T]:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)
