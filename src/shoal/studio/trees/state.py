"""The state of a tree on the page: what is unfolded and looked for, as an address has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import urlencode

from shoal.studio.tasks.trees.look import MOST, Branch, Unfolded

LONGEST = 200  # characters of a text to look for
_NODE = re.compile(r"[0-9]{1,9}")
_PAGE = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


def unfolded_of(query: Mapping[str, str], version: str) -> Unfolded:
    """What an address asks for; nodes are those of the tree of one version of the plan."""
    known = query.get("v") == version
    listed = query.get("open") if known else None
    begins = query.get("at", "").split(".") if known else []
    pages = [found for one in begins[:MOST] if (found := _PAGE.fullmatch(one))]
    return Unfolded(
        nodes=None if listed is None else nodes_of(listed),
        begin={int(one[1]): int(one[2]) for one in pages},
        find=query.get("q", "")[:LONGEST],
        often=query.get("sort") == "often",
        ungrouped=query.get("show") == "ungrouped",
        example=query.get("value", "")[:LONGEST],
    )


def nodes_of(listed: str, most: int = MOST) -> tuple[int, ...]:
    """Nodes as an address or a form lists them: 0.17.34."""
    return tuple(int(one) for one in listed.split(".") if _NODE.fullmatch(one))[:most]


def listed(nodes: Iterable[int]) -> str:
    """The same the other way round."""
    return ".".join(map(str, nodes))


def opened_in(branch: Branch) -> Iterator[int]:
    """The nodes that are unfolded in what is shown."""
    if branch.is_open:
        yield branch.node
        for one in branch.branches:
            yield from opened_in(one)


class Addresses:
    """Addresses of the same page with something folded, unfolded or looked for."""

    def __init__(self, page: str, version: str, unfolded: Unfolded, opened: Iterable[int]) -> None:
        self._page, self._version = page, version
        self._now = replace(unfolded, nodes=tuple(opened))

    @property
    def opened(self) -> str:
        """The nodes that are unfolded, for a form."""
        return listed(self._now.nodes or ())

    @property
    def here(self) -> str:
        """What is shown now."""
        return self._address(self._now)

    def toggled(self, branch: Branch) -> str:
        """With a node folded, or unfolded."""
        before = self._now.nodes or ()
        after = tuple(v for v in before if v != branch.node)
        if len(after) == len(before):
            after = (*before, branch.node)
        return self._address(replace(self._now, nodes=after))

    def page(self, branch: Branch, begin: int) -> str:
        """With other branches of a node."""
        return self._address(replace(self._now, begin={**self._now.begin, branch.node: begin}))

    def whole_tree(self) -> str:
        """Without looking for anything."""
        return self._address(replace(self._now, find="", ungrouped=False, begin={}))

    def _address(self, one: Unfolded) -> str:
        query = {
            "v": self._version,
            "open": listed(one.nodes or ()),
            "at": ".".join(f"{node}:{begin}" for node, begin in one.begin.items() if begin),
            "q": one.find,
            "sort": "often" if one.often else "",
            "show": "ungrouped" if one.ungrouped else "",
            "value": one.example,
        }
        return f"{self._page}?{urlencode({key: text for key, text in query.items() if text})}"
