"""Time left."""

from __future__ import annotations

import pytest

from shoal.base import progress
from shoal.base.progress import Timing


def test_the_time_left_of_a_series_counts_all_of_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    timing = Timing()
    for place in range(4):  # each takes ten seconds, and has a name of its own
        for part in range(10):
            timing.report(f"sample: k = {5 + place} ({place + 1} of 4)", (place + part / 10) / 4)
            now[0] += 1.0
            if place:
                assert timing.seconds_left == pytest.approx(40.0 - 10 * place - part, abs=2.0)
    timing.report("table: k = 5 (1 of 2)", 0.0)  # another series begins
    assert timing.seconds_left is None


def test_loading_kernels_is_no_work_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    timing = Timing()
    timing.report("run 1 of 2: peel", 0.0)
    timing.report("run 1 of 2: peel: compiling or loading kernels", 0.0)
    now[0] += 100.0
    timing.report("run 1 of 2: peel", 0.1)
    now[0] += 5.0
    timing.report("run 2 of 2: gaa", 0.5)
    assert timing.seconds_left == pytest.approx(5.0)
