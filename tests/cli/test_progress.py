"""Progress on the screen: what happens to the data, and the time left."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import shoal
from shoal.base import progress as base_progress
from shoal.base.progress import STAGES, Progress, Stage, Timing
from shoal.cli import progress
from shoal.cli.progress import COMPILING, progress_on

SOURCE = Path(shoal.__file__).parent
ROOMS = ("algorithms", "attacks", "flow", "measures", "table")
CALL = re.compile(r'(?:progress|clock\.start)\(\s*"([^"]+)"')


def used() -> set[str]:
    """The stages that the flow and the algorithms report."""
    files = [path for room in ROOMS for path in (SOURCE / room).rglob("*.py")]
    return {stage for path in files for stage in CALL.findall(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("stage", sorted(used()))
def test_every_stage_has_words(stage: str) -> None:
    assert stage in STAGES, f"say in base/progress.py what {stage!r} does with the user's data"


class Clock:
    """A clock that a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        for module in (progress, base_progress):
            monkeypatch.setattr(module, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_a_log_gets_lines_with_the_time_left(clock: Clock) -> None:
    log = StringIO()
    report: Progress = progress._lines(Console(file=log, width=80))
    for now, stage, share in (
        (1.0, "merging", 0.0),
        (10.0, "merging", 0.25),
        (11.0, "merging", 0.3),  # too soon for another line
        (40.0, "a stage of tomorrow", 0.0),
    ):
        clock.now = now
        report(stage, share)
    assert log.getvalue() == ("finding groups: 25 %, about 27 s left\na stage of tomorrow: 0 %\n")


def test_the_first_moments_of_a_stage_predict_nothing(clock: Clock) -> None:
    """A stage that had done a thousandth in its first second promised 806 minutes."""
    timing = Timing()
    for now, share, left in (
        (0.0, 0.0, ""),
        (1.0, 0.00002, ""),
        (2.0, 0.5, ""),  # too early
        (9.0, 0.04, ""),  # a share that falls does not count
        (10.0, 0.5, ", about 10 s left"),
    ):
        clock.now = now
        assert timing.report("merging", share)
        if now != 9.0:
            assert timing.left == left
    clock.now = 20.0
    timing.report("peeling", 0.0)
    clock.now = 60.0
    timing.report("peeling", 0.01)
    assert timing.left == ""  # one percent is too little, however long it took


def test_compiling_is_not_the_work_of_a_stage(clock: Clock) -> None:
    timing = Timing()
    timing.report("merging", 0.0)
    clock.now = 5.0
    timing.report("merging", 0.1)
    timing.report("compile", 0.3)
    clock.now = 105.0
    timing.report("merging", 0.1)
    assert timing.left == ", about 45 s left"


def test_the_screen_does_not_go_back(clock: Clock) -> None:
    """Not to an outer step that ends after the stages inside it, and not to a smaller share."""
    timing = Timing()
    shown = [
        (stage, timing.share)
        for stage, share in (
            ("recode", 0.0),
            ("peeling", 0.5),
            ("peeling", 0.4),
            ("exchanging", 0.2),
            ("recode", 1.0),  # from the clock of the flow
            ("decode", 0.0),
            ("decode", 1.0),
        )
        if timing.report(stage, share)
    ]
    assert shown == [
        ("recode", 0.0),
        ("peeling", 0.5),
        ("peeling", 0.5),
        ("exchanging", 0.2),
        ("decode", 0.0),
        ("decode", 1.0),
    ]


def test_a_terminal_gets_a_bar(clock: Clock) -> None:
    log = StringIO()
    console = Console(file=log, force_terminal=True, width=100)
    with progress._drawn(console) as report:
        report("merging", 0.0)
        clock.now = 10.0
        report("merging", 0.5)
    assert "finding groups" in log.getvalue()
    assert "about 10 s left" in log.getvalue()


def test_a_stage_that_begins_again_begins_at_0(clock: Clock) -> None:
    timing = Timing()
    timing.report("merging", 0.9)
    clock.now = 50.0
    timing.report("merging", 0.0)  # the next algorithm that `auto` tries
    assert timing.share == 0.0
    clock.now = 60.0
    timing.report("merging", 0.5)
    assert timing.left == ", about 10 s left"


def test_the_first_run_says_that_kernels_are_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []
    monkeypatch.setattr(progress, "on_compiling", lambda call: calls.append(call) or _Nothing())
    with progress_on(Console(file=StringIO())):
        calls[0]()
    assert capsys.readouterr().err.strip() == COMPILING


class _Nothing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def test_what_a_stage_has_found_so_far_is_shown(clock: Clock) -> None:
    log = StringIO()
    report: Progress = progress._lines(Console(file=log, width=120))
    for now, stage in (
        (1.0, "bounding"),
        (10.0, Stage("bounding", bound=4.21)),
        (20.0, Stage("bounding", bound=4.43, gap=0.25)),
    ):
        clock.now = now
        report(stage, now / 40)
    assert log.getvalue() == (
        "proving a lower bound on the loss (bound 4.21 %): 25 %, about 27 s left\n"
        "proving a lower bound on the loss (bound 4.43 %, gap 0.25 %): 50 %, about 19 s left\n"
    )


def test_a_written_release_is_told_once_there_is_a_bound_to_keep(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen: list[str] = []
    report = progress.telling_it_is_written(lambda stage, _: seen.append(stage))
    for stage in ("analyzing", "bounding"):  # nothing would be kept yet
        report(stage, 0.5)
    assert capsys.readouterr().err == ""
    for bound in (4.21, 4.43):
        report(Stage("bounding", bound=bound), 0.5)
    assert " ".join(capsys.readouterr().err.split()) == progress.WRITTEN
    assert seen == ["analyzing", "bounding", "bounding", "bounding"]
