"""The sources of the package as syntax trees, for the tests that read them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

INSIDE = ("body", "orelse", "finalbody", "handlers", "cases")  # fields with statements


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file; it is shared, so nobody may change it."""
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node, without what `if TYPE_CHECKING` has.

    `ast.walk` visits each name of each expression as well, which takes ten times as long.
    """
    types_alone = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    for field in INSIDE[types_alone:]:
        for one in getattr(node, field, ()):
            yield one
            yield from statements(one)
