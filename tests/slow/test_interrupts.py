"""Item 14: interrupts at 200 random moments of every command with every algorithm."""

from __future__ import annotations

import sys

import pytest

from tests.slow import pauses
from tests.slow.interrupts import main


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it looks into /proc")
def test_item_14_interrupts_at_200_random_moments():
    assert main(200) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="it needs a timer that sends signals")
def test_item_0_every_kernel_pauses_within_a_second():
    assert pauses.main(100_000, []) == []
