"""Groups of values, edited step by step."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.base.errors import BadHierarchy
from shoal.hierarchies.base import Hierarchy
from shoal.hierarchies.groups import Groups
from tests.strategies import examples, hierarchies

JOBS = Groups.of(Hierarchy.flat().tree(["baker", "cook", "doctor", "nurse", "pope"]))


def rows(groups: Groups) -> dict[str, list[str]]:
    """What is above each value."""
    tree = groups.hierarchy().tree()
    found = {}
    for node in range(1, tree.size):
        if tree.end[node] == node + 1:
            way, up = [], node
            while up:
                up = int(tree.parent[up])
                way.append(tree.labels[up])
            found[tree.labels[node]] = way
    return found


def test_groups_are_made_joined_nested_and_dissolved() -> None:
    groups = JOBS.together(["nurse", "doctor"], " health ").together(["cook", "baker"], "food")
    assert rows(groups)["nurse"] == ["health", "*"]
    assert groups.ungrouped == ["pope"]
    nested = groups.together(["health", "food"], "services")
    assert rows(nested)["cook"] == ["food", "services", "*"]
    moved = nested.together(["nurse"], "food")
    assert rows(moved)["nurse"] == ["food", "services", "*"]
    assert rows(nested.apart(["services"])) == rows(groups)
    assert rows(nested.apart(["services", "food", "cook"]))["cook"] == ["*"]
    assert rows(nested.apart(["cook"]))["cook"] == ["services", "*"]
    assert rows(nested.to_root(["cook"]))["cook"] == ["*"]
    assert rows(nested.renamed("food", "kitchen"))["cook"] == ["kitchen", "services", "*"]


def test_a_new_group_of_members_of_a_group_is_inside_of_it() -> None:
    groups = JOBS.together(["nurse", "doctor", "cook"], "services").together(
        ["nurse", "doctor"], "health"
    )
    assert rows(groups)["nurse"] == ["health", "services", "*"]
    mixed = groups.together(["nurse", "pope"], "white")
    assert rows(mixed)["nurse"] == ["white", "*"]


def test_a_group_without_members_is_gone() -> None:
    groups = JOBS.together(["nurse"], "health").together(["health"], "services")
    left = groups.together(["pope"], "church").together(["nurse"], "church")
    assert rows(left)["nurse"] == rows(left)["pope"] == ["church", "*"]
    assert not any(map(left.is_group, ("health", "services")))
    assert not any(map(groups.to_root(["nurse"]).is_group, ("health", "services")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g.together([], "x"), "select at least one"),
        (lambda g: g.together(["king"], "x"), "no values or groups 'king'"),
        (lambda g: g.together(["cook"], "  "), "needs a name"),
        (lambda g: g.together(["cook"], "x" * 201), "needs a name"),
        (lambda g: g.together(["cook"], "\ud800"), "needs a name"),
        (lambda g: g.together(["cook"], "pope"), "'pope' is there already"),
        (lambda g: g.together(["cook"], "*"), "is there already"),
        (lambda g: g.together(["health"], "health"), "cannot be put into itself"),
        (
            lambda g: g.together(["health"], "a").together(["a"], "health"),
            "cannot be put into itself",
        ),
        (lambda g: g.renamed("cook", "chef"), "is a value"),
        (lambda g: g.renamed("health", "cook"), "is there already"),
    ],
)
def test_what_cannot_be_done(change, message: str) -> None:
    with pytest.raises(BadHierarchy, match=message):
        change(JOBS.together(["nurse", "doctor"], "health"))


def test_values_that_a_hierarchy_lacks_are_in_no_group() -> None:
    groups = JOBS.together(["nurse"], "health").with_values(["nurse", "smith", "health", "smith"])
    assert rows(groups)["smith"] == ["*"]
    assert rows(groups)["nurse"] == ["health", "*"]
    ages = Groups.of(Hierarchy.from_levels([["17", "young", "*"]]).tree())
    assert ages.with_values(["17.0", "18"]).values == {"17", "18"}


def test_missing_values_are_no_values() -> None:
    tree = Hierarchy.flat().tree(["a", "b"]).with_missing(["?"])
    assert Groups.of(tree).values == {"a", "b"}


@settings(max_examples=examples(100))
@given(hierarchy=hierarchies(), data=st.data())
def test_any_steps_keep_all_values_in_a_tree(hierarchy: Hierarchy, data: st.DataObject) -> None:
    groups = Groups.of(hierarchy.tree())
    again = groups.hierarchy().tree()
    if groups.above:
        assert set(again.labels) == set(hierarchy.tree().labels)
    values = groups.values
    for step in range(data.draw(st.integers(0, 6))):
        if not groups.above:
            return
        some = data.draw(st.lists(st.sampled_from(sorted(groups.above)), min_size=1))
        known = [one for one in groups.above if groups.is_group(one)]
        name = data.draw(st.sampled_from([*known, f"new {step}"]))
        kind = data.draw(st.sampled_from(["together", "apart", "to_root", "renamed"]))
        try:
            if kind == "together":
                groups = groups.together(some, name)
            elif kind == "renamed":
                groups = groups.renamed(some[0], name)
            else:
                groups = getattr(groups, kind)(some)
        except BadHierarchy:
            continue
        assert groups.values == values
        tree = groups.hierarchy().tree()
        assert {tree.labels[v] for v in range(tree.size) if tree.end[v] == v + 1} == values
