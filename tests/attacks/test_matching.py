"""The matching attack against all perfect matchings of small graphs."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attacks._chains import Chain
from shoal.attacks._matches import matches_of
from shoal.attacks.matching import Matching
from shoal.base.errors import BadPlan
from shoal.kernels.matching import matchings as kernels
from shoal.table.match_graph import MatchGraph, link
from shoal.table.published_table import Published
from tests.naive import concealment
from tests.naive import matchings as naive
from tests.strategies import examples, tables

# Records 0 and 2 have two matches each, but one of them in two of the three perfect matchings.
UNEQUAL = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], bool)


def linked(covers, originals=None, classes=None):
    """The graph of records with published records; equal rows and columns may be grouped.

    Record i holds published record i; `originals` and `classes` say who is equal.
    """
    n = len(covers)
    originals = np.arange(n) if originals is None else np.asarray(originals)
    classes = np.arange(n) if classes is None else np.asarray(classes)
    p = classes.max() + 1
    start, fits, held = [0], [], []
    for g in range(p):
        mine = np.flatnonzero(classes == g)
        for o in np.unique(originals[covers[:, mine[0]]]):
            fits.append(o)
            held.append(int((originals[mine] == o).sum()))
        start.append(len(fits))
    return MatchGraph.of_groups(
        np.bincount(originals), np.bincount(classes), np.array(start),
        np.array(fits, np.int32), np.array(held),
    )  # fmt: skip


@st.composite
def graphs(draw, most=7):
    """Who covers whom, and who is equal: covers, originals, classes."""
    n = draw(st.integers(1, most))
    names = [draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)) for _ in range(2)]
    originals, classes = (np.unique(one, return_inverse=True)[1] for one in names)
    often = draw(st.floats(0, 0.9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    fits = rng.random((originals.max() + 1, classes.max() + 1)) < often
    fits[originals, classes] = True
    return fits[np.ix_(originals, classes)], originals, classes


def largest(covers, originals):
    """What the most likely record of each original has, by enumeration."""
    share = naive.chances(covers).max(axis=1)
    return share[np.unique(originals, return_index=True)[1]]


def found(linkage, **options):
    """The most likely record of each original and its error, in the order of the linkage."""
    graph = matches_of(linkage, options.get("exact", 12))
    likely = Matching(**options).likeliest(graph)
    chance, error = np.empty((2, len(graph.original)))
    chance[graph.original], error[graph.original] = likely.chance, likely.error
    return chance, error


@given(graph=graphs())
def test_exact_is_what_enumeration_gives(graph):
    covers, originals, _ = graph
    chance, error = found(linked(*graph))
    assert chance == pytest.approx(largest(covers, originals), rel=1e-12)
    assert not error.any()
    share = naive.chances(covers)
    people, matches = len(covers), (share > 0).sum(axis=1)
    report = Matching().run_on(linked(*graph))
    assert report["largest_probability"] == pytest.approx(share.max())
    assert report["mean_largest_probability"] == pytest.approx(share.max(axis=1).mean())
    assert report["mean_if_equally_likely"] == pytest.approx((1 / matches).mean())
    assert report["people"] == (share.max(axis=1) > 0.5 + 1e-9).sum()
    above = share.max(axis=1) > 1 / matches + 1e-9
    assert report["people_above_equally_likely"] == above.sum()
    above = share.max(axis=1) > 1 / matches.min() + 1e-9
    assert report["people_above_one_in_fewest"] == above.sum()
    assert (report["exact_people"], report["samples"], report["error"]) == (people, 0, 0.0)


@given(graph=graphs())
def test_every_share_is_what_enumeration_gives(graph):
    covers, originals, classes = graph
    matches = matches_of(linked(*graph), 12)
    share = naive.chances(covers)
    got = np.split(matches.solved(), matches.start[1:-1])
    for place, o in enumerate(matches.original):
        mine = share[np.flatnonzero(originals == o)[0]]
        by_class = np.bincount(classes, mine)
        assert np.sort(got[place]) == pytest.approx(np.sort(by_class[by_class > 0]), rel=1e-12)


@given(table=tables(most_rows=7), data=st.data())
def test_exact_on_tables(table, data):
    """Each record is published as what it has in common with another one."""
    rows = table.codes.tolist()
    near = data.draw(st.lists(st.sampled_from(rows), min_size=len(rows), max_size=len(rows)))
    wide = [concealment.join(table.trees, a, b) for a, b in zip(rows, near, strict=True)]
    labels = tuple(list(tree.labels) for tree in table.trees)
    linkage = link(table, Published(table.names, np.array(wide, np.int32), labels, None))
    covers = np.array([[concealment.covers(table.trees, w, row) for w in wide] for row in rows])
    share = naive.chances(covers).max(axis=1)
    chance, _ = found(linkage)
    assert chance[linkage.original.label] == pytest.approx(share, rel=1e-12)


def example(seed, n=6, often=0.4):
    """A graph with equal originals and with records that are published alike."""
    rng = np.random.default_rng(seed)
    originals = np.sort(np.append(np.arange(n - 1), rng.integers(n - 1)))
    classes = rng.permutation(np.append(np.arange(n - 2), rng.integers(n - 2, size=2)))
    fits = rng.random((n - 1, n - 2)) < often
    fits[originals, classes] = True
    return fits[np.ix_(originals, classes)], originals, classes


def moved(move, people, published, state, counts, j):
    """One move of record or published record j."""
    who = (j,) if move == "walk" else (state.numbers, j, j + 1)
    getattr(kernels, move)(people, published, state, counts, *who)


@pytest.mark.parametrize("move", ["swap", "offer", "walk"])
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("covers", [UNEQUAL, *map(example, (3, 8))], ids=["3", "6", "6'"])
def test_every_move_keeps_the_uniform_distribution(move, covers, alike):
    """From a matching drawn at random, a move of any one record leads to one drawn at random."""
    covers, originals, classes = covers if isinstance(covers, tuple) else (covers, None, None)
    if not alike:
        originals = classes = None
    everything = naive.perfect_matchings(covers)
    graph = matches_of(linked(covers, originals, classes), 0)
    people, published = graph.sides
    n = len(people.group)  # the others have nothing to choose
    rng = np.random.default_rng(5)
    chain = Chain(graph, rng)
    state = chain.state
    nothing = kernels.Counts(False, np.zeros(0, np.int64), np.zeros((0, 2), np.int64))
    # Who is which record in the kernel: records are numbered by group.
    record, place = (
        np.concatenate([np.flatnonzero(by == g) for g in order])[:n]
        for by, order in (
            (np.arange(len(covers)) if originals is None else originals, graph.original),
            (np.arange(len(covers)) if classes is None else classes, graph.published),
        )
    )
    number = np.empty(len(covers), np.int64)
    number[place] = np.arange(n)
    kept = sorted({tuple(p[i] for i in record) for p in everything})
    seen = Counter()
    trials = 9000 // n * n
    for trial in range(trials):
        given_to = kept[rng.integers(len(kept))]
        held = number[list(given_to)]
        state.held[:] = held
        state.seats[held, kernels.HOLDER] = np.arange(n)
        state.seats[held, kernels.ORIGINAL] = people.group
        moved(move, people, published, state, nothing, trial % n)
        assert sorted(state.held) == list(range(n))
        assert (state.seats[state.held, kernels.HOLDER] == np.arange(n)).all()
        assert (state.seats[state.held, kernels.ORIGINAL] == people.group).all()
        seen[trial % n, tuple(place[state.held].tolist())] += 1
    assert {p for _, p in seen} == set(kept)
    expected = trials / n / len(kept)
    chi = sum((seen[i, p] - expected) ** 2 / expected for i in range(n) for p in kept)
    degrees = n * (len(kept) - 1)
    assert chi < degrees + 4 * np.sqrt(2 * degrees)


def naive_chain(graph, rng):
    """The slow twin of the chain that samples these matches."""
    m, p = graph.sampled
    fits = np.zeros((m, p), bool)
    pair = np.repeat(np.arange(graph.pairs), graph.given[: graph.pairs])
    fits[graph.of_original[: graph.pairs], graph.group[: graph.pairs]] = True
    owner, classes = (np.repeat(np.arange(len(x)), x) for x in (graph.originals, graph.classes))
    held = np.argsort(np.argsort(graph.group[pair], kind="stable"))
    return naive.Chain(owner[: len(pair)], classes[: len(pair)], fits, held, rng)


def few_classes(seed, n=40, many=4):
    """A graph with large classes, of different sizes."""
    rng = np.random.default_rng(seed)
    originals = np.sort(rng.integers(n // 2, size=n))
    _, originals = np.unique(originals, return_inverse=True)
    classes = np.minimum(rng.geometric(0.4, n) - 1, many - 1)
    _, classes = np.unique(classes, return_inverse=True)
    fits = rng.random((originals.max() + 1, classes.max() + 1)) < 0.5
    fits[originals, classes] = True
    return fits[np.ix_(originals, classes)], originals, classes


def check_against_twin(graph, seed, closer=()):
    """A chain counts what its slow twin counts, from the same random numbers.

    Both look closer at the pairs at these shares of all pairs.
    """
    matches = matches_of(linked(*graph), 0)
    if not matches.sampled_people:
        return
    chain = Chain(matches, np.random.default_rng(seed))
    twin = naive_chain(matches, naive.Random(int(chain.state.random[0])))
    o, g = matches.of_original[: matches.pairs], matches.group[: matches.pairs]
    chain.burn_in(2)
    twin.run(2)
    pairs = np.unique([int(share * matches.pairs) for share in closer]).astype(np.int64)
    chain.look_closer(pairs)
    for who, by, mine in zip(twin.focus, (twin.owner, twin.classes), (o, g), strict=True):
        who += [i for i, group in enumerate(by) if group in mine[pairs]]
    for times in (1, 3):
        share, visits = chain.run(times)
        before = twin.moves
        time, entered = twin.run(times)
        moves = twin.moves - before
        assert share.tolist() == (time[o, g] / (matches.originals[o] * moves)).tolist()
        assert visits.tolist() == entered[o, g].tolist()
        assert chain.state.held.tolist() == list(twin.held)
        holder = chain.state.seats[chain.state.held, kernels.HOLDER]
        assert holder.tolist() == list(range(len(twin.held)))


def check_slots(graph):
    """Every number of a record that fits leads to that record."""
    matches = matches_of(linked(*graph), 0)
    if not matches.sampled_people:
        return False
    twin = naive_chain(matches, None)
    people, published = matches.sides
    for mine, theirs, fit in (
        (people, published, twin.covering),
        (published, people, twin.covered),
    ):
        for i, g in enumerate(mine.group):
            numbers = range(mine.heads[g, kernels.DEGREE])
            side = mine.heads, mine.slot, mine.upto, mine.other, theirs.first
            assert [kernels.fitting(*side, g, r) for r in numbers] == fit[i]
    return bool(
        people.heads[:, kernels.SHIFT].any()
        and (people.slot < 0).any()
        and (people.slot >= 0).any()
    )


@given(graph=graphs(most=12))
def test_every_record_that_fits_is_found_by_its_number(graph):
    check_slots(graph)


def test_every_record_that_fits_is_found_by_its_number_in_large_classes():
    """Some slots stand for records of one class, others for records of several."""
    both_kinds = [check_slots(few_classes(seed)) for seed in range(6)]
    assert any(both_kinds)


@settings(max_examples=examples(60))
@given(graph=graphs(most=9), seed=st.integers(0, 2**32))
def test_a_chain_counts_what_its_twin_counts(graph, seed):
    check_against_twin(graph, seed)


@settings(max_examples=examples(60))
@given(
    graph=graphs(most=9),
    seed=st.integers(0, 2**32),
    closer=st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=4),
)
def test_a_chain_that_looks_closer_counts_what_its_twin_counts(graph, seed, closer):
    check_against_twin(graph, seed, closer)


def test_a_chain_that_looks_closer_in_several_blocks():
    check_against_twin(few_classes(4, n=5 * kernels.BLOCK + 20, many=30), 4, np.arange(0, 1, 0.01))


@pytest.mark.parametrize("seed", range(6))
def test_a_chain_counts_what_its_twin_counts_in_large_classes(seed):
    check_against_twin(few_classes(seed), seed)


def test_a_chain_counts_what_its_twin_counts_in_several_blocks():
    check_against_twin(few_classes(3, n=3 * kernels.BLOCK + 20, many=30), 3)


@pytest.mark.parametrize("seed", range(12))
def test_sampling_agrees_with_enumeration(seed):
    covers, originals, classes = example(seed)
    chance, error = found(linked(covers, originals, classes), exact=0, samples=8000)
    expected = largest(covers, originals)
    # Of equally likely records each chain may have chosen either.
    assert (abs(chance - expected) <= 5 * error + 1e-9).all()
    assert error.max() < 0.05


def test_sampling_agrees_with_counting_on_larger_graphs():
    rng = np.random.default_rng(2)
    n = 14
    covers = rng.random((n, n)) < 0.25
    covers |= np.eye(n, dtype=bool)
    linkage = linked(covers)
    exact, nothing = found(linkage, exact=14)
    chance, error = found(linkage, exact=0, samples=20_000)
    assert not nothing.any()
    assert (abs(chance - exact) <= 5 * error + 1e-9).all()
    assert (error < 0.03).all()


def test_unequal_matches():
    """Everybody has two matches or more, but two people's record is found in two of three cases."""
    report = Matching().run_on(linked(UNEQUAL))
    assert report["largest_probability"] == pytest.approx(2 / 3)
    assert report["fewest_left"] == 2
    assert report["people"] == report["people_above_one_in_fewest"] == 2
    assert report["percent"] == pytest.approx(200 / 3)


@pytest.mark.parametrize("exact", [0, 12])
def test_k_anonymity_gives_equal_risks(exact):
    sizes = [3, 5, 40]
    classes = np.repeat(np.arange(3), sizes)
    covers = classes[:, None] == classes
    chance, error = found(linked(covers, None, classes), exact=exact)
    assert chance.tolist() == (1 / np.repeat(sizes, sizes)).tolist()
    assert not error.any()
    report = Matching(exact=exact).run_on(linked(covers, None, classes))
    assert report["largest_probability"] == 1 / 3
    assert report["people_above_equally_likely"] == report["people"] == 0
    assert report["exact_people"] == 48


def test_what_stands_still_is_not_called_sure():
    """One long cycle that is rarely walked: nobody's record may pass for known meanwhile."""
    n = 24
    covers = np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool)
    covers[n - 1, 0] = True  # one cycle: two perfect matchings, each with a chance of a half
    report = Matching().run_on(linked(covers))
    assert report["people"] == 0
    assert report["largest_probability"] - 0.5 <= 3 * report["error"]


@settings(max_examples=examples(10))
@given(graph=graphs())
def test_same_seed_same_findings_fit_for_json(graph):
    reports = [Matching(exact=0, seed=7).run_on(linked(*graph)) for _ in range(2)]
    assert reports[0] == reports[1]
    assert json.loads(json.dumps(reports[0], allow_nan=False)) == reports[0]


@pytest.mark.parametrize(
    "wrong", [{"samples": 3}, {"exact": 17}, {"exact": -1}, {"sure": 1.5}, {"seed": -1}]
)
def test_wrong_options(wrong):
    with pytest.raises(BadPlan, match=f"matching needs {next(iter(wrong))} "):
        Matching(**wrong)


def test_nothing_without_an_original():
    published = Published(("q",), np.zeros((2, 1), np.int32), (["a"],), None)
    assert Matching().run(published) == {}
