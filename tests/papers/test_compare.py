from __future__ import annotations

import pytest

from shoal.papers._adult import METRICS, Release
from shoal.papers._compare import (
    MEAN,
    Claim,
    at_each,
    highest,
    lowest,
    nauc,
    ranks,
    same_order,
    signed,
    statements,
    verdicts,
)
from shoal.papers.mauger2020 import paper
from shoal.papers.mauger2020.experiment import KS
from shoal.papers.mauger2023 import paper as printed_table_3
from shoal.papers.mauger2023.metrics import statements as of_table_3
from shoal.papers.mauger2023.table_3 import CRITERIA


def release(loss: float, minimum: int = 2, classes: int = 9, deleted: float = 10.0) -> Release:
    return Release(classes, minimum, dict.fromkeys(METRICS, loss), loss, 2 * deleted, deleted)


def releases(ks: tuple[int, ...] = KS, **by_guide: float) -> dict[tuple[str, int], Release]:
    """Releases in which each guide loses the same at every k; 50 where nothing is said."""
    return {
        (guide, k): release(by_guide.get(guide, 50.0), minimum=k) for guide in METRICS for k in ks
    }


def test_the_mean_height_of_a_straight_line_is_its_mean() -> None:
    assert nauc([(3, 10), (2000, 30)], 3, 2000) == pytest.approx(20)
    assert nauc([(0, 0), (1, 1), (10, 10)], 0, 10) == pytest.approx(5)
    assert nauc([(3, 7), (5000, 7), (100, 7)], 3, 2000) == pytest.approx(7)


def test_the_mean_height_of_a_bent_line() -> None:
    bent = [(0, 0), (1, 10), (3, 10), (4, 0)]
    assert nauc(bent, 0, 4) == pytest.approx((5 + 20 + 5) / 4)
    assert nauc(bent, 0.5, 2) == pytest.approx((0.5 * 7.5 + 10) / 1.5)


@pytest.mark.parametrize(("low", "high"), [(2, 10), (3, 11), (5, 5)])
def test_a_curve_must_reach_both_ends(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="does not reach"):
        nauc([(3, 1), (10, 1)], low, high)


def test_ranks_and_order() -> None:
    assert ranks([24, 34, 30, 56, 27, 47, 28]) == [1, 5, 4, 7, 2, 6, 3]
    assert same_order([1, 2, 3], [1, 1, 2]) == (2, 2)
    assert signed(-12.34) == "−12.3"


def test_lowest_and_highest_let_ties_pass() -> None:
    values = {"a": 1.0, "b": 2.0, "c": 2.0}
    assert lowest(values, {"a"})
    assert lowest(values, {"a", "c"})
    assert highest(values, {"b"})
    assert not highest(values, {"a"})
    assert not lowest(values, {"b", "c"})


@pytest.mark.parametrize(
    ("held", "verdict"),
    [
        ([], "not run"),
        ([True], "agrees"),
        ([False], "differs"),
        ([True, False], "in part"),
        ([True, False, False], "differs"),
    ],
)
def test_verdicts(held: list[bool], verdict: str) -> None:
    claim = Claim("says", "meant", held, "found")
    assert claim.verdict == verdict
    assert verdicts([claim, claim])[claim.verdict] == 2
    assert verdict in statements([claim]).cells[0][-1].text


def test_it_is_said_at_which_k_something_fails() -> None:
    ours = releases((2, 5, 10), nllm=1.0) | {("nllm", 5): release(99.0)}
    held, found = at_each(ours, [2, 5, 10], MEAN, lambda values: lowest(values, {"nllm"}))
    assert held == [True, False, True]
    assert found == "at 2 of 3 k; not at 5"
    assert at_each(ours, [], MEAN, lambda _: True) == ([], "")


def test_the_conclusion_follows_the_numbers() -> None:
    assert paper.conclusion(releases(nllm=40.0)).verdict == "agrees"
    assert paper.conclusion(releases(nllm=60.0)).verdict == "differs"


def test_statements_about_the_tables_follow_the_numbers() -> None:
    as_said = releases(nllm=30.0, distortion=31.0, ncp=33.0, llm=60.0, wllm=55.0)
    claims = paper.of_tables(as_said)
    assert [claim.verdict for claim in claims[7]] == ["agrees"] * 3
    assert claims[8][0].verdict == "agrees"
    otherwise = paper.of_tables(releases(nllm=70.0, llm=20.0))
    assert [claim.verdict for claim in otherwise[7]] == ["differs"] * 3
    assert otherwise[6][0].verdict == "differs"
    assert otherwise[8][0].verdict == "differs"


def test_statements_about_the_smallest_class_follow_the_numbers() -> None:
    ours = releases()
    single = {
        (guide, k): release(100.0, 30162, 1) for guide, k in ours if k == 15000 or guide == "total"
    }
    claims = {claim.says: claim for claim in paper.of_curves(ours)[9]}
    assert claims["Up to k = 1,000 the smallest class is at or very near k."].verdict == "agrees"
    assert claims["At k = 15,000 all guides leave a single class."].verdict == "differs"
    claims = {claim.says: claim for claim in paper.of_curves(ours | single)[9]}
    assert claims["Up to k = 1,000 the smallest class is at or very near k."].verdict == "differs"
    assert claims["At k = 15,000 all guides leave a single class."].verdict == "agrees"
    both = claims["At k = 10,000 Distortion and Total leave a single class."]
    assert both.verdict == "in part"
    assert both.found == "one class: Total"


def test_what_was_not_run_is_not_judged() -> None:
    claims = paper.of_curves(releases((2, 100, 1500)))
    by_says = {claim.says: claim for claim in claims[9]}
    assert by_says["At k = 7,500 LLM's smallest class has 12,307 rows."].verdict == "not run"
    assert claims[13][-1].verdict == "not run"


def test_statements_about_table_3_hold_for_the_paper_itself() -> None:
    own = {one.name: printed_table_3.criterion(one.name) for one in CRITERIA}
    assert {claim.verdict for claim in of_table_3(own)} == {"agrees"}
    turned = {name: {guide: -v for guide, v in column.items()} for name, column in own.items()}
    assert {claim.verdict for claim in of_table_3(turned)} == {"differs"}


def test_the_numbers_of_figures_6_to_8_were_copied_well() -> None:
    for k, averages in paper.AVERAGES.items():
        table = paper.theirs(k)
        for guide, average in zip(METRICS, averages, strict=True):
            assert round(sum(table[metric, guide] for metric in METRICS) / 7) == average
    assert paper.theirs(100)["distortion", "nllm"] == 27
    assert paper.theirs(100)["ncp", "ncp"] == 38
