"""Within at_most: how general the published values are, read from the published table alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from shoal.base.errors import NotHeld
from shoal.base.wording import number
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.tree import Tree
from shoal.hierarchies.values import text
from shoal.models import Check
from shoal.plan import Plan
from shoal.table.allowed.at_most import AtMost, level_in
from shoal.table.encode import Table
from shoal.table.published_table import Published
from shoal.table.roles import limited_columns

NAME = "at_most"  # instead of that of a model


def check_at_most(published: Published, plan: Plan, original: Table | None = None) -> list[Check]:
    """How far the published values of each limited column reach, and whether that is allowed.

    Labels say how wide they are. How many steps up they are may depend on the other values of the
    column: without an original such a column is left out.
    """
    trees: Mapping[str, Tree] = {}
    if original is not None:
        trees = dict(zip(original.names, original.trees, strict=True))
    found = []
    for name, at_most in limited_columns(plan.columns).items():
        labels = _labels(published, published.names.index(name), plan.missing_of(name))
        kind = plan.columns[name].hierarchy or Hierarchy.flat()
        reach = _largest_reach(at_most, kind, labels, trees.get(name))
        if reach is None and at_most.width is None and name not in trees:
            continue
        found.append(
            Check(
                NAME,
                name,
                float(at_most.most),
                float("inf") if reach is None else float(reach),
                reach is not None and reach <= at_most.most,
                "at most",
                {"level": at_most.level} if at_most.width is None else at_most.setting(),
            )
        )
    return found


def unchecked(plan: Plan, checks: Sequence[Check]) -> list[str]:
    """Notes on columns that could not be checked without the original."""
    known = {check.column for check in checks}
    return [
        f"at_most of {name!r} was not checked: how many steps its values are above the original "
        "ones can be seen only together with the original (--original)"
        for name in limited_columns(plan.columns)
        if name not in known
    ]


def raise_beyond_at_most(checks: Sequence[Check]) -> None:
    """Raise an error that names the columns with values beyond `at_most`, if there are any."""
    beyond = [check for check in checks if not check.holds]
    if beyond:
        cases = "; ".join(
            f"{one.column!r} has at most {next(iter(one.options))} {number(one.required)}, and the "
            f"table reaches {number(one.reached)}"
            for one in beyond
        )
        raise NotHeld(f"the table that would be published has values beyond at_most: {cases}")


def _labels(published: Published, j: int, missing: Sequence[str]) -> list[str]:
    """The published values of a column that do not mean missing."""
    often = published.often(j)[1:]  # the first is an empty cell
    labels = [text(value) for value, many in zip(published.values[j], often, strict=True) if many]
    return [label for label in labels if label not in missing]


def _largest_reach(
    at_most: AtMost, hierarchy: Hierarchy, labels: Sequence[str], tree: Tree | None
) -> Fraction | None:
    """The largest reach of these values; None: of some it is not known or has no bounds."""
    largest = Fraction(0)
    for label in labels:
        reach = at_most.reach(hierarchy, label)
        if reach is None and at_most.width is None and tree is not None:
            node = tree.find(label)
            reach = None if node < 0 else level_in(tree, node)
        if reach is None:
            return None
        largest = max(largest, reach)
    return largest
