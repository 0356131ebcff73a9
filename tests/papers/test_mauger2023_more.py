"""Mauger 2023: voters of Wake County, other readings of S5, and the highest k under l or t."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from shoal.base.errors import BadFile
from shoal.base.progress import silent
from shoal.papers._adult import METRICS, Release
from shoal.papers._compare import rank_correlation
from shoal.papers.mauger2023 import alternative, highest_k, paper, simulated, wake
from shoal.papers.mauger2023.paper import MEASURES, STRATEGIES
from shoal.papers.mauger2023.ranks import rank_agreement
from shoal.papers.mauger2023.strategies import (
    BY_CLASS,
    DEFINED,
    GUIDES,
    Real,
    all_strategies,
    area,
    most_diverse,
    voter_table,
    with_columns,
)
from shoal.papers.mauger2023.table_3 import CRITERIA, READINGS
from shoal.report.page import HtmlTable

HEAD = "res_city,res_zip_code,race,gender,party,Age,voter_status,registr_year"


@given(
    pairs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=8),
)
def test_rank_correlation_is_that_of_mean_ranks(pairs: list[tuple[int, int]]) -> None:
    ours, theirs = zip(*pairs, strict=True)
    found = rank_correlation(ours, theirs)
    if len(set(ours)) < 2 or len(set(theirs)) < 2:
        assert found is None
    else:
        expected = np.corrcoef(rankdata(ours), rankdata(theirs))[0, 1]
        assert found == pytest.approx(expected, abs=1e-9)


def test_the_paper_ranks_itself_perfectly() -> None:
    """With the printed ranks as our results, every legible rank agrees."""
    for guide in GUIDES:
        found: dict[simulated.Setting, dict[str, dict[str, float]]] = {}
        for j, setting in enumerate(simulated.settings()):
            found[setting] = {strategy: {} for strategy in STRATEGIES}
            for measure in MEASURES:
                sign = -1 if measure == "diversity" else 1
                for strategy, ranks in paper.ranks(guide, measure).items():
                    found[setting][strategy][measure] = sign * (ranks[j] or 0)
        assert rank_agreement(found, guide) == pytest.approx(1.0)  # type: ignore[arg-type]
        turned = {
            setting: {s: {m: -v for m, v in values.items()} for s, values in areas.items()}
            for setting, areas in found.items()
        }
        assert rank_agreement(turned, guide) == pytest.approx(-1.0)  # type: ignore[arg-type]


def test_the_lower_half_of_table_3_stands_in_the_order_in_which_it_is_printed() -> None:
    orders = (
        "total distortion wnllm nllm ncp llm wllm",
        "total distortion wnllm nllm ncp wllm llm",
        "total distortion wnllm ncp nllm wllm llm",
    )
    for criterion, order in zip(CRITERIA, orders, strict=True):
        printed = paper.criterion(criterion.name, florida=True)
        assert sorted(printed, key=lambda guide: printed[guide]) == order.split()


def voters(folder: Path, rows: int = 200) -> Path:
    rng = np.random.default_rng(3)
    lines = [HEAD]
    for _ in range(rows):
        code, age = 27500 + rng.integers(0, 12), rng.integers(18, 90)
        race, gender = rng.choice(["W", "B", ""]), rng.choice(["F", "M", "U"])
        party = rng.choice(["DEM", "REP", "UNA", "LIB"])
        lines.append(f"CARY,{code},{race},{gender},{party},{age},A,2008")
    (folder / "voters").mkdir()
    path = folder / wake.PLACES[0]
    path.with_suffix("").write_text("\n".join(lines) + "\n")
    path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))
    return path


def test_voters_are_found_read_and_compared(tmp_path: Path) -> None:
    path = voters(tmp_path)
    assert wake.find(tmp_path) == path
    listed = wake.load(path)
    assert listed.table.column_names == [
        "zip code", "year of birth", "gender", "race", "affiliation"
    ]  # fmt: skip
    assert "none" in listed.table["race"].to_pylist()
    assert listed.hierarchies["zip code"].tree().height == 5
    # Few runs: the same releases stand for both readings, and for every k.
    releases = {
        (guide, k): listed.release(guide, k, wake.GAA()) for guide in METRICS for k in (20,)
    }
    releases |= {(guide, k): releases[guide, 20] for guide in METRICS for k in (3, 2000)}
    readings = dict.fromkeys(READINGS, releases)
    part = wake.part(listed, readings)
    assert part.files["table-3-wake-unit.csv"][0].theirs == 53.96
    titles = [section.title for section in part.sections]
    assert titles == [
        "Table 3, lower half: voters of Wake County",
        "Figure 4: voters of Wake County",
    ]
    for release in releases.values():
        assert release.minimum >= 20


def test_statements_about_voters_hold_for_the_paper_itself() -> None:
    """With the printed half of table 3 as ours; curves at 100 % from the right k on."""
    own = {one.name: paper.criterion(one.name, florida=True) for one in CRITERIA}

    def release(k: int, modified: float) -> Release:
        return Release(1, k, {}, 0.0, modified, 0.0)

    rows = wake.TABLE_ROWS
    curves = {
        (g, k): release(k, 100.0 if k > 249 else 90.0) for g in METRICS for k in (3, 249, 250)
    }
    claims = wake.statements(own, curves, rows)
    assert len(claims) == 9
    assert {claim.verdict for claim in claims} == {"agrees"}
    low = {key: release(key[1], 99.0) for key in curves}
    turned = {name: {g: -v for g, v in column.items()} for name, column in own.items()}
    assert {claim.verdict for claim in wake.statements(turned, low, rows)} == {"differs"}


def test_without_voters_the_page_says_what_is_missing(tmp_path: Path) -> None:
    assert wake.find(None) is None
    assert wake.find(tmp_path) is None
    (section,) = wake.skipped().sections
    assert "not run" in section.title
    (tmp_path / "wake_county_nc.csv").write_text("res_city,party\nCARY,DEM\n")
    with pytest.raises(BadFile, match="cannot read voters"):
        wake.load(tmp_path / "wake_county_nc.csv")


def test_the_real_voters_have_the_five_columns(shared: Path) -> None:
    path = wake.find(shared)
    assert path is not None
    listed = wake.load(path)
    assert listed.table.num_rows == 10_000
    assert (
        len(set(zip(*(column.to_pylist() for column in listed.table.columns), strict=True))) == 6888
    )


@pytest.fixture(scope="module")
def sampled() -> alternative.Sampled:
    return alternative.run(voter_table(150), (3, 20, 100), (5,), silent, 0.0, 1.0)


def test_each_strategy_of_a_reading_is_what_its_source_gives(sampled: alternative.Sampled) -> None:
    assert sampled.ks == [3, 20]  # 100 is more than a third of the rows
    setting = simulated.Setting("geometric", 5)
    table = with_columns(voter_table(150), [simulated.simulated(setting, 150)])
    for name, (reading, strategy) in (
        ("as defined", (DEFINED, "S5")),
        ("S5 = t-closeness alone, merged class judged", (BY_CLASS, "t-closeness")),
    ):
        curve = all_strategies(table, reading, "total", sampled.ks, [strategy])[strategy]
        expected = area(curve, most_diverse(table))
        assert sampled.found["total", name][setting]["S5"] == expected


def test_the_section_says_that_it_is_an_alternative(sampled: alternative.Sampled) -> None:
    ways = {way for one in alternative.ALTERNATIVES.values() for way in one.values()}
    areas = {s: dict.fromkeys(MEASURES, 50.0) for _, s in ways}
    real = Real({}, {"Adult_Age": 1.0, "Adult_Mar": 1.0}, 150)
    object.__setattr__(real, "areas", lambda *_: areas)
    part = alternative.part(sampled, real)
    (section,) = part.sections
    (table,) = [block for block in section.blocks if isinstance(block, HtmlTable)]
    assert [row[0] for row in table.rows] == list(alternative.ALTERNATIVES)
    rows = part.files["alternative.csv"]
    assert len(rows) == 2 * 2 * 3
    assert all(-1 <= row.ours <= 1 for row in rows if "correlation" in row.metric)


def test_the_highest_k_satisfies_what_is_required() -> None:
    table = voter_table(300, "affiliation")
    found = {
        (name, words, strategy): highest_k.reached(table, model, strategy)
        for name in ("Adult_Mar",)
        for words, model in highest_k.requirements(name, "affiliation").items()
        for strategy in highest_k.STRATEGIES
    }
    for one in found.values():
        assert one.k * one.classes <= 300
        assert 0 < one.alteration <= 100
    assert found["Adult_Mar", "t = 0.25", "k-then-cost"].k >= found["Adult_Mar", "t = 0.25", "S1"].k
    (section,) = highest_k.part(found).sections
    assert "4.4" in section.title
    text, table = section.blocks
    cases = {(name, words) for name, words, _ in found}
    for at, strategy in enumerate(highest_k.STRATEGIES[1:], 2):
        more = sum(found[*case, strategy].k > found[*case, "S1"].k for case in cases)
        assert f"{strategy} in {more}" in text.text
        assert sum(row[at].tone == "strong" for row in table.rows) == more
