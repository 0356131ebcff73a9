"""What is compared row by row, value by value and class by class, with plain loops as twins."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Hierarchy
from shoal.flow.release import Release
from shoal.hierarchies.tree import Tree
from shoal.measures.breakdowns.cell_losses import cell_losses
from shoal.measures.breakdowns.distributions import Distribution, distributions
from shoal.measures.breakdowns.lossy_classes import class_numbers, lossy_classes

JOBS = {"*": {"care": ["nurse", "doctor"], "office": ["clerk", "boss"], "none": None}}


def made(seed: int, **changed: Any) -> Release:
    random = Random(seed)
    rows = 60
    frame = pa.table(
        {
            "age": [random.randrange(20, 50) for _ in range(rows)],
            "job": random.choices(["nurse", "doctor", "clerk", "boss", "none"], [9, 3, 3, 2, 1],
                                  k=rows),
            "town": random.choices(["a", "b", "c", None], [5, 3, 2, 1], k=rows),
            "ill": random.choices(["flu", "gout", None], [6, 3, 1], k=rows),
        }
    )  # fmt: skip
    plan: dict[str, Any] = {
        "columns": {
            "age": {"role": "quasi", "hierarchy": Hierarchy.ranges([5, 10])},
            "job": {"role": "quasi", "hierarchy": Hierarchy.from_tree(JOBS)},
            "town": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        "models": [{"name": "k-anonymity", "k": 4}],
        "seed": seed,
    }
    return shoal.anonymize(frame, {**plan, **changed})


def free(seed: int) -> Release:
    columns = {
        "age": {"role": "quasi", "hierarchy": Hierarchy.free_ranges()},
        "job": {"role": "quasi", "hierarchy": Hierarchy.free_sets()},
        "town": {"role": "quasi"},
        "ill": {"role": "sensitive"},
    }
    return made(seed, columns=columns)


def full_domain(seed: int) -> Release:
    return made(seed, algorithm={"name": "full-domain", "suppression": 0.3})


RELEASES = [(made, 1), (made, 2), (free, 3), (full_domain, 4), (full_domain, 5)]


@pytest.fixture(params=RELEASES, ids=lambda one: f"{one[0].__name__}-{one[1]}")
def release(request: pytest.FixtureRequest) -> Release:
    make, seed = request.param
    return make(seed)


def originals(release: Release) -> list[dict[str, Any]]:
    assert release.tables is not None
    assert release.tables.before is not None
    return release.tables.before.native.to_pylist()


def became(release: Release) -> list[dict[str, Any] | None]:
    """What was published of each row of the original; None: it is suppressed."""
    assert release.tables is not None
    assert release.tables.taken is not None
    rows = release.frame.to_pylist()
    found: list[dict[str, Any] | None] = [None] * len(originals(release))
    for place, row in zip(release.tables.taken.tolist(), rows, strict=True):
        found[place] = row
    return found


def test_rows_of_the_release_lead_back_to_those_of_the_original(release: Release) -> None:
    published = became(release)
    assert sum(one is None for one in published) == release.suppressed
    for before, after in zip(originals(release), published, strict=True):
        assert after is None or after["ill"] == before["ill"]


def test_cells_lose_what_explanations_say(release: Release) -> None:
    assert release.explainer is not None
    assert release.tables is not None
    assert release.tables.recoding is not None
    table = release.explainer.table
    lost = cell_losses(table, release.tables.recoding, release.plan.loss)
    published = became(release)
    for row, (before, after) in enumerate(zip(originals(release), published, strict=True)):
        assert 100 * lost.records[row] == pytest.approx(release.explain(row).loss, abs=1e-4)
        for j, name in enumerate(table.names):
            share = lost.columns[j][row]
            if after is None or after[name] == "*":
                assert share == pytest.approx(1)
            else:
                assert (share == 0) == (str(after[name]) == str(before[name]))
                assert 0 <= share <= 1


def below(tree: Tree, node: int) -> list[int]:
    """The leaves below a node, found by walking up from each of them."""
    inner = set(tree.parent.tolist())
    found = []
    for leaf in range(tree.size):
        if leaf in inner or tree.labels[leaf] is None:
            continue
        at = leaf
        while at not in (node, 0):
            at = int(tree.parent[at])
        if at == node:
            found.append(leaf)
    return found


def naive_counts(release: Release, name: str) -> tuple[dict[Any, float], dict[Any, float], float]:
    """Exact and expected records per original value, and how many say nothing any more."""
    assert release.explainer is not None
    table = release.explainer.table
    tree: Any = table.trees[table.names.index(name)]
    published = [None if row is None else row[name] for row in became(release)]
    suppressed = [row is None for row in became(release)]
    labels = [None if one is None else str(one) for one in published]
    leaves = {tree.labels[leaf] for leaf in below(tree, 0)}
    exact = Counter(label for label in labels if label in leaves)
    spread: dict[Any, float] = defaultdict(float)
    hidden = 0.0
    own = [row[name] for row in originals(release)]
    for label, gone, had in zip(labels, suppressed, own, strict=True):
        if gone or label in ("*", tree.labels[0]):
            hidden += had is not None  # otherwise there was nothing to hide
        elif label is not None and label not in leaves:
            node = tree.node(label)
            inside = below(tree, node) if node >= 0 else tree.members(tree.cover(label)).tolist()
            names = [tree.labels[leaf] for leaf in inside]
            weights = [exact[one] for one in names]
            if not any(weights):
                weights = [1] * len(names)
            for one, weight in zip(names, weights, strict=True):
                spread[one] += weight / sum(weights)
    return exact, spread, hidden


def test_distributions(release: Release) -> None:
    assert release.tables is not None
    found = {one.column: one for one in distributions(release.tables)}
    assert list(found) == ["age", "job", "town", "ill"]
    for name in ("job", "town"):
        one = found[name]
        exact, spread, hidden = naive_counts(release, name)
        before = Counter(row[name] for row in originals(release) if row[name] is not None)
        assert dict(zip(one.labels, one.before, strict=True)) == before
        for label, sure, perhaps in zip(one.labels, one.exact, one.general, strict=True):
            assert sure == exact[label]
            assert perhaps == pytest.approx(spread[label])
        assert one.hidden == pytest.approx(hidden)
        assert (one.is_range, one.rest) == (False, 0)
    age: Distribution = found["age"]
    exact, spread, hidden = naive_counts(release, "age")
    assert age.is_range
    assert sum(age.before) == len(originals(release))
    assert sum(age.exact) == sum(exact.values())
    assert sum(age.general) == pytest.approx(sum(spread.values()))
    assert sum(age.exact) + sum(age.general) + age.hidden == pytest.approx(60)
    ill = found["ill"]
    after = Counter(row["ill"] or "(missing)" for row in became(release) if row is not None)
    assert dict(zip(ill.labels, ill.exact, strict=True)) == {
        **dict.fromkeys(ill.labels, 0),
        **after,
    }


def test_many_values_are_not_all_drawn() -> None:
    frame = pa.table({"code": [f"x{i % 30}" for i in range(300)], "age": list(range(300))})
    plan = {"columns": {"code": "quasi", "age": "drop"},
            "models": [{"name": "k-anonymity", "k": 2}], "seed": 1}  # fmt: skip
    release = shoal.anonymize(frame, plan)
    assert release.tables is not None
    (one,) = distributions(release.tables)
    assert (len(one.labels), one.rest) == (12, 18)


def test_the_classes_that_lose_most(release: Release) -> None:
    assert release.tables is not None
    assert release.tables.recoding is not None
    assert release.tables.taken is not None
    assert release.explainer is not None
    names = release.explainer.table.names
    records = cell_losses(
        release.explainer.table, release.tables.recoding, release.plan.loss
    ).records[release.tables.taken]
    classes: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    rows = release.frame.to_pylist()
    for place, row in enumerate(rows):
        classes[tuple(None if row[n] is None else str(row[n]) for n in names)].append(place)
    found = lossy_classes(release.seen, records, most=1000)
    assert len(found) == len(classes)
    for one in found:
        mine = classes[tuple(one.published.values())]
        assert (one.records, one.people) == (len(mine), len(mine))
        assert one.loss == pytest.approx(100 * float(np.mean(records[mine])), rel=1e-5)
        value, share = one.surest["ill"]
        often = Counter(rows[place]["ill"] for place in mine)
        assert often[value] == max(often.values())
        assert share == pytest.approx(100 * often[value] / len(mine))
    assert [one.loss for one in found] == sorted((one.loss for one in found), reverse=True)
    # Classes are counted from the smallest one.
    by_number = sorted(found, key=lambda one: one.number)
    assert [one.number for one in by_number] == list(range(1, len(found) + 1))
    assert [one.people for one in by_number] == sorted(one.people for one in found)
    assert sorted(class_numbers(release.seen).tolist()) == [one.number for one in by_number]


def test_ranges_of_dates_are_months() -> None:
    days = [f"{2010 + i % 9}-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(80)]
    release = shoal.anonymize(
        pa.table({"day": days}),
        {
            "columns": {"day": {"role": "quasi", "hierarchy": Hierarchy.dates(["month", "year"])}},
            "models": [{"name": "k-anonymity", "k": 4}],
        },
    )
    assert release.tables is not None
    (found,) = distributions(release.tables)
    assert found.is_range
    assert found.labels[0].startswith(min(days)[:7])
    assert found.labels[-1].endswith(max(days)[:7])
