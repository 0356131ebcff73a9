"""What is said of a level that no release of a table can reach."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal.base.errors import CannotReach
from shoal.models.delta_presence import DeltaPresence
from shoal.models.entropy_l_diversity import EntropyLDiversity
from shoal.models.k_map import KMap
from shoal.models.t_closeness import TCloseness


@pytest.mark.parametrize(
    ("best", "asked"), [(299285, 299285), (1234567, 1234567), (13, 13), (2, 2)]
)
def test_a_whole_number_is_advised_as_it_is_reached(best, asked):
    """Four digits of it would be fewer than what is possible, or in another notation."""
    model = KMap(k=2_000_000)
    assert model.nearest(best) == asked
    assert f"reaches only {best}; ask for {asked}, or" in model.out_of_reach(best)
    assert "k-map with 2000000 cannot be reached" in model.out_of_reach(best)
    assert model.ways_out(best)[0].value == {"k": asked}
    assert KMap(k=5).nearest(1) is None


def test_other_levels_are_rounded_to_the_safe_side():
    said = EntropyLDiversity(column="s", l=3.5).out_of_reach(2.71828)
    assert "reaches only 2.71828; ask for 2.718, or" in said


def test_where_lower_is_safer_it_does_not_get_below():
    said = TCloseness(column="s", t=0.04).out_of_reach(0.0499257)
    assert "with 0.04 cannot be reached" in said
    assert "does not get below 0.0499257; ask for 0.04993, or for another model" in said
    said = DeltaPresence(high=0.04).out_of_reach(0.0499257)
    assert "does not get below 0.0499257; ask for 0.04993, or publish a smaller sample" in said
    assert "reaches only" not in said
    assert "below 0.1; ask for less" in DeltaPresence(high=0.9, low=0.1).out_of_reach(float("inf"))


def test_what_is_advised_is_released():
    people = pa.table({"a": [i % 7 for i in range(1235)]})
    plan = {
        "columns": {"a": {"role": "quasi", "hierarchy": {"ranges": [2, 4]}}},
        "population": {"data": people},
        "models": [{"name": "k-map", "k": 3000}],
    }
    sample = people.slice(0, 40)
    with pytest.raises(CannotReach, match="reaches only 1235; ask for 1235") as error:
        shoal.anonymize(sample, plan)
    [model] = plan["models"]
    assert error.value.ways[0].value == {"k": 1235}
    release = shoal.anonymize(sample, {**plan, "models": [{**model, "k": 1235}]})
    assert release.checks[0].reached == 1235
    high = {"name": "delta-presence", "high": 0.02}
    with pytest.raises(CannotReach, match=r"does not get below 0\.032388.; ask for 0\.03239"):
        shoal.anonymize(sample, {**plan, "models": [high]})
    release = shoal.anonymize(sample, {**plan, "models": [{**high, "high": 0.03239}]})
    assert release.checks[0].holds
