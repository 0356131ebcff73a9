"""The numbers of section 4, Mauger 2023, were copied well."""

from __future__ import annotations

import pytest

from shoal.papers.mauger2023 import paper
from shoal.papers.mauger2023.figures import of_strategies
from shoal.papers.mauger2023.paper import MEASURES, STRATEGIES, Measure

# The order in which tables 4 and 5 print the strategies, best first, for each measure.
PRINTED = {
    ("nllm", "Adult_Age"): ("4217365", "5637412", "5637412"),
    ("nllm", "Adult_Mar"): ("4217365", "5763124", "5673142"),
    ("nllm", "florida_30162_Aff"): ("2147365", "5367214", "5637214"),
    ("total", "Adult_Age"): ("2714365", "5367412", "5367412"),
    ("total", "Adult_Mar"): ("1427635", "5637421", "5763421"),
    ("total", "florida_30162_Aff"): ("4127365", "5367124", "5637124"),
}


@pytest.mark.parametrize(("guide", "name"), PRINTED)
def test_the_tables_stand_in_the_order_in_which_they_are_printed(guide: str, name: str) -> None:
    for measure, order in zip(MEASURES, PRINTED[guide, name], strict=True):
        values = paper.table(guide, name, measure)
        printed = [values[f"S{digit}"] for digit in order]
        assert printed == sorted(printed, reverse=measure == "diversity")


@pytest.mark.parametrize("guide", ["nllm", "total"])
@pytest.mark.parametrize("measure", MEASURES)
def test_ranks_of_a_column_are_one_to_seven(guide: str, measure: Measure) -> None:
    ranks = paper.ranks(guide, measure)
    columns = list(zip(*(ranks[strategy] for strategy in STRATEGIES), strict=True))
    assert len(columns) == len(paper.SHAPES) * len(paper.SIZES) == 21
    for column in columns:
        known = [rank for rank in column if rank is not None]
        assert len(set(known)) == len(known)
        assert set(known) <= set(range(1, 8))
        assert len(known) != 6  # a single lost one is found


def test_a_lost_rank_is_found() -> None:
    assert paper._filled([*"12.4567"]) == [1, 2, 3, 4, 5, 6, 7]
    assert paper._filled([*"1..4567"]) == [1, None, None, 4, 5, 6, 7]


def test_what_the_text_says_of_the_ranks() -> None:
    s7 = [rank for measure in MEASURES for rank in paper.ranks("nllm", measure)["S7"]]
    assert (s7.count(4), len(s7)) == (30, 63)  # "in 30 rankings out of 63"
    for guide in ("nllm", "total"):
        last, *first = (paper.ranks(guide, measure)["S5"] for measure in MEASURES)
        assert set(last) == {7}
        assert all(set(ranks) == {1} for ranks in first)


def test_what_the_text_says_of_the_means() -> None:
    values = {
        (name, measure): {
            strategy: mean
            for strategy, mean in paper.means("nllm", name, measure).items()
            if mean is not None
        }
        for name in ("Adult", "florida_30162")
        for measure in MEASURES
    }
    for name, least, most in (("Adult", 93.775, 9.628), ("florida_30162", 93.7, 9.635)):
        assert min(values[name, "diversity"].values()) == values[name, "diversity"]["S2"] == least
        assert max(values[name, "closeness"].values()) == most
        assert min(values[name, "alteration"].values()) > 50
    assert values["Adult", "closeness"]["S1"] == 9.628


def test_the_statements_hold_for_the_paper_itself() -> None:
    own = {
        name: {
            s: {
                m: paper.table("nllm", name, m)[s] * (2 if m == "closeness" else 1)
                for m in MEASURES
            }
            for s in STRATEGIES
        }
        for name in ("Adult_Age", "Adult_Mar")
    }
    assert {claim.verdict for claim in of_strategies(own)} == {"agrees"}
    swapped = {name: {**areas, "S1": areas["S5"], "S5": areas["S1"]} for name, areas in own.items()}
    *claims, bounds = of_strategies(swapped)
    assert {claim.verdict for claim in claims} == {"differs"}
    assert bounds.verdict == "agrees"  # S5 is within the bounds of S1
