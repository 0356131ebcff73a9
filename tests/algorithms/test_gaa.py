"""GAA: the indexed search merges what a plain scan would, to the tie."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import catalog
from shoal.algorithms.gaa import GAA
from shoal.base.errors import BadPlan, CannotReach
from shoal.hierarchies.base import Hierarchy
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.losses.nllm import NLLM
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.table.encode import Table
from shoal.table.sensitive import Sensitive
from tests.naive.gaa import gaa
from tests.strategies import examples, tables

SEED = 7


def recode(table, k, loss=None, models=(), **options):
    rng = np.random.default_rng(SEED)
    models = [*models, KAnonymity(k=k)] if k else models
    return GAA(**options).recode(table, models, loss or NLLM(), rng)


def drawn(table):
    """The turns that an arbitrary start draws: twice as many as there are classes."""
    return np.random.default_rng(SEED).permutation(2 * len(table.tally(False))).tolist()


@settings(max_examples=examples(250))
@given(
    table=tables(persons=True),
    k=st.integers(2, 6),
    weight=st.sampled_from(["size", "unit"]),
    candidates=st.sampled_from(["all", "small"]),
    loss=st.sampled_from(sorted(set(catalog.losses) - {"weights"})),
    start=st.sampled_from(["smallest", "first", "arbitrary"]),
)
def test_equals_the_plain_scan(table, k, weight, candidates, loss, start):
    guide = catalog.losses[loss]()
    if table.person_count < k:
        with pytest.raises(CannotReach) as error:
            recode(table, k, guide, weight=weight, candidates=candidates)
        assert error.value.best == table.person_count
        return
    options = {"weight": weight, "candidates": candidates, "start": start}
    recoding = recode(table, k, guide, **options)
    costs = exact_costs(guide, table.domains, table.rows)
    draws = drawn(table) if start == "arbitrary" else ()
    expected = gaa(table.codes, table.trees, costs, k, people=table.people, draws=draws, **options)
    assert [tuple(row) for row in recoding.codes().tolist()] == expected


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_plain_scan_on_larger_tables(seed):
    """Hundreds of classes: the index splits, grows, frees and reuses its nodes."""
    rng = np.random.default_rng(seed)
    shapes = [
        Hierarchy.ranges([2, 4, 8]).tree(range(25)),
        Hierarchy.from_tree({"top": {"A": {"B": ["c", "d"], "e": None}, "f": None}}).tree(),
        Hierarchy.prefixes().tree([f"{i:03}" for i in range(0, 1000, 7)]),
        Hierarchy.flat().tree("wxyz"),
    ]
    leaves = [np.flatnonzero(t.end == np.arange(t.size) + 1) for t in shapes]
    codes = np.stack([rng.choice(leaf, 260) for leaf in leaves], axis=1).astype(np.int32)
    people = None
    if seed % 2:
        people = np.unique(rng.integers(0, 200, 260), return_inverse=True)[1]
    table = Table(("a", "b", "c", "d"), tuple(shapes), codes, people, (True,) * 4)
    for weight in ("size", "unit"):
        for candidates in ("all", "small"):
            options = {"weight": weight, "candidates": candidates}
            got = recode(table, 2 + seed, NCP(), **options).codes()
            costs = exact_costs(NCP(), table.domains, table.rows)
            expected = gaa(codes, shapes, costs, 2 + seed, weight, candidates, people)
            assert [tuple(row) for row in got.tolist()] == expected


def test_table_one_of_mauger_2023():
    """The eight animals of table 1a become two classes of four, at less loss than table 1b."""
    gender = Hierarchy.flat().tree("FM")
    race = Hierarchy.from_tree({"Mammal": {"Felid": ["Cat", "Lion"], "Dog": None}}).tree()
    rows = "F Lion,F Dog,F Lion,F Dog,M Cat,M Cat,M Lion,M Lion".split(",")
    codes = np.array(
        [[gender.node(g), race.node(r)] for g, r in (row.split() for row in rows)], np.int32
    )
    table = Table(("gender", "race"), (gender, race), codes, None, (True, True))
    published = recode(table, 4, weight="unit").codes()
    labels = [(gender.labels[g], race.labels[r]) for g, r in published.tolist()]
    # By hand: F Lion costs 2/3 twice with F Dog, 3/4 twice with M Lion, and so on.
    assert labels == [("F", "Mammal")] * 4 + [("M", "Felid")] * 4


def test_people_count_and_not_rows():
    """Five records of one person are no class of five people."""
    tree = Hierarchy.flat().tree("ab")
    codes = np.full((7, 1), tree.node("a"), np.int32)
    codes[5:] = tree.node("b")
    one = Table(("q",), (tree,), codes, np.array([0, 0, 0, 0, 0, 1, 2]), (True,))
    assert set(recode(one, 2).codes().ravel().tolist()) == {0}
    each = Table(("q",), (tree,), codes, None, (True,))
    assert len(set(recode(each, 2).codes().ravel().tolist())) == 2


def test_k_above_the_people_cannot_be_reached():
    tree = Hierarchy.flat().tree("ab")
    table = Table(("q",), (tree,), np.array([[1], [2], [2]], np.int32), None, (True,))
    with pytest.raises(CannotReach, match="the best k possible is 3"):
        recode(table, 4)


def test_options_are_checked():
    with pytest.raises(BadPlan, match="no option 'wieght'; did you mean 'weight'"):
        GAA(wieght="size")
    with pytest.raises(BadPlan, match="candidates='some'"):
        GAA(candidates="some")


def with_secret(table, secret):
    """The same table with a sensitive column."""
    values, codes = np.unique(secret, return_inverse=True)
    column = Sensitive("s", codes.astype(np.int32), tuple(int(v) for v in values))
    return Table(table.names, table.trees, table.codes, table.people, table.exact, (column,))


BY_K = ["cost-then-k", "k-then-cost", "cost-per-k"]
STRATEGIES = [f"S{i}" for i in range(1, 8)] + ["l-diversity", "t-closeness", *BY_K]


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=examples(60))
@given(
    table=tables(),
    data=st.data(),
    k=st.integers(2, 5),
    weight=st.sampled_from(["size", "unit"]),
    candidates=st.sampled_from(["all", "small"]),
    scope=st.sampled_from(["table", "class"]),
)
def test_strategies_equal_the_plain_scan(strategy, table, data, k, weight, candidates, scope):
    values = st.lists(st.integers(0, 3), min_size=table.rows, max_size=table.rows)
    secret = data.draw(values)
    table = with_secret(table, secret)
    if table.person_count < k:
        return
    options = {"weight": weight, "candidates": candidates, "strategy": strategy, "scope": scope}
    recoding = recode(table, k, NCP(), **options)
    costs = exact_costs(NCP(), table.domains, table.rows)
    expected = gaa(table.codes, table.trees, costs, k, secret=secret, **options)
    assert [tuple(row) for row in recoding.codes().tolist()] == expected


@pytest.mark.parametrize("strategy", BY_K)
@settings(max_examples=examples(60))
@given(
    table=tables(persons=True),
    data=st.data(),
    many=st.integers(2, 3),
    start=st.sampled_from(["smallest", "first", "arbitrary"]),
    scope=st.sampled_from(["table", "class"]),
)
def test_the_highest_k_under_l_diversity_equals_the_plain_scan(
    strategy, table, data, many, start, scope
):
    """Only several values in every class are required; k counts people."""
    secret = data.draw(st.lists(st.integers(0, 3), min_size=table.rows, max_size=table.rows))
    if len(set(secret)) < many:
        return
    table = with_secret(table, secret)
    model = DistinctLDiversity(column="s", l=many)
    options = {"strategy": strategy, "start": start, "scope": scope}
    recoding = recode(table, 0, NCP(), [model], **options)
    expected = gaa(
        table.codes, table.trees, exact_costs(NCP(), table.domains, table.rows), 1,
        people=table.people, secret=secret, draws=drawn(table),
        passes=lambda members: len({secret[i] for i in members}) >= many, **options,
    )  # fmt: skip
    assert [tuple(row) for row in recoding.codes().tolist()] == expected


def test_the_highest_k_merges_the_only_smallest_class():
    """By hand: only a (two people, one value) fails. b (four) is nearer, c (two) is smaller."""
    tree = Hierarchy.from_tree({"*": {"near": ["a", "b"], "c": None}}).tree()
    codes = np.array([[tree.node(v)] for v in "aabbbbcc"], np.int32)
    table = with_secret(Table(("q",), (tree,), codes, None, (True,)), [0, 0, 1, 2, 1, 2, 0, 1])
    sizes = {}
    for strategy in ("S1", *BY_K):
        model = DistinctLDiversity(column="s", l=2)
        published = recode(table, 0, models=[model], strategy=strategy).codes().ravel()
        sizes[strategy] = sorted(np.unique(published, return_counts=True)[1].tolist())
    # By nllm a with b costs 3 and leaves k = 2, a with c costs 4 and leaves k = 4.
    assert sizes == {
        "S1": [2, 6],
        "cost-then-k": [2, 6],
        "k-then-cost": [4, 4],
        "cost-per-k": [4, 4],
    }


def test_the_first_class_grows_until_it_fails_no_more():
    """By hand: b is the smallest and nearest to c; a is the first, and b its first partner."""
    tree = Hierarchy.from_tree({"*": {"near": ["b", "c"], "a": None}}).tree()
    codes = np.array([[tree.node(v)] for v in "aabccc"], np.int32)
    table = Table(("q",), (tree,), codes, None, (True,))
    labels = {
        start: [
            tree.labels[v]
            for v in recode(table, 3, weight="unit", start=start).codes().ravel().tolist()
        ]
        for start in ("smallest", "first")
    }
    assert labels == {"smallest": ["*"] * 6, "first": ["*"] * 3 + ["c"] * 3}


def test_an_arbitrary_start_follows_the_seed():
    tree = Hierarchy.flat().tree("ab")
    wide = Hierarchy.ranges([4, 8]).tree(range(64))
    rng = np.random.default_rng(1)
    codes = np.stack(
        [
            rng.integers(1, 3, 80),
            rng.choice(np.flatnonzero(wide.end == np.arange(wide.size) + 1), 80),
        ],
        axis=1,
    ).astype(np.int32)
    table = Table(("s", "v"), (tree, wide), codes, None, (True, True))
    algorithm = GAA(start="arbitrary")
    found = [
        algorithm.recode(table, [KAnonymity(k=4)], NLLM(), np.random.default_rng(seed)).codes()
        for seed in (1, 1, 2)
    ]
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()
    assert algorithm.has_random_choices
    assert not GAA(start="first").has_random_choices


def test_free_values_allow_one_start_only():
    with pytest.raises(BadPlan, match="smallest class as the start"):
        shoal.anonymize(
            pa.table({"age": [30, 31, 32, 40]}),
            shoal.Plan(
                columns={"age": {"role": "quasi", "hierarchy": {"free_ranges": True}}},
                models=[{"name": "k-anonymity", "k": 2}],
                algorithm={"name": "gaa", "start": "first"},
            ),
        )


def test_a_partner_above_is_found_too():
    """A group hardly narrower than the root: rising past it may cost less than joining below."""
    wide = Hierarchy.from_tree({"*": {"A": [f"a{i}" for i in range(10)], "b": None}}).tree()
    flat = Hierarchy.flat().tree("xy")
    rows = [("y", "a8"), ("y", "b"), ("x", "A"), ("*", "a4")]
    codes = np.array([[flat.node(s), wide.node(v)] for s, v in rows], np.int32)
    table = Table(("s", "v"), (flat, wide), codes, None, (True, True))
    got = recode(table, 2, NCP(), weight="unit").codes()
    costs = exact_costs(NCP(), table.domains, table.rows)
    assert [tuple(r) for r in got.tolist()] == gaa(codes, table.trees, costs, 2, "unit")


@pytest.mark.parametrize("seed", range(12))
def test_large_groups_under_a_hardly_larger_root(seed):
    rng = np.random.default_rng(seed)
    wide = Hierarchy.from_tree({"*": {"A": [f"a{i}" for i in range(10)], "b": None}}).tree()
    trees = (wide, Hierarchy.flat().tree("xyz"), wide)
    for _ in range(25):
        codes = np.stack([rng.integers(0, t.size, 9) for t in trees], axis=1).astype(np.int32)
        table = Table(("a", "b", "c"), trees, codes, None, (True,) * 3)
        weight = rng.choice(["unit", "size"]).item()
        loss = catalog.losses[rng.choice(["ncp", "lm", "llm", "wnllm"]).item()]()
        got = recode(table, 3, loss, weight=weight).codes()
        costs = exact_costs(loss, table.domains, table.rows)
        assert [tuple(r) for r in got.tolist()] == gaa(codes, trees, costs, 3, weight)
