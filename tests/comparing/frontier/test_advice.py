"""The knee of a frontier, and advice in words."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.comparing.frontier.advice import Place, compared, knee_of, undominated


@pytest.mark.parametrize("seed", range(50))
def test_undominated_as_by_comparing_all_pairs(seed):
    rng = np.random.default_rng(seed)
    places = [
        Place(float(risk), float(lost))
        for risk, lost in rng.integers(0, 6, (int(rng.integers(0, 12)), 2))
    ]
    found = undominated(places)
    for i, one in enumerate(places):
        better = [o for o in places if o.risk <= one.risk and o.lost <= one.lost and o != one]
        assert (i in found) == (not better and places.index(one) == i)
    assert [places[i].risk for i in found] == sorted((places[i].risk for i in found), reverse=True)


def test_the_knee_is_where_the_loss_begins_to_rise():
    places = [Place(0.5, 1.0), Place(0.3, 1.5), Place(0.1, 2.0), Place(0.05, 12.0)]
    assert knee_of(places) == 2
    assert knee_of(places[:2]) is None
    straight = [Place((1 - x) ** 2, 10 * x) for x in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert knee_of(straight) is None


def test_what_another_setting_costs_in_words():
    own = Place(0.2, 5.0)
    assert "0.6 points more" in compared("k = 8", Place(0.12, 5.6), "k = 5", own, "risk")
    assert "by 40 %" in compared("k = 8", Place(0.12, 5.6), "k = 5", own, "risk")
    assert "loses as much as" in compared("k = 6", Place(0.1, 5.01), "k = 5", own, "risk")
    assert "raises the risk" in compared("k = 3", Place(0.3, 4.0), "k = 5", own, "risk")
    assert "does not change" in compared("t = 0.1", Place(0.2, 9.0), "k = 5", own, "risk")
