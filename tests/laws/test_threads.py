"""Laws about threads: their number does not change a release, nor does looking ahead."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Hierarchy, Plan
from shoal.algorithms._shared import cells, exchange
from shoal.algorithms._shared.layout import Layout
from shoal.algorithms._shared.parts import cuts
from shoal.algorithms._shared.peeling import search as peel
from shoal.algorithms._shared.peeling.problem import PeelingProblem
from shoal.base.progress import silent
from shoal.base.threads import limited
from shoal.bound import lower_bound
from shoal.io.frames import open_frame
from shoal.kernels.search.cells import FORKED, FORKS, search_cells
from shoal.losses._integer_costs import exact_costs
from shoal.losses.nllm import NLLM
from shoal.table.encode import encode
from tests.strategies import first_of

THREADS = [1, 2, 3, 5]
NEVER = 1 << 40


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are cut into many pieces, too."""
    monkeypatch.setattr(cells, "SHARED", 8)
    monkeypatch.setattr(cells, "SHARES", 3)
    monkeypatch.setattr(exchange, "TUPLES_AHEAD", 24)
    monkeypatch.setattr(exchange, "CLASSES_AHEAD", 12)
    monkeypatch.setattr(exchange, "ROUNDS", 1)


def people(rows: int, seed: int, values: int = 40) -> pa.Table:
    """Records around a few centres, so that classes have neighbours; some columns are rare."""
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, 7, rows)
    spread = rng.geometric(0.3, (5, rows))
    columns = {
        "age": np.minimum(centre * 6 + spread[0], values - 1),
        "zip": np.minimum(centre * 5 + spread[1] * 2, values - 1),
        "pay": np.minimum(spread[2] + centre % 3, 11),
        "job": np.minimum(spread[3], 7),
        "ill": np.minimum(spread[4], 5),
    }
    return pa.table({name: column.astype(np.int64) for name, column in columns.items()})


def plan(k: int, more: Sequence[dict] = (), **options: object) -> Plan:
    wide = Hierarchy.ranges([2, 4, 8, 16])
    return Plan(
        columns={
            "age": {"role": "quasi", "hierarchy": wide},
            "zip": {"role": "quasi", "hierarchy": wide},
            "pay": {"role": "quasi", "hierarchy": Hierarchy.ranges([3, 6])},
            "job": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        models=[{"name": "k-anonymity", "k": k}, *more],
        **{"algorithm": {"name": "peel", "passes": 3}, "seed": 5, **options},
    )


def released(table: pa.Table, asked: Plan) -> tuple[str | None, dict[str, float]]:
    release = shoal.anonymize(table, asked)
    return release.csv_sha256(), release.losses


@pytest.mark.parametrize("seed", first_of(3))
@pytest.mark.parametrize(("k", "lend"), [(2, False), (5, True), (20, False)])
@pytest.mark.usefixtures("short")
def test_threads_and_looking_ahead_change_nothing(
    monkeypatch: pytest.MonkeyPatch, seed: int, k: int, lend: bool
) -> None:
    table = people(700, seed)
    asked = plan(k, algorithm={"name": "peel", "passes": 3, "lend": lend})
    together = [released(table, asked.with_threads(threads)) for threads in THREADS]
    monkeypatch.setattr(cells, "SHARED", NEVER)
    monkeypatch.setattr(exchange, "ROUNDS", NEVER)
    alone = released(table, asked.with_threads(1))
    assert together == [alone] * len(THREADS)


@pytest.mark.usefixtures("short")
def test_threads_change_nothing_if_the_table_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "FEWEST", 4)
    table, asked = people(700, 1), plan(5, parts=6)
    assert shoal.anonymize(table, asked).parts == 6
    together = [released(table, asked.with_threads(threads)) for threads in THREADS]
    assert together == [together[0]] * len(THREADS)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are large enough to be cut for threads."""
    monkeypatch.setattr(cuts, "FEWEST", 4)
    monkeypatch.setattr(cuts, "LARGE", 50)
    monkeypatch.setattr(cuts, "SHARED", 100)
    monkeypatch.setattr(cuts, "CROSSING", 0.2)


@pytest.mark.parametrize(
    "more",
    [
        [],
        [
            {"name": "distinct-l-diversity", "column": "ill", "l": 2},
            {"name": "average-risk", "r": 0.1},
        ],
    ],
)
@pytest.mark.usefixtures("shared")
def test_parts_that_threads_share_are_the_same_for_any_number_of_them(more: list) -> None:
    table, asked = people(700, 1), plan(5, more)
    release = shoal.anonymize(table, asked)
    assert release.parts > 2
    together = [released(table, asked.with_threads(threads)) for threads in THREADS]
    assert together == [together[0]] * len(THREADS)
    mixed = table.take(np.random.default_rng(3).permutation(table.num_rows))
    other = shoal.anonymize(mixed, asked)
    assert sorted(map(str, other.frame.to_pylist())) == sorted(map(str, release.frame.to_pylist()))


@pytest.mark.usefixtures("shared")
def test_only_peel_is_cut_for_threads() -> None:
    table = people(700, 1)
    assert shoal.anonymize(table, plan(5, algorithm="gaa")).parts == 1
    assert shoal.anonymize(table, plan(5, parts=1)).parts == 1


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.usefixtures("shared")
def test_an_interrupt_ends_all_threads_that_recode_parts(threads: int) -> None:
    def interrupt(stage: str, share: float) -> None:
        if stage == "recoding parts" and share > 0.1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shoal.anonymize(people(700, 1), plan(5).with_threads(threads), progress=interrupt)
    frames = sys._current_frames()
    helpers = [one.ident for one in threading.enumerate() if one.name.startswith("shoal")]
    assert {frames[one].f_code.co_name for one in helpers} <= {"_worker"}  # they wait for work


@pytest.mark.parametrize("seed", first_of(6))
@pytest.mark.parametrize("k", [2, 6])
@pytest.mark.usefixtures("short")
def test_exchange_of_random_classes_is_the_same(
    monkeypatch: pytest.MonkeyPatch, seed: int, k: int
) -> None:
    """Such classes exchange nearly everything, and change often within a round."""
    table = encode(open_frame(people(900, seed)), plan(k).columns)
    problem = PeelingProblem(table, k, exact_costs(NLLM(), table.domains, table.rows), silent)
    n = len(problem.start)
    # Neighbours, but every third tuple is in the place of another.
    order, moved = np.lexsort(problem.lattice.vector.T[::-1]), np.arange(0, n, 3)
    order[moved] = order[np.random.default_rng(seed).permutation(moved)]
    label = np.empty(n, np.int64)
    # So large that they are not dissolved; a tuple has at least one person.
    for members in np.array_split(order, n // (2 * k)):
        label[members] = members[0]

    def exchanged(threads: int) -> list[int]:
        swap = exchange.Exchange(problem.layout, problem.lattice.vector, problem.start, k)
        with limited(threads):
            found: list[int] = swap.one_pass(label, lambda _: None).tolist()
        return found

    together = [exchanged(threads) for threads in THREADS]
    monkeypatch.setattr(exchange, "ROUNDS", NEVER)
    alone = exchanged(1)
    assert together == [alone] * len(THREADS)
    assert len(set(alone)) > 1
    assert alone != np.unique(label, return_inverse=True)[1].tolist()


@pytest.mark.usefixtures("short")
def test_rare_values_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then searches use lower bounds that depend on which values classes have."""
    table, asked = people(120, 2, values=400), plan(3)
    together = [released(table, asked.with_threads(threads)) for threads in THREADS]
    monkeypatch.setattr(cells, "SHARED", NEVER)
    monkeypatch.setattr(exchange, "ROUNDS", NEVER)
    assert together == [released(table, asked.with_threads(1))] * len(THREADS)


@pytest.mark.parametrize("looks", [500, 5_000, 20_000])
@pytest.mark.usefixtures("short")
def test_budgets_end_alike_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    monkeypatch.setattr(peel, "LOOKS", 0)
    monkeypatch.setattr(peel, "LOOKS_AT_LEAST", looks)
    monkeypatch.setattr(peel, "LOOKS_APART", 20)
    monkeypatch.setattr(exchange, "VISITS", 2)
    table, asked = people(500, 1), plan(4)
    notes = shoal.anonymize(table, asked).notes
    assert any("pieces" in note for note in notes)
    assert any("ended before" in note for note in notes)
    together = [released(table, asked.with_threads(threads)) for threads in THREADS]
    assert together == [together[0]] * len(THREADS)


@pytest.mark.parametrize("most", [3_000, 30_000, NEVER])
@pytest.mark.usefixtures("short")
def test_the_lower_bound_is_the_same(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    table = encode(open_frame(people(400, 3)), plan(4).columns)

    def bound(threads: int) -> object:
        with limited(threads):
            return lower_bound(table, 4, NLLM(), most)

    together = [bound(threads) for threads in THREADS]
    monkeypatch.setattr(cells, "SHARED", NEVER)
    assert together == [bound(1)] * len(THREADS)


def test_there_is_room_for_the_runs_that_wait_at_every_depth() -> None:
    """A long run is searched at the next depth while the short runs before it still wait."""
    values = 8
    first = np.r_[np.arange(values - 1), np.full(values, values - 1)]  # the last run is long
    second = np.r_[np.zeros(values - 1, np.int64), np.arange(values)]  # and has short ones
    frame = pa.table({"a": first, "b": second, "c": np.arange(len(first)) % 2})
    columns = Plan(columns=dict.fromkeys(frame.column_names, "quasi")).columns
    table = encode(open_frame(frame), columns)
    costs = exact_costs(NLLM(), table.domains, table.rows)
    layout = Layout.in_order(table, costs, np.arange(3))
    lattice = cells.make_lattice(layout, table.unified, np.ones(table.rows, np.int64))
    search = cells.make_search(lattice, short=1)
    room = len(search.fork_at)
    roomy = search._replace(
        fork_stack=np.empty((99, 4, 5), np.int64), fork_at=np.empty((99, 7), np.int64)
    )
    best = cells.no_cells(lattice, 1)
    assert search_cells(lattice, best, roomy, cells.NONE, cells.NONE, NEVER, NEVER) == FORKED
    assert search.at[FORKS] == 2 * values - 1
    assert room >= search.at[FORKS]
