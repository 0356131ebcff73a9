"""Attackers who know different columns: every requirement holds for each of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.base.errors import NotHeld
from shoal.losses.nllm import NLLM
from shoal.measures.bounds.key_set_bound import lower_bound_for
from tests.random_tables import random_table
from tests.strategies import examples

NAMES = ["age", "sex", "zip", "job"]
COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
    "sex": {"role": "quasi"},
    "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
    "job": {"role": "quasi"},
    "ill": {"role": "sensitive"},
}
SETS = [
    [["age", "sex"], ["zip", "job"]],  # disjoint
    [["age", "sex", "zip"], ["sex", "job"]],  # a column in common
    [["age", "sex"], ["sex", "zip"], ["zip", "job"]],  # a chain
    [["age", "sex"], ["sex", "zip"], ["age", "zip"], ["job"]],  # a circle
    [NAMES, ["age", "job"]],  # one knows them all
]


def people(seed, rows=160):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "zip": [str(47600 + x) for x in rng.integers(0, 40, rows)],
            "job": rng.choice(list("abcdef"), rows),
            "ill": rng.choice(["flu", "cold", "none"], rows, p=[0.6, 0.3, 0.1]),
        }
    )


def worst(frame, knows):
    """The fewest records, and the fewest different illnesses, of records that look the same."""
    rows = frame.to_pylist()
    seen = defaultdict(list)
    for row in rows:
        seen[tuple(row[name] for name in knows)].append(row["ill"])
    return min(map(len, seen.values())), min(len(set(ills)) for ills in seen.values())


@pytest.mark.parametrize("sets", SETS, ids=str)
@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian", "full-domain", "k-member"])
def test_each_attacker_sees_large_and_diverse_classes(algorithm, sets):
    table = people(len(sets))
    models = [
        {"name": "k-anonymity", "k": 4},
        {"name": "distinct-l-diversity", "column": "ill", "l": 2},
    ]
    plan = Plan(
        columns=COLUMNS,
        models=models,
        algorithm=algorithm,
        attackers=[{"knows": one} for one in sets],
        seed=1,
    )
    release = shoal.anonymize(table, plan)
    found = [worst(release.frame, knows) for knows in sets]
    assert min(size for size, _ in found) == release.checks[0].reached >= 4
    assert min(ills for _, ills in found) == release.checks[1].reached >= 2
    by_name = dict(zip([one.title for one in plan.attackers], found, strict=True))
    assert {name: one.smallest_class for name, one in release.attackers.items()} == {
        name: size for name, (size, _) in by_name.items()
    }
    # Never worse than for an attacker who knows all columns.
    alone = shoal.anonymize(table, plan.changed(attackers=[]))
    assert release.losses["nllm"] <= alone.losses["nllm"] + 1e-9
    audit = shoal.audit(release.frame, plan, original=table)
    assert audit.holds
    assert [check.reached for check in audit.checks] == [c.reached for c in release.checks]


def test_different_attackers_lose_less_than_one_who_knows_all():
    table = people(9, 600)
    plan = Plan(columns=COLUMNS, models=[{"name": "k-anonymity", "k": 5}], seed=1)
    alone = shoal.anonymize(table, plan)
    for sets in SETS[:3]:
        several = shoal.anonymize(table, plan.changed(attackers=[{"knows": one} for one in sets]))
        assert several.losses["nllm"] < 0.8 * alone.losses["nllm"]
        assert several.bound.percent <= several.losses["nllm"]


def test_the_order_of_rows_does_not_matter():
    table = people(3)
    mixed = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    plan = Plan(
        columns=COLUMNS,
        models=[{"name": "k-anonymity", "k": 4}],
        attackers=[{"knows": one} for one in SETS[1]],
        seed=1,
    )
    one, other = (shoal.anonymize(each, plan).frame for each in (table, mixed))
    assert Counter(map(str, one.to_pylist())) == Counter(map(str, other.to_pylist()))


def test_the_report_shows_each_attacker(tmp_path):
    plan = Plan(
        columns=COLUMNS,
        models=[{"name": "k-anonymity", "k": 4}],
        attackers=[{"knows": SETS[1][0], "who": "employer"}, {"knows": SETS[1][1]}],
        seed=1,
    )
    release = shoal.anonymize(people(3), plan)
    release.report(tmp_path / "report.html", explain=False)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "employer" in page
    assert "who knows sex and job" in page
    assert "who put together what they know" in page
    assert set(release.as_dict()["attackers"]) == {"employer", "who knows sex and job"}


def test_people_with_several_records():
    table = people(5)
    who = np.random.default_rng(2).integers(0, 90, table.num_rows)
    table = table.append_column("who", pa.array(who))
    plan = Plan(
        columns={**COLUMNS, "who": "person"},
        models=[{"name": "k-anonymity", "k": 3}],
        attackers=[{"knows": one} for one in SETS[1]],
        seed=1,
    )
    frame = shoal.anonymize(table, plan).frame.to_pylist()
    for knows in SETS[1]:
        seen = defaultdict(set)
        for row in frame:
            seen[tuple(row[name] for name in knows)].add(row["who"])
        assert min(map(len, seen.values())) >= 3


def test_a_table_that_violates_a_requirement_for_one_attacker_is_not_accepted():
    frame = pa.table({"a": ["x", "x", "y", "y"], "b": ["1", "1", "1", "2"]})
    plan = Plan(
        columns={"a": "quasi", "b": "quasi"},
        models=[{"name": "k-anonymity", "k": 2}],
        attackers=[{"knows": ["a"]}, {"knows": ["b"], "who": "employer"}],
    )
    audit = shoal.audit(frame, plan)
    assert not audit.holds
    assert audit.checks[0].attacker == "employer"
    from shoal.io.frames import open_frame
    from shoal.measures.verify import verify
    from shoal.table.published_table import read_published

    with pytest.raises(NotHeld, match="reaches 1 for the attacker 'employer'"):
        verify(read_published(open_frame(frame), plan.columns), plan.models, None, plan.attackers)


def chains(tree, node):
    """A node and all above it."""
    found = [node]
    while found[-1] != 0:
        found.append(int(tree.parent[found[-1]]))
    return found


@pytest.mark.parametrize("seed", range(examples(40)))
def test_the_bound_is_below_every_release(seed):
    """All releases of a tiny table are tried: every cell as any value that covers it."""
    rng = np.random.default_rng(seed)
    while True:
        table = random_table(rng, most_rows=4, most_columns=3, least_rows=3)
        ways = [
            [chains(tree, int(node)) for tree, node in zip(table.trees, row, strict=True)]
            for row in table.codes
        ]
        many = np.prod([[float(len(one)) for one in row] for row in ways])
        if table.people is None and len(table.names) > 1 and 1 < many <= 20_000:
            break
    columns = range(len(table.names))
    sets = [[0, 1], [1, 2]] if len(columns) == 3 else [[0], [1]]
    costs = NLLM().costs(table.domains)
    possible = sum(float(costs[j][row[j]]) for row in table.codes for j in columns)
    best = np.inf
    for cells in product(*(product(*row) for row in ways)):
        if all(
            min(Counter(tuple(row[j] for j in one) for row in cells).values()) >= 2 for one in sets
        ):
            kept = sum(float(costs[j][row[j]]) for row in cells for j in columns)
            best = min(best, 100.0 * (possible - kept) / possible if possible else 0.0)
    known = [[table.names[j] for j in one] for one in sets]
    bound = lower_bound_for(table, 2, NLLM(), known=known)
    assert bound.percent is None or bound.percent <= best + 1e-9
