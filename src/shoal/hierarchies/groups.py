"""Groups of values: a given hierarchy that is edited step by step, each step a new one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.base.errors import BadHierarchy, is_text, preview
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import plain

LONGEST = 200  # characters of the name of a group


@dataclass(frozen=True)
class Groups:
    """Values in groups, which may be in groups themselves.

    >>> groups = Groups.of(Hierarchy.flat().tree(["cat", "dog", "lion"]))
    >>> groups = groups.together(["cat", "lion"], "felid")
    >>> groups.hierarchy().setting()
    {'tree': {'*': {'felid': ['cat', 'lion'], 'dog': []}}}
    """

    root: str
    above: dict[str, str]  # what each value and group is in, in their order
    values: frozenset[str]  # those that are no groups

    @staticmethod
    def of(tree: Tree) -> Groups:
        """The groups of any tree; missing values are none of its values."""
        labels = tree.labels
        there = [v for v in range(1, tree.size) if _is_value(tree, v)]
        above = {str(labels[v]): str(labels[int(tree.parent[v])]) for v in there}
        values = frozenset(str(labels[v]) for v in there if tree.end[v] == v + 1)
        return Groups(str(labels[0]), above, values)

    def hierarchy(self) -> Hierarchy:
        """The hierarchy, as a nested mapping."""
        below: dict[str, list[str]] = {}
        for label, group in self.above.items():
            below.setdefault(group, []).append(label)

        def nested(group: str) -> Any:
            members = below.get(group, [])
            if self.values.issuperset(members):
                return members
            return {one: [] if one in self.values else nested(one) for one in members}

        return Hierarchy.from_tree({self.root: nested(self.root)})

    @property
    def ungrouped(self) -> list[str]:
        """The values that are in no group."""
        return [v for v, group in self.above.items() if group == self.root and v in self.values]

    def is_group(self, label: str) -> bool:
        """Whether it is a group."""
        return label in self.above and label not in self.values

    # Steps

    def together(self, labels: Sequence[str], name: str) -> Groups:
        """Put values and groups into the group of this name; it is made if there is none."""
        moved = self._highest(self._known(labels))
        name = name.strip()
        if self.is_group(name):
            if name in moved or any(one in moved for one in self._way(name)):
                raise BadHierarchy(
                    f"{name!r} cannot be put into itself; select other values or groups for it"
                )
            return self._changed(dict.fromkeys(moved, name))
        self._check_name(name)
        return self._changed(dict.fromkeys(moved, name), {name: self._common(moved)}, moved[0])

    def apart(self, labels: Sequence[str]) -> Groups:
        """Dissolve groups, and take values out of theirs: all of it goes one level up."""
        given = self._known(labels)
        dissolved = {one for one in given if one not in self.values}
        moved: dict[str, str] = {}
        for label, group in self.above.items():
            if group in dissolved:
                moved[label] = group
            elif label in given and label in self.values:
                moved[label] = self.above.get(group, self.root)
        for label, group in moved.items():
            while group in dissolved:
                group = self.above[group]
            moved[label] = group
        return self._changed(moved, without=dissolved)

    def to_root(self, labels: Sequence[str]) -> Groups:
        """Take values and groups out of all groups."""
        return self._changed(dict.fromkeys(self._highest(self._known(labels)), self.root))

    def renamed(self, label: str, name: str) -> Groups:
        """Give a group another name."""
        name = name.strip()
        if not self.is_group(label):
            raise BadHierarchy(f"{label!r} is a value, and only groups can be renamed")
        if name == label:
            return self
        self._check_name(name)
        new = {label: name}
        above = {new.get(one, one): new.get(up, up) for one, up in self.above.items()}
        return Groups(self.root, above, self.values)

    def with_values(self, values: Iterable[str]) -> Groups:
        """The same with these values too; those that are new are in no group."""
        known = {*map(plain, self.above), plain(self.root)}
        more = [one for one in dict.fromkeys(values) if plain(one) not in known]
        above = {**self.above, **dict.fromkeys(more, self.root)}
        return Groups(self.root, above, self.values | set(more))

    # Help

    def _known(self, labels: Sequence[str]) -> list[str]:
        unknown = [one for one in labels if one not in self.above]
        if unknown or not labels:
            raise BadHierarchy(
                f"there are no values or groups {preview(unknown)} any more"
                if unknown
                else "select at least one value or group first"
            )
        return list(dict.fromkeys(labels))

    def _way(self, label: str) -> Iterator[str]:
        """The groups that a value or group is in, without the root."""
        while (label := self.above[label]) != self.root:
            yield label

    def _highest(self, labels: Sequence[str]) -> list[str]:
        """Without those that are in a group that is among them: they move with it."""
        there = set(labels)
        return [one for one in labels if not any(up in there for up in self._way(one))]

    def _common(self, labels: Sequence[str]) -> str:
        """The lowest group that all of these are in."""
        first, *others = [[*self._way(one), self.root] for one in labels]
        shared = set(first).intersection(*others)
        return next(group for group in first if group in shared)

    def _check_name(self, name: str) -> None:
        if not name or not is_text(name) or len(name) > LONGEST:
            raise BadHierarchy(f"a group needs a name of 1 to {LONGEST} characters")
        if plain(name) in {plain(self.root), *map(plain, self.above)}:
            raise BadHierarchy(
                f"{name!r} is there already, as a value or as a group; choose another name"
            )

    def _changed(
        self,
        moved: dict[str, str],
        new: dict[str, str] | None = None,
        before: str = "",
        without: Collection[str] = (),
    ) -> Groups:
        """With other groups for some of them, and new groups before a label; none stays empty."""
        above: dict[str, str] = {}
        for label, group in self.above.items():
            if label == before:
                above.update(new or {})
            if label not in without:
                above[label] = moved.get(label, group)
        while True:
            used = set(above.values())
            empty = [one for one in above if one not in self.values and one not in used]
            if not empty:
                return Groups(self.root, above, self.values)
            for one in empty:
                del above[one]


def _is_value(tree: Tree, node: int) -> bool:
    label = tree.labels[node]
    return label is not None and label not in tree.words
