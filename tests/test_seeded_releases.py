"""Releases made with a seed stay the same, byte for byte, unless the changelog says otherwise."""

from __future__ import annotations

import json

import pytest

from tests.seeded_releases import RECORDED, releases


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_seeded_releases_are_the_same(every: int) -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    now = releases(every)
    assert {name: recorded[name] for name in now} == now
    if every == 1:
        assert set(now) == set(recorded)
