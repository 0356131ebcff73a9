"""Regroup: make groups of values, move values between them, rename and dissolve them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from shoal.base.errors import BadHierarchy
from shoal.base.progress import Progress
from shoal.hierarchies.groups import Groups
from shoal.plan import Plan
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.trees._column_tree import ColumnTree, column_tree
from shoal.studio.tasks.trees.look import labels_at, nodes_with

MOST = 20_000  # values that a plan lists
Step = Literal["start", "together", "into", "apart", "out", "rename"]


@dataclass(frozen=True)
class Regroup:
    """One step: what is done to which nodes of the tree."""

    step: Step
    nodes: tuple[int, ...] = ()
    name: str = ""  # of a group
    into: int = 0  # the node that they are moved into; 0: out of all groups
    find: str = ""  # all nodes with this text too
    opened: tuple[int, ...] | None = None  # the nodes that are unfolded; None: not known


@dataclass(frozen=True)
class Regrouped:
    """The hierarchy after the step, and the nodes of its tree to unfold."""

    setting: Any
    opened: tuple[int, ...] | None


def run(held: Held, progress: Progress, plan: str, column: str, change: Regroup) -> Regrouped:
    """Do one step on the groups that the plan has for a column."""
    progress("encode", 0.0)
    asked = Plan.load(plan)
    found = column_tree(held, asked, column, asked.columns[column].hierarchy)
    many = int(found.is_leaf.sum())
    if many > MOST:
        raise BadHierarchy(
            f"column {column!r} has {many:,} values, and groups of single values are for up to "
            f"{MOST:,}; choose prefixes or ranges, or name the file of a level table in the plan"
        )
    groups = changed(found, Groups.of(found.tree), change)
    hierarchy = groups.hierarchy()
    new = column_tree(held, asked, column, hierarchy)
    return Regrouped(hierarchy.setting(), _still_open(found, new, change))


def changed(found: ColumnTree, groups: Groups, change: Regroup) -> Groups:
    """The groups after the step."""
    nodes = [*change.nodes, *(nodes_with(found, change.find) if change.find else [])]
    labels = list(dict.fromkeys(labels_at(found, nodes)))
    match change.step:
        case "together":
            return groups.together(labels, change.name)
        case "into":
            if not 0 <= change.into < found.tree.size or found.is_missing(change.into):
                raise BadHierarchy("there is no such group any more")
            if change.into == 0:
                return groups.to_root(labels)
            return groups.together(labels, _group_at(found, change.into))
        case "apart":
            return groups.apart(labels)
        case "out":
            return groups.to_root(labels)
        case "rename":
            if len(labels) != 1:
                raise BadHierarchy("select the one group that gets the name")
            return groups.renamed(labels[0], change.name)
    return groups


def _group_at(found: ColumnTree, node: int) -> str:
    """The group at a node; that of a value is the one that it is in."""
    if found.is_leaf[node]:
        node = int(found.tree.parent[node])
    if node == 0:
        raise BadHierarchy("this value is in no group; put it into one first")
    return str(found.tree.labels[node])


def _still_open(old: ColumnTree, new: ColumnTree, change: Regroup) -> tuple[int, ...] | None:
    """The unfolded nodes in the new tree, with the group that was made or filled."""
    if change.opened is None:
        return None
    names = [old.tree.labels[v] for v in change.opened if 0 <= v < old.tree.size]
    names.append(change.name.strip())
    if change.step == "into" and 0 <= change.into < old.tree.size:
        names.append(old.tree.labels[change.into])
    nodes = [new.tree.node(name) for name in dict.fromkeys(names) if name]
    leaf = new.is_leaf
    return tuple(v for v in nodes if v >= 0 and not leaf[v])
