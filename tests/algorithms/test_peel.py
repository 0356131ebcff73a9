"""Peeling: the bounded search takes the cells that a look at all of them would."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import Plan, catalog
from shoal.algorithms._shared.clusters import closures
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.algorithms._shared.peeling.search import merge_rest
from shoal.algorithms._shared.repair import Repair
from shoal.algorithms._shared.requirements import check_reachable
from shoal.algorithms._shared.sensitive_merge import diversify
from shoal.algorithms.peel import Peel
from shoal.base.errors import BadPlan, CannotReach
from shoal.base.progress import silent
from shoal.hierarchies.base import Hierarchy
from shoal.io.frames import open_frame
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.losses.nllm import NLLM
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.table.encode import Table, encode
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import Recoding, check_covers
from shoal.table.sensitive import Sensitive
from tests.naive.peel import peel
from tests.strategies import examples, tables

RNG = np.random.default_rng(0)


def recode(table, k, loss=None, **options):
    return Peel(**options).recode(table, [KAnonymity(k=k)], loss or NLLM(), RNG)


@settings(max_examples=examples(150))
@given(
    table=tables(persons=True, most_rows=12, most_columns=3),
    k=st.integers(2, 5),
    loss=st.sampled_from(sorted(set(catalog.losses) - {"weights", "auto"})),
    lend=st.booleans(),
)
def test_equals_a_search_of_all_cells(table, k, loss, lend):
    guide = catalog.losses[loss]()
    if table.person_count < k:
        with pytest.raises(CannotReach):
            recode(table, k, guide)
        return
    costs = exact_costs(guide, table.domains, table.rows)
    order = PeelingProblem(table, k, costs, silent).layout.order.tolist()
    expected = peel(table.codes, table.trees, costs, k, order, table.people, lend)
    got = recode(table, k, guide, passes=0, lend=lend).codes()
    assert [tuple(row) for row in got.tolist()] == expected


@settings(max_examples=examples(60))
@given(
    table=tables(persons=True, sensitive=True),
    k=st.integers(2, 4),
    t=st.sampled_from([0.2, 0.4]),
)
def test_satisfies_other_models(table, k, t):
    models = [KAnonymity(k=k), TCloseness(column="s", t=t), DistinctLDiversity(column="s", l=2)]
    try:
        recoding = Peel().recode(table, models, NCP(), RNG)
    except CannotReach:
        return
    check_covers(table, recoding)
    classes = tally(recoding.codes(), table.people, table.sensitive)
    assert all(model.check(classes).holds for model in models)


def lost(table, loss, recoding):
    costs = exact_costs(loss, table.domains, table.rows)
    published = recoding.codes()
    return sum(int((c[table.codes[:, j]] - c[published[:, j]]).sum()) for j, c in enumerate(costs))


def test_exchange_does_not_dissolve_what_is_better_merged():
    """Two tuples that are left alone lose less as a class of their own than in the first one."""
    rows = [("a", "x")] * 4 + [("b", "x")] * 2 + [("c", "x")] + [("f", "x")] * 2
    rows += [("f", "y"), ("g", "y")]
    tree = {"*": {"a": None, "b": None, "c": None, "fg": {"f": None, "g": None}, "d": None}}
    given = pa.table({"q": [one for one, _ in rows], "r": [other for _, other in rows]})
    flat = Hierarchy.from_tree({"*": {"x": None, "y": None, "z": None, "w": None}})
    columns = {"q": {"role": "quasi", "hierarchy": Hierarchy.from_tree(tree)},
               "r": {"role": "quasi", "hierarchy": flat}}  # fmt: skip
    table = encode(open_frame(given), Plan(columns=columns).columns)
    plain, swapped = recode(table, 3, NCP(), passes=0), recode(table, 3, NCP())
    assert lost(table, NCP(), swapped) <= lost(table, NCP(), plain)


@settings(max_examples=examples(100))
@given(table=tables(persons=True, most_rows=24), k=st.integers(2, 5))
def test_exchange_never_loses_more(table, k):
    if table.person_count < k:
        return
    plain, swapped = recode(table, k, NCP(), passes=0), recode(table, k, NCP())
    check_covers(table, swapped)
    assert tally(swapped.codes(), table.people).smallest >= k
    assert lost(table, NCP(), swapped) <= lost(table, NCP(), plain)


@pytest.mark.parametrize("seed", range(4))
def test_exchange_gains_on_larger_tables(seed):
    """Hundreds of classes: tuples move, classes go, the index grows."""
    table = larger_table(seed)
    plain, swapped = recode(table, 3, passes=0), recode(table, 3, passes=3)
    check_covers(table, swapped)
    assert tally(swapped.codes(), table.people).smallest >= 3
    assert lost(table, NLLM(), swapped) < lost(table, NLLM(), plain)


def test_passes_are_checked():
    with pytest.raises(BadPlan, match="passes of 0 or more"):
        Peel(passes=-1)


MODELS = [
    [DistinctLDiversity(column="s", l=2)],
    [TCloseness(column="s", t=0.3)],
    [EntropyLDiversity(column="s", l=1.8)],
    [DistinctLDiversity(column="s", l=2), TCloseness(column="s", t=0.4)],
]


@settings(max_examples=examples(100))
@given(
    table=tables(persons=True, sensitive=True, most_rows=24),
    k=st.integers(1, 4),
    models=st.sampled_from(MODELS),
)
def test_repair_satisfies_all_models(table, k, models):
    """From single tuples, and whatever the other way to merge would have come to."""
    try:
        check_reachable(table, [KAnonymity(k=max(k, 2)), *models])
    except CannotReach:
        return
    problem = PeelingProblem(table, k, exact_costs(NCP(), table.domains, table.rows), silent)
    start = tally(table.unified, table.people, table.sensitive)
    whole = merge_rest(problem, np.arange(len(problem.start))).record[start.first]
    repair = Repair(problem.layout, problem.lattice.vector, start, models, k, whole)
    label = repair.run(silent)
    for number in np.unique(label):
        inside = np.isin(start.label, np.flatnonzero(label == number))
        c = tally(np.where(inside, 0, 1)[:, None].astype(np.int32), table.people, table.sensitive)
        here = int(c.label[np.flatnonzero(inside)[0]])
        assert c.people[here] >= k
        assert all(model.satisfied(c)[here] for model in models)
    assert_books_agree(repair, problem.layout.shapes, start)


def assert_books_agree(repair, shapes, start):
    """What the classes are said to be after all moves is what their tuples make of them."""
    label, parts = repair.parts.of, repair.parts
    wide = closures(shapes, repair.classes.vector[repair.many :], label)
    assert (repair.classes.vector[label] == wide).all()
    assert (repair.classes.size[label] == np.bincount(label, start.size)[label]).all()
    assert (parts.class_people[label] == np.bincount(label, start.people)[label]).all()
    assert set(repair.alive) == set(label)
    assert not repair.fails[repair.alive].any()


@pytest.mark.parametrize("seed", range(4))
def test_other_models_lose_less_than_with_a_merge(seed):
    """Hundreds of classes: the merge of Tassa 2012 after the same peeling loses no less."""
    table = larger_table(seed)
    models = [KAnonymity(k=3), *MODELS[seed]]
    recoding = Peel().recode(table, models, NLLM(), RNG)
    check_covers(table, recoding)
    classes = tally(recoding.codes(), table.people, table.sensitive)
    assert all(model.check(classes).holds for model in models)
    plain = recode(table, 3)
    start = tally(plain.codes(), table.people, table.sensitive)
    problem = PeelingProblem(table, 3, exact_costs(NLLM(), table.domains, table.rows), silent)
    vectors = plain.codes()[start.first][:, problem.layout.order]
    vectors, into = diversify(start, vectors, problem.layout.trees, MODELS[seed], 0.15, silent)
    merged = Recoding(
        vectors=vectors[:, np.argsort(problem.layout.order)], record=into[start.label]
    )
    assert lost(table, NLLM(), plain) <= lost(table, NLLM(), recoding)
    assert lost(table, NLLM(), recoding) <= lost(table, NLLM(), merged)


def larger_table(seed):
    """Where the sensitive values go with the quasi-identifiers."""
    rng = np.random.default_rng(seed)
    shapes = (
        Hierarchy.ranges([2, 4, 8]).tree(range(40)),
        Hierarchy.prefixes().tree([f"{i:03}" for i in range(0, 1000, 7)]),
        Hierarchy.flat().tree("wxyz"),
    )
    leaves = [np.flatnonzero(t.end == np.arange(t.size) + 1) for t in shapes]
    codes = np.stack([rng.choice(leaf, 1500) for leaf in leaves], axis=1).astype(np.int32)
    people = np.unique(rng.integers(0, 1200, 1500), return_inverse=True)[1] if seed % 2 else None
    values = (codes[:, 0] // 9 + rng.integers(0, 3, 1500)) % 5
    kept = Sensitive.of("s", values.astype(np.int32), list("abcde"))
    return Table(("a", "b", "c"), shapes, codes, people, (True,) * 3, sensitive=(kept,))


@settings(max_examples=examples(40))
@given(
    table=tables(persons=True, sensitive=True, most_rows=24),
    k=st.integers(2, 4),
    diverse=st.booleans(),
    lend=st.booleans(),
)
def test_goes_on_in_pieces_when_looks_are_used_up(table, k, diverse, lend):
    models = [KAnonymity(k=k)]
    if diverse:
        models.append(DistinctLDiversity(column="s", l=2))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"LOOKS": 1, "LOOKS_AT_LEAST": 1, "LOOKS_APART": 20, "PIECE": 2}.items():
            patch.setattr(f"shoal.algorithms._shared.peeling.search.{name}", value)
        try:
            recoding, again = (Peel(lend=lend).recode(table, models, NCP(), RNG) for _ in range(2))
        except CannotReach:
            return
    check_covers(table, recoding)
    classes = tally(recoding.codes(), table.people, table.sensitive)
    assert all(model.check(classes).holds for model in models)
    assert all("pieces" in note or "exchange" in note for note in recoding.notes)
    assert (recoding.codes() == again.codes()).all()
    assert recoding.notes == again.notes


def test_notes_that_it_continued_in_pieces(monkeypatch):
    for name, value in {"LOOKS": 1, "LOOKS_AT_LEAST": 1}.items():
        monkeypatch.setattr(f"shoal.algorithms._shared.peeling.search.{name}", value)
    tree = Hierarchy.ranges([2, 4, 8]).tree(range(40))
    leaves = np.flatnonzero(tree.end == np.arange(tree.size) + 1)
    codes = np.random.default_rng(1).choice(leaves, (300, 3)).astype(np.int32)
    table = Table(("a", "b", "c"), (tree,) * 3, codes, None, (True,) * 3)
    recoding = recode(table, 3)
    check_covers(table, recoding)
    assert tally(recoding.codes()).smallest >= 3
    assert "pieces, each of which was searched separately" in recoding.notes[0]
