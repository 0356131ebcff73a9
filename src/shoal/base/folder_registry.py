"""Folder registry: the classes that the modules of a folder define, by name.

To add an entry, add a file with a class to the folder.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from inspect import getattr_static, isabstract
from typing import Generic, TypeVar

from shoal.base.threads import cached_property

T = TypeVar("T")


class FolderRegistry(Mapping[str, type[T]], Generic[T]):
    """All entries of one kind, in alphabetical order. The folder is scanned on first use.

    An entry is a class that is defined in a module of the folder, derives from `kind`, is not
    abstract and has a `name`.
    """

    def __init__(self, package: str, kind: type[T]) -> None:
        self._package = package
        self._kind = kind
        self._read: dict[str, dict[str, type[T]]] = {}  # the entries by module

    @cached_property
    def _modules(self) -> list[str]:
        package = importlib.import_module(self._package)
        found = [module.name for module in pkgutil.iter_modules(package.__path__)]
        return [name for name in found if not name.startswith("_")]  # what entries share

    @cached_property
    def _found(self) -> dict[str, type[T]]:
        found: dict[str, type[T]] = {}
        for module in self._modules:
            found.update(self._entries(module))
        return dict(sorted(found.items()))

    def _entries(self, module: str) -> dict[str, type[T]]:
        """The entries that a module of the folder defines."""
        if module not in self._read:
            self._read[module] = self._look_into(module)
        return self._read[module]

    def _look_into(self, module: str) -> dict[str, type[T]]:
        contents = importlib.import_module(f"{self._package}.{module}")
        return {
            name: thing
            for thing in vars(contents).values()
            if isinstance(thing, type)
            and issubclass(thing, self._kind)
            and thing.__module__ == contents.__name__
            and not isabstract(thing)
            and isinstance(name := getattr_static(thing, "name", None), str)
        }

    def __getitem__(self, name: str) -> type[T]:
        # Most entries are in the file of their name: then no other file is loaded.
        module = name.replace("-", "_") if isinstance(name, str) else ""
        if "_found" not in vars(self) and module in self._modules:
            entries = self._entries(module)
            if name in entries:
                return entries[name]
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)
