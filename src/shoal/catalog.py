"""The catalog: finds what models/, losses/, algorithms/ and attacks/ hold.

A new file in one of these folders with a class in it is all that it takes.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from inspect import isabstract
from typing import Any

from shoal.base.errors import BadPlan, did_you_mean
from shoal.base.settings import Setting


class Registry(Mapping[str, type[Setting]]):
    """Everything of one kind, by name, in alphabetical order."""

    def __init__(self, folder: str, one: str) -> None:
        self.folder = folder
        self.one = one
        self.a_one = f"an {one}" if one[0] in "aeiou" else f"a {one}"

    @cached_property
    def _found(self) -> dict[str, type[Setting]]:
        package = importlib.import_module(f"shoal.{self.folder}")
        found: dict[str, type[Setting]] = {}
        for module in pkgutil.iter_modules(package.__path__):
            contents = importlib.import_module(f"shoal.{self.folder}.{module.name}")
            for thing in vars(contents).values():
                if (
                    isinstance(thing, type)
                    and issubclass(thing, Setting)
                    and thing.__module__ == contents.__name__
                    and not isabstract(thing)
                ):
                    found[thing.name] = thing
        return dict(sorted(found.items()))

    def __getitem__(self, name: str) -> type[Setting]:
        return self._found[name]

    def named(self, name: str) -> type[Setting]:
        """The thing of this name, or an error that says what there is."""
        try:
            return self._found[name]
        except KeyError:
            raise BadPlan(
                f"no {self.one} {name!r}{did_you_mean(name, self._found) or ';'} "
                f"there are {', '.join(self._found)}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def decided(self) -> dict[str, type[Setting]]:
        """What can be run as it is, without those that stand for a choice."""
        return {name: kind for name, kind in self._found.items() if not kind.is_auto}

    def make(self, given: Any) -> Setting:
        """The thing that was asked for: by its name, by a mapping, or as an object already."""
        if isinstance(given, Setting):
            self.named(given.name)  # an object of another kind is told apart here
            return given
        if isinstance(given, str):
            return self.named(given)()
        if isinstance(given, Mapping):
            options = dict(given)
            if "name" not in options:
                raise BadPlan(f"{self.a_one} needs a name; there are {', '.join(self._found)}")
            return self.named(str(options.pop("name")))(**options)
        raise BadPlan(f"{self.a_one} is a name, a mapping or an object, not {type(given).__name__}")


models = Registry("models", "model")
losses = Registry("losses", "loss")
algorithms = Registry("algorithms", "algorithm")
attacks = Registry("attacks", "attack")
registries = {shelf.folder: shelf for shelf in (models, losses, algorithms, attacks)}
