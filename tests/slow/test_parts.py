"""What parts lose on real tables, against the whole: at most 2 % more of the loss."""

from __future__ import annotations

import pytest

from benchmarks.parts import GOAL, PARTS, SIZES, compared, tables


@pytest.mark.slow
@pytest.mark.parametrize("k", SIZES)
@pytest.mark.parametrize("name", ["adult", "census", "births"])
def test_parts_lose_little_more_than_the_whole(name, k):
    if name not in tables():
        pytest.skip(f"the files of {name} are not available")
    whole, *cut = compared(name, k, PARTS)
    assert whole["parts"] == 1
    assert all(one["parts"] > 1 for one in cut)
    assert max(one["ratio"] for one in cut) <= GOAL
