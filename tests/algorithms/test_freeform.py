"""Freeform: rows without classes, drawn such that nobody is more certain than 1/k."""

from __future__ import annotations

import signal
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from time import process_time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.algorithms import freeform
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.algorithms._shared.peeling.search import improved, peel
from shoal.algorithms.freeform import Freeform
from shoal.algorithms.peel import Peel
from shoal.base.errors import BadPlan, BadTable, CannotReach
from shoal.losses._integer_costs import exact_costs
from shoal.losses.ncp import NCP
from shoal.measures.bounds.lower_bound import lower_bound
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_belief import KBelief
from shoal.models.k_concealment import KConcealment
from shoal.models.max_belief import MaxBelief
from shoal.table.match_graph import link
from shoal.table.recoding import check_covers
from tests.strategies import examples, tables
from tests.table.test_match_graph import as_published, lowest_belief


def lost(table, recoding):
    """In percent of what suppressing everything would lose."""
    costs, codes = NCP().costs(table.domains), recoding.codes()
    both = [
        sum(float((cost[0] - cost[given[:, j]]).sum()) for j, cost in enumerate(costs))
        for given in (table.codes, codes)
    ]
    return 100 * (both[0] - both[1]) / both[0] if both[0] else 0.0


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(most_rows=20), k=st.integers(2, 4), seed=st.integers(0, 99))
def test_a_factor_exists_and_the_loss_is_between_bound_and_peel(table, k, seed):
    k = min(k, table.rows)
    if k < 2:
        return
    runs = [
        Freeform(rounds=20).recode(table, [KBelief(k=k)], NCP(), np.random.default_rng(seed))
        for _ in range(2)
    ]
    assert np.array_equal(runs[0].codes(), runs[1].codes()), "the same seed, the same release"
    check_covers(table, runs[0])
    assert runs[0].suppressed == 0
    order = np.random.default_rng(seed).permutation(table.rows)
    linkage = link(table, as_published(table, runs[0].codes()[order]))
    assert linkage.has_factor(k)
    assert linkage.matches.min() >= k
    classes = Peel().recode(table, [KAnonymity(k=k)], NCP(), np.random.default_rng(0))
    assert lost(table, runs[0]) <= lost(table, classes) + 1e-9
    bound = lower_bound(table, k, NCP()).percent
    if bound is not None:
        assert lost(table, runs[0]) >= bound - 1e-9


@settings(max_examples=examples(20), deadline=None)
@given(table=tables(most_rows=6), k=st.integers(2, 3))
def test_beliefs_of_one_in_k_are_possible(table, k):
    """By brute force over all perfect matchings."""
    if table.rows < k:
        return
    found = Freeform(rounds=20).recode(table, [KBelief(k=k)], NCP(), np.random.default_rng(0))
    assert lowest_belief(table, found.codes().tolist()) <= 1 / k + 1e-9


def ages(*given):
    return pa.table({"age": list(given), "s": [f"s{i}" for i in range(len(given))]})


def plan(k, **more):
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [10, 20, 40, 80]}},
        "s": {"role": "other"},
    }
    models = [{"name": "k-belief", "k": k}]
    return Plan(**{"columns": columns, "models": models, "algorithm": "freeform", **more})


@pytest.mark.parametrize("rounds", [0, 30])
def test_an_attacker_who_repeats_the_run_believes_one_in_k(rounds):
    """Who knows algorithm and originals repeats the run with all seeds there are.

    Of the runs that publish the same values, each person is each published value as often as its
    number of rows allows: no row is a person's with a probability above 1/k.
    """
    runs, k = 600 if rounds == 0 else 200, 3
    given = pa.table({name: list(column) for name, column in zip("abc", SEVEN, strict=True)})
    columns = {name: {"role": "quasi", "hierarchy": {"ranges": [2, 4]}} for name in "abc"}
    table = shoal.table.encode.encode(
        shoal.io.frames.open_frame(given), plan(k, columns=columns).columns
    )
    seen = defaultdict(list)
    for seed in range(runs):
        made = Freeform(rounds=rounds).recode(
            table, [KBelief(k=k)], NCP(), np.random.default_rng(seed)
        )
        rows = [tuple(row) for row in made.codes().tolist()]
        seen[tuple(sorted(rows))].append(rows)
    judged = 0
    for published, found in seen.items():
        many = Counter(published)
        for value, person in product(many, range(7)):
            share = many[value] / k
            if share < 1:  # otherwise the person may be it for certain
                often = sum(rows[person] == value for rows in found)
                spread = np.sqrt(len(found) * share * (1 - share))
                assert often <= len(found) * share + 5 * spread + 1
                judged += len(found)
    assert judged >= 7 * runs, "most published values are of fewer than k rows"


# Seven people: no two are alike, and rows that cover three of them differ.
SEVEN = (1, 2, 5, 6, 1, 6, 3), (1, 6, 2, 5, 4, 1, 7), (3, 1, 7, 5, 6, 2, 4)


def test_a_release_from_end_to_end():
    release = shoal.anonymize(ages(*range(1, 40)), plan(4, seed=1))
    (check,) = release.checks
    assert check.holds
    assert check.reached >= 4
    assert release.published == 39
    assert release.after.linked
    assert any("fixed seed" in note for note in release.notes)
    audited = shoal.audit(release.frame, plan(4), original=ages(*range(1, 40)))
    assert audited.checks[0].reached == check.reached
    assert not any("seed" in note for note in Freeform().notes(None))


def test_it_also_satisfies_what_follows_from_a_factor():
    models = [{"name": "k-belief", "k": 3}, {"name": "k-concealment", "k": 4}]
    release = shoal.anonymize(ages(*range(1, 30)), plan(3, models=models, seed=1))
    assert [check.holds for check in release.checks] == [True, True]
    assert release.checks[0].reached >= 4


@pytest.mark.parametrize("component", [15, 30, 1000])
def test_so_many_people_share_rows_at_most(component):
    """Each part is drawn by itself, so that a known row says nothing about people of others."""
    table = shoal.table.encode.encode(
        shoal.io.frames.open_frame(ages(*range(1, 70))), plan(3).columns
    )
    problem = PeelingProblem(
        table, 3, exact_costs(NCP(), table.domains, table.rows), lambda *words: None
    )
    classes = improved(problem, peel(problem), 1)
    parts = freeform._parts(problem, classes, component)
    assert np.sort(np.concatenate(parts)).tolist() == [*range(69)]
    labels = [set(classes.record[part].tolist()) for part in parts]
    assert sum(map(len, labels)) == len(set.union(*labels)), "classes are not divided"
    sizes = [len(part) for part in parts]
    assert all(
        size <= component or len(label) == 1 for size, label in zip(sizes, labels, strict=True)
    )
    assert len(parts) == 1 if component == 1000 else len(parts) > 2
    release = shoal.anonymize(
        ages(*range(1, 70)), plan(3, seed=2, algorithm={"name": "freeform", "component": component})
    )
    assert release.checks[0].holds
    assert release.published == 69
    (note,) = (note for note in release.notes if "share possible records" in note)
    assert 3 <= int(note.split("up to ")[1].split()[0]) <= max(component, max(sizes))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of the processor")
@pytest.mark.parametrize("after", [0.3, 1.2])
def test_an_interrupt_ends_it_soon(after):
    """Measured in processor time, so that other work on the machine does not count."""
    rng = np.random.default_rng(0)
    columns = {f"q{j}": rng.integers(0, 30, 1500) for j in range(5)}
    ranges = {"role": "quasi", "hierarchy": {"ranges": [3, 6, 12]}}
    asked = plan(3, columns=dict.fromkeys(columns, ranges)).columns
    table = shoal.table.encode.encode(shoal.io.frames.open_frame(pa.table(columns)), asked)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, interrupt)
    begin = process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, after)
        made = Freeform(rounds=10**6).recode(table, [KBelief(k=5)], NCP(), rng)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert process_time() - begin < after + 2
    assert any("interrupted after 0 of 1,500 records" in note for note in made.notes)
    check_covers(table, made)
    assert link(table, as_published(table, made.codes())).has_factor(5)
    classes = improved_classes(table, 5)
    assert lost(table, made) <= lost(table, classes) + 1e-9


def improved_classes(table, k):
    """The classes from which the search starts."""
    costs = exact_costs(NCP(), table.domains, table.rows)
    problem = PeelingProblem(table, k, costs, lambda *_: None)
    return improved(problem, peel(problem), freeform.PASSES)


@pytest.mark.parametrize("part", [0, 1, 2])
def test_parts_that_were_finished_before_an_interrupt_are_kept(monkeypatch, part):
    """Ctrl-C in one of the parts: those before it are as in a whole run, the others are classes."""
    rng = np.random.default_rng(1)
    given = pa.table({"age": rng.integers(0, 80, 240), "s": np.arange(240)})
    table = shoal.table.encode.encode(shoal.io.frames.open_frame(given), plan(4).columns)
    own, begun = freeform.specialize, []

    def specialize(*args):
        begun.append(None)
        if len(begun) == part + 1:
            raise KeyboardInterrupt
        return own(*args)

    def run():
        rng = np.random.default_rng(0)
        return Freeform(component=90, rounds=30).recode(table, [KBelief(k=4)], NCP(), rng)

    whole = run()
    monkeypatch.setattr(freeform, "specialize", specialize)
    made = run()
    assert len(begun) == part + 1, "nothing is searched after it"
    check_covers(table, made)
    assert link(table, as_published(table, made.codes())).has_factor(4)
    classes = improved_classes(table, 4)
    assert lost(table, whole) <= lost(table, made) + 1e-9 <= lost(table, classes) + 2e-9
    (said,) = [note for note in made.notes if "interrupted" in note]
    if part:
        done = np.flatnonzero((made.codes() == whole.codes()).all(axis=1))
        assert len(done) >= int(said.split("after ")[1].split()[0])


def test_a_second_interrupt_ends_the_run(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(freeform, "specialize", interrupted)
    monkeypatch.setattr(freeform, "draw_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shoal.anonymize(ages(*range(1, 40)), plan(4, seed=1))


def test_more_than_the_table_has_cannot_be_reached():
    with pytest.raises(CannotReach, match="the best k possible is 4") as caught:
        shoal.anonymize(ages(1, 2, 3, 4), plan(5))
    assert caught.value.best == 4
    assert [way.action for way in caught.value.ways] == ["set", "remove"]


def test_too_many_members_for_the_memory(monkeypatch):
    monkeypatch.setattr(freeform, "MOST_MEMBERS", 20)
    with pytest.raises(BadTable, match="30, and memory allows 20; use a smaller k"):
        shoal.anonymize(ages(*range(10)), plan(3))


def test_models_about_sensitive_values_are_refused():
    models = [
        {"name": "k-belief", "k": 2},
        {"name": "distinct-l-diversity", "column": "s", "l": 2},
    ]
    columns = {"age": "quasi", "s": "sensitive"}
    with pytest.raises(BadPlan, match="freeform does not support distinct-l-diversity"):
        shoal.anonymize(ages(1, 2, 3, 4), plan(2, models=models, columns=columns))


# Six people and six rows, k = 3: three disjoint matchings, person → row.
MATCHINGS = [[0, 1, 2, 3, 4, 5], [2, 3, 4, 1, 5, 0], [1, 2, 0, 5, 3, 4]]


def published_values(values, matching):
    """The sensitive value of each row."""
    rows = dict(zip(matching, values, strict=True))
    return tuple(rows[row] for row in range(6))


def is_diverse(rows):
    """Whether everybody's three rows have two different values."""
    return all(len({rows[m[person]] for m in MATCHINGS}) >= 2 for person in range(6))


def posteriors(again):
    """The probability of each matching, for everything that may be published.

    To the attacker all sensitive values are equally likely. `again`: a draw whose rows are not
    diverse is repeated; otherwise nothing is published then.
    """
    seen = defaultdict(lambda: [Fraction(0)] * 3)
    for values in product("ab", repeat=6):
        drawn = [published_values(values, m) for m in MATCHINGS]
        accepted = [i for i, rows in enumerate(drawn) if is_diverse(rows)]
        for i in accepted:
            seen[drawn[i]][i] += Fraction(1, len(accepted) if again else 3)
    return [[one / sum(many) for one in many] for many in seen.values()]


def test_why_models_about_sensitive_values_are_refused():
    """Whether rows are diverse depends on the draw; to draw again makes some rows more likely."""
    diverse = [is_diverse(published_values("bbbaaa", m)) for m in MATCHINGS]
    assert sorted(diverse) == [False, False, True]
    assert {one for many in posteriors(again=False) for one in many} == {Fraction(1, 3)}
    assert max(one for many in posteriors(again=True) for one in many) == Fraction(3, 5)


def test_concealment_does_not_claim_it():
    with pytest.raises(BadPlan, match=r"concealment does not support k-belief; these do: freeform"):
        shoal.anonymize(ages(1, 2, 3, 4), plan(2, algorithm="concealment"))
    assert Freeform().serves(KConcealment(k=2))


def test_a_recoding_cannot_be_applied_to_others():
    """New records would get the first row that covers them, which is no draw."""
    release = shoal.anonymize(ages(*range(1, 30)), plan(3, seed=1))
    with pytest.raises(BadPlan, match="k-belief is about a random draw"):
        release.recoding.apply(ages(*range(1, 30)))


# ── max-belief ──


@pytest.mark.parametrize(
    ("rho", "k"),
    [(0.5, 2), (1 / 3, 3), (0.3, 4), (0.2, 5), (0.19, 6), (0.1, 10), (0.05, 20), (0.07, 15)]
    + [(1 / k, k) for k in (7, 29, 49, 98, 103, 107, 161, 999)],
)
def test_a_belief_is_so_many_records(rho, k):
    """As exact arithmetic has it, in spite of rounding: 1 / 49 · 49 is less than 1."""
    model = MaxBelief(rho=rho)
    assert model.k == k
    assert model.holds(1 / k)
    assert not model.holds(1 / (k - 1))


def test_a_release_with_a_highest_belief():
    asked = plan(2, models=[{"name": "max-belief", "rho": 0.2}], seed=1)
    release = shoal.anonymize(ages(*range(1, 40)), asked)
    (check,) = release.checks
    assert (check.direction, check.required) == ("at most", 0.2)
    assert check.reached <= 0.2
    same = shoal.anonymize(ages(*range(1, 40)), plan(5, seed=1))
    assert release.frame.equals(same.frame), "the same as k-belief with k = 5"
    audited = shoal.audit(release.frame, asked, original=ages(*range(1, 40)))
    assert audited.checks[0].reached == check.reached
    with pytest.raises(BadPlan, match="max-belief is about a random draw"):
        release.recoding.apply(ages(*range(1, 40)))


@pytest.mark.parametrize("rho", [0.2, 1e-9, 5e-324])
def test_a_belief_below_that_of_the_whole_table_cannot_be_reached(rho):
    asked = plan(2, models=[{"name": "max-belief", "rho": rho}])
    with pytest.raises(CannotReach, match=r"the probability 0\.25; ask for 0\.25") as caught:
        shoal.anonymize(ages(1, 2, 3, 4), asked)
    assert caught.value.best == 0.25
    assert [way.action for way in caught.value.ways] == ["set", "remove"]
    assert caught.value.ways[0].value == {"rho": 0.25}


def test_only_freeform_draws_records_with_a_highest_belief():
    models = [{"name": "max-belief", "rho": 0.5}]
    with pytest.raises(BadPlan, match="does not support max-belief; these do: freeform"):
        shoal.anonymize(ages(1, 2, 3, 4), plan(2, models=models, algorithm="concealment"))
