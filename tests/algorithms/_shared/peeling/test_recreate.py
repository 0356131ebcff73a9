"""Ruin and recreate: valid classes at every moment, never worse, close to the optimum."""

from __future__ import annotations

import dataclasses
import functools
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.algorithms import peel as peel_room
from shoal.algorithms._shared.peeling import exhaustive, recreate
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.algorithms._shared.peeling.recreate import Recreating, recreated
from shoal.algorithms._shared.recode import recode as recode_with
from shoal.algorithms._shared.requirements import all_satisfied
from shoal.algorithms.peel import Peel
from shoal.base.errors import BadPlan
from shoal.base.progress import silent
from shoal.base.threads import limited
from shoal.hierarchies.base import Hierarchy
from shoal.losses._integer_costs import exact_costs
from shoal.losses.nllm import NLLM
from shoal.models.distinct_l_diversity import DistinctLDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.table.encode import Table
from shoal.table.equivalence_classes import tally
from shoal.table.recoding import check_covers
from shoal.table.sensitive import Sensitive
from tests.strategies import examples, tables

TREE = Hierarchy.from_parents(
    {f"v{i}": f"a{i // 2}" for i in range(12)}
    | {f"a{i}": f"b{i // 3}" for i in range(6)}
    | {"b0": "*", "b1": "*"}
).tree()


UNCOMPILED = """
from tests.algorithms._shared.peeling.test_recreate import Recreating, problem_of, random_table
import numpy as np
for seed, (rows, k) in enumerate([(3, 2), (12, 2), (30, 4), (40, 12)]):
    problem = problem_of(random_table(rows, 3, seed), k)
    search = Recreating(problem, np.zeros(len(problem.start), np.int64))
    search.propose(100_000, lambda share: None)
    for _ in range(3):
        for part in search._cut(1):
            for _, step in search._steps(part, 0.01 * search.possible, 600 * len(part.tuples), 0):
                while not step(1_000_000):
                    pass
        search.round += 1
"""


def random_table(rows, columns, seed):
    rng = np.random.default_rng(seed)
    leaves = np.flatnonzero(TREE.level == 0)
    codes = rng.choice(leaves, (rows, columns)).astype(np.int32)
    names = tuple(f"c{j}" for j in range(columns))
    sick = Sensitive.of("s", rng.integers(0, 4, rows).astype(np.int32), list("abcd"), None)
    return Table(names, (TREE,) * columns, codes, None, (True,) * columns, (sick,))


def problem_of(table, k):
    return PeelingProblem(table, k, exact_costs(NLLM(), table.domains, table.rows), silent)


def partitions(items):
    """All ways to put items into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for groups in partitions(rest):
        yield [[first], *groups]
        for i, group in enumerate(groups):
            yield [*groups[:i], [first, *group], *groups[i + 1 :]]


def least_lost(problem):
    """The loss of the best classes of whole tuples, by trying all of them."""
    n, people, best = len(problem.start), problem.start.people, None
    for groups in partitions(list(range(n))):
        if min(sum(people[t] for t in group) for group in groups) < problem.k:
            continue
        label = np.empty(n, np.int64)
        for group in groups:
            label[group] = group[0]
        lost = problem.lost(label)
        best = lost if best is None else min(best, lost)
    return best


def one_class(problem):
    return np.zeros(len(problem.start), np.int64)


@pytest.fixture(autouse=True)
def few_attempts(monkeypatch):
    monkeypatch.setattr(recreate, "LOOKS", 60_000)
    monkeypatch.setattr(recreate, "MORE_LOOKS", 0)
    monkeypatch.setattr(exhaustive, "FEW", 0)  # small tables are searched as large ones are


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(persons=True, most_rows=7, most_columns=3), k=st.integers(2, 4))
def test_never_below_the_optimum_nor_above_the_start(table, k):
    if table.person_count < k:
        return
    problem = problem_of(table, k)
    label = recreated(problem, one_class(problem))
    assert np.bincount(label, problem.start.people)[label].min() >= k
    assert least_lost(problem) <= problem.lost(label) <= problem.lost(one_class(problem))


def test_a_class_that_has_lost_all_its_tuples_takes_no_others():
    """It stayed open, and two people of a later class, k = 3, became a class of its cell."""
    tree = Hierarchy.from_parents({"a": "b", "c": "b", "d": "b", "b": "*", "e": "*"}).tree()
    codes = [[tree.labels.index(word)] for word in "accdde"]
    problem = problem_of(Table(("q",), (tree,), np.array(codes, np.int32), None, (True,)), 3)
    label = recreated(problem, one_class(problem))
    assert np.bincount(label, problem.start.people)[label].min() >= 3
    assert problem.lost(label) == least_lost(problem)


@pytest.mark.slow
def test_every_step_leaves_valid_classes():
    for seed in range(400):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 6))
        problem = problem_of(random_table(int(rng.integers(2 * k, 30)), 2, seed), k)
        search = Recreating(problem, one_class(problem))
        if seed % 2:
            search.propose(10**6, lambda share: None)
        for _ in range(10):
            for part in search._cut(1):
                heat = float(rng.random()) * search.possible
                for _, step in search._steps(part, heat, 2_000 * len(part.tuples), 0):
                    while not step(1_000_000):
                        pass
                    people = np.bincount(search.formed.of, search.formed.people, search.n)
                    assert people[people > 0].min() >= k
            search.round += 1


def test_finds_the_optimum_of_small_tables():
    found = []
    for seed in range(10):
        problem = problem_of(random_table(7, 3, seed), 2)
        found.append(problem.lost(recreated(problem, one_class(problem))) == least_lost(problem))
    assert all(found)


@pytest.mark.parametrize("k", [3, 20])
def test_loses_less_than_the_exchange_and_the_same_for_any_number_of_threads(k, monkeypatch):
    monkeypatch.setattr(recreate, "SMALL", 100)  # several parts
    monkeypatch.setattr(recreate, "LOOKS", 20_000)
    table, found = random_table(300, 4, 1), []
    for threads in (1, 3):
        with limited(threads):
            made = recode_with(
                Peel(effort="high"),
                table,
                [KAnonymity(k=k)],
                NLLM(),
                np.random.default_rng(threads),
            )
        check_covers(table, made)
        found.append(made.codes())
    assert np.array_equal(*found)
    problem = problem_of(table, k)
    normal = Peel().recode(table, [KAnonymity(k=k)], NLLM(), np.random.default_rng(0))
    made = Peel(effort="high").recode(table, [KAnonymity(k=k)], NLLM(), np.random.default_rng(0))
    assert problem.lost_by(made) < problem.lost_by(normal)
    assert np.bincount(made.record).min() >= k


@pytest.mark.parametrize("proposals", [False, True])
def test_its_books_are_right_after_every_round(proposals, monkeypatch):
    """What it believes to keep is what the classes keep."""
    monkeypatch.setattr(recreate, "SMALL", 100)
    problem = problem_of(random_table(500, 4, 2), 5)
    search = Recreating(problem, one_class(problem))
    if proposals:
        search.propose(10_000_000, lambda share: None)
    with recreate.team() as threads:
        for heat in (0.3, 0.1, 0.0):
            search.run(heat, 5_000 * search.n, np.inf, threads, lambda: None)
            now = np.empty(search.n, np.int64)
            now[search.rank] = search.formed.of
            assert search.kept == -problem.lost(now)
            assert search.most_kept == -problem.lost(search.label())
            people = np.bincount(now, problem.start.people, search.n).astype(np.int64)
            assert np.array_equal(people, search.formed.class_people)
            assert people[people > 0].min() >= 5


@pytest.mark.parametrize(
    "model", [DistinctLDiversity(column="s", l=3), TCloseness(column="s", t=0.3)]
)
def test_other_models_are_satisfied_and_never_lose_more(model, monkeypatch):
    monkeypatch.setattr(recreate, "LOOKS", 20_000)
    table, models = random_table(300, 3, 3), [KAnonymity(k=4), model]
    problem, rng = problem_of(table, 4), np.random.default_rng(0)
    normal, high = (Peel(effort=e).recode(table, models, NLLM(), rng) for e in ("normal", "high"))
    assert problem.lost_by(high) <= problem.lost_by(normal)
    assert all_satisfied(models, tally(high.codes(), None, table.sensitive)).all()


@pytest.mark.parametrize("where", ["relaxing", "recreating"])
def test_an_interrupt_at_any_moment_keeps_the_best_classes(where):
    """Real signals, at random moments of the linear program and of the search."""
    table, rng = random_table(900, 4, 4), np.random.default_rng(5)
    start = Peel().recode(table, [KAnonymity(k=5)], NLLM(), rng)
    for _ in range(4):
        timers = []

        def progress(stage, share, timers=timers):
            if stage == where and not timers:
                delay = float(rng.random() * 0.3)
                timers.append(threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT)))
                timers[0].start()

        peel = Peel(seconds=60.0)
        made = peel.recode(table, [KAnonymity(k=5)], NLLM(), rng, progress)
        assert "interrupted after" in made.notes[0]
        assert np.bincount(made.record).min() >= 5
        check_covers(table, made)
        problem = problem_of(table, 5)
        assert problem.lost_by(made) <= problem.lost_by(start)


@pytest.mark.parametrize("where", ["peel", "is_best", "Recreating"])
def test_an_interrupt_before_the_search_keeps_the_classes(where, monkeypatch):
    """While a better start is looked for, a bound is tried, or neighbours are listed."""
    table, rng = random_table(300, 4, 4), np.random.default_rng(5)
    start = Peel().recode(table, [KAnonymity(k=5)], NLLM(), rng)
    room = peel_room if where == "peel" else recreate
    before = getattr(room, where)

    def interrupted(problem, *args):
        if where != "peel" or args == (True,):  # with lending
            os.kill(os.getpid(), signal.SIGINT)
        return before(problem, *args)

    monkeypatch.setattr(room, where, interrupted)
    made = Peel(effort="high").recode(table, [KAnonymity(k=5)], NLLM(), rng)
    assert "interrupted after" in made.notes[0]
    problem = problem_of(table, 5)
    assert problem.lost_by(made) <= problem.lost_by(start)
    assert np.bincount(made.record).min() >= 5


def test_a_time_limit_ends_it_and_is_noted():
    table = random_table(400, 3, 6)
    made = Peel(seconds=0.3).recode(
        table, [KAnonymity(k=3)], NLLM(), np.random.default_rng(0), silent
    )
    assert "limited to 0.3 seconds; another run may find other classes" in made.notes[0]


def test_no_time_is_an_error_and_a_part_gets_its_share():
    with pytest.raises(BadPlan, match=r"peel needs seconds above 0 and finite, got seconds=0"):
        Peel(seconds=0.0)
    with pytest.raises(BadPlan, match=r'peel has seconds = 5.*and effort = "quick"'):
        Peel(effort="quick", seconds=5.0)
    with pytest.raises(BadPlan, match="effort"):
        Peel(effort="huge")
    assert Peel(seconds=10.0).with_share(0.25).seconds == 2.5
    assert Peel(effort="high", seconds=10.0).with_share(0) == Peel()
    assert Peel().with_share(0.5) == Peel()


def test_quick_leaves_out_the_exchange():
    table = random_table(400, 3, 6)
    rng, models = np.random.default_rng(0), [KAnonymity(k=3)]
    quick = Peel(effort="quick").recode(table, models, NLLM(), rng)
    assert np.array_equal(quick.codes(), Peel(passes=0).recode(table, models, NLLM(), rng).codes())


def test_what_is_taken_back_leaves_everything_as_it_was():
    """Attempts whose losses are never accepted: the classes and what they keep are the same."""
    problem = problem_of(random_table(300, 4, 8), 6)
    search = Recreating(problem, recreated(problem, one_class(problem)))
    before = classes_of(search)
    part = search._cut(1)[0]
    _, step = search._steps(part, -1e18, 20_000 * search.n, 0)[0]  # not even a gain is enough
    while not step(1_000_000):
        pass
    assert part.at[3] >= 10_000 * search.n
    assert part.at[2] == 0
    assert classes_of(search) == before
    assert search.kept == search.most_kept
    opened = search._open(part)
    used = opened.class_at[: opened.many[0]]
    assert sorted(used.tolist()) == np.flatnonzero(search.formed.head >= 0).tolist()


def classes_of(search):
    """The classes as sets of tuples, with their people and records."""
    found = {}
    for t, a in enumerate(search.formed.of.tolist()):
        found.setdefault(a, set()).add(t)
    formed = search.formed
    return {(frozenset(one), formed.rows[a], formed.class_people[a]) for a, one in found.items()}


@pytest.mark.parametrize("shape", ["one", "equal", "column", "as many as k"])
def test_tables_of_any_shape(shape):
    """One record, equal records, one column, and one class only."""
    rows, k = (2, 2) if shape == "one" else (30, 30 if shape == "as many as k" else 4)
    table = random_table(rows, 1 if shape == "column" else 3, 9)
    if shape == "equal":
        table = dataclasses.replace(table, codes=np.repeat(table.codes[:1], rows, axis=0))
    high, normal = (
        Peel(effort=effort).recode(table, [KAnonymity(k=k)], NLLM(), np.random.default_rng(0))
        for effort in ("high", "normal")
    )
    check_covers(table, high)
    assert np.bincount(high.record).min() >= k
    problem = problem_of(table, k)
    assert problem.lost_by(high) <= problem.lost_by(normal)


def test_the_work_is_limited_however_many_tuples_there_are(monkeypatch):
    monkeypatch.setattr(recreate, "MOST_LOOKS", 1_000_000)
    problem, asked = problem_of(random_table(300, 4, 1), 5), []
    run = Recreating.run
    monkeypatch.setattr(
        Recreating, "run", lambda self, heat, looks, *more: (
            asked.append(looks), run(self, heat, looks, *more)
        )
    )  # fmt: skip
    recreated(problem, one_class(problem))
    assert sum(asked) <= 1_000_000
    assert max(asked) > 0


@pytest.mark.parametrize("k", [3, 25])
def test_opening_cells_keeps_the_books_right_and_alone_finds_better_classes(k):
    """Without the attempts that dissolve classes completely; recounted after every round."""
    problem = problem_of(random_table(400, 4, 7), k)
    search = Recreating(problem, one_class(problem))
    before = search.most_kept
    for heat in (0.1, 0.03, 0.0):
        for part in search._cut(2):
            _, step = search._steps(part, heat * before / 400, 20_000 * len(part.tuples), 0)[0]
            while not step(1_000_000):
                pass
        search.round += 1
        search.note_best()
        now = np.empty(search.n, np.int64)
        now[search.rank] = search.formed.of
        assert search.kept == -problem.lost(now)
        people = np.bincount(now, problem.start.people, search.n).astype(np.int64)
        assert np.array_equal(people, search.formed.class_people)
        assert people[people > 0].min() >= k
    assert search.most_kept > before


def test_opening_cells_stays_within_its_arrays():
    """The kernels as plain Python, which checks every index; compiled code would not."""
    words = [sys.executable, "-W", "ignore", "-c", UNCOMPILED]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run(words, check=True, env=environment, cwd=Path(__file__).parents[4])


def test_the_work_grows_with_the_tuples_and_with_k(monkeypatch):
    monkeypatch.setattr(recreate, "MORE_LOOKS", 7)
    assert recreate.most_looks(10, 1) == 600_000
    assert recreate.most_looks(10, 8) == 600_210
    assert recreate.most_looks(10**9, 8) == recreate.MOST_LOOKS


def test_after_an_interrupt_each_thread_ends_with_the_work_at_hand(monkeypatch):
    """Counted, not timed: how many calls of kernels begin after the signal, and of how many looks.

    A call begins with few looks and has twice as many as the last one at most.
    """
    monkeypatch.setattr(recreate, "SMALL", 100)  # several parts
    table, sent, asked = random_table(900, 4, 4), [], []
    start, steps = Peel().recode(table, [KAnonymity(k=5)], NLLM(), None), Recreating._steps

    def counted(self, *args):
        def call(step, looks):
            asked.append((bool(sent), looks))
            return step(looks)

        return [(share, functools.partial(call, step)) for share, step in steps(self, *args)]

    def progress(stage, share):
        if stage == "recreating" and share > 0 and not sent:
            sent.append(share)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Recreating, "_steps", counted)
    with limited(2):
        made = Peel(seconds=60.0).recode(table, [KAnonymity(k=5)], NLLM(), None, progress)
    assert "interrupted after" in made.notes[0]
    assert problem_of(table, 5).lost_by(made) <= problem_of(table, 5).lost_by(start)
    before = [looks for later, looks in asked if not later]
    after = [looks for later, looks in asked if later]
    assert len(after) <= 2 * 2  # each thread: the call at hand, and one that had just begun
    assert max(after, default=0) <= 2 * max(before)
