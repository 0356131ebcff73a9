"""Amounts of memory, and what does not fit."""

from __future__ import annotations

import pytest

from shoal import BadPlan
from shoal.algorithms._shared.parts.cuts import PER_TUPLE
from shoal.engines.resources import PER_PAIR, PER_RECORD, Resources
from shoal.io.memory import machine_memory


def test_units_that_fit() -> None:
    given = Resources(1000 * PER_TUPLE)
    given.check_units(1000, 2)
    with pytest.raises(BadPlan, match="1,001 distinct combinations"):
        given.check_units(1001, 2)


def test_people_that_fit() -> None:
    given = Resources(1000 * PER_RECORD, parts=None)
    given.check_profiles(1000, 2)
    with pytest.raises(BadPlan, match="people have 1,001 records"):
        given.check_profiles(1001, 2)
    given = Resources(1000 * PER_PAIR)
    given.check_pairs(1000)
    with pytest.raises(BadPlan, match="1,001 different values of people"):
        given.check_pairs(1001)


def test_by_default_half_of_the_memory() -> None:
    assert Resources.of(None).memory == machine_memory() // 2
    assert Resources.of("1.5GB").memory == 1_500_000_000
