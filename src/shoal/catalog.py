"""The catalog: all models, losses, algorithms, attacks, hierarchy builders and file formats.

To add one, add a file with a class to its folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.base.errors import BadPlan, did_you_mean
from shoal.base.folder_registry import FolderRegistry
from shoal.base.settings import Setting
from shoal.hierarchies.base import builders as hierarchies
from shoal.io.format import formats

__all__ = [
    "Registry",
    "algorithms",
    "attacks",
    "formats",
    "hierarchies",
    "losses",
    "models",
    "registries",
]


class Registry(FolderRegistry[Setting]):
    """All entries of one kind, by name, in alphabetical order."""

    def __init__(self, folder: str, one: str) -> None:
        super().__init__(f"shoal.{folder}", Setting)
        self.folder = folder
        self.one = one
        self.a_one = f"an {one}" if one[0] in "aeiou" else f"a {one}"

    def named(self, name: str) -> type[Setting]:
        """The entry with this name, or an error that lists the known names."""
        try:
            return self[name]
        except KeyError:
            raise BadPlan(
                f"no {self.one} {name!r}{did_you_mean(name, self._found) or ';'} "
                f"there are {', '.join(self._found)}"
            ) from None

    @property
    def decided(self) -> dict[str, type[Setting]]:
        """The entries that can be run themselves, without `auto` and those with a command."""
        kinds = self._found.items()
        return {name: kind for name, kind in kinds if not (kind.is_auto or kind.own_command)}

    def make(self, given: Any) -> Setting:
        """An entry given by its name, as a mapping, or as an object already."""
        if isinstance(given, Setting):
            self.named(given.name)  # raises an error if it is of another kind
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
registries = {one.folder: one for one in (models, losses, algorithms, attacks)}
