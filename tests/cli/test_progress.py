"""Progress on the screen: what happens to the data, and the time left."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import shoal
from shoal.base.progress import Progress
from shoal.cli import progress
from shoal.cli.progress import COMPILING, STAGES, progress_on

SOURCE = Path(shoal.__file__).parent
ROOMS = ("algorithms", "attacks", "flow", "measures", "table")
CALL = re.compile(r'(?:progress|clock\.start)\(\s*"([^"]+)"')


def used() -> set[str]:
    """The stages that the flow and the algorithms report."""
    files = [path for room in ROOMS for path in (SOURCE / room).rglob("*.py")]
    return {stage for path in files for stage in CALL.findall(path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("stage", sorted(used()))
def test_every_stage_has_words(stage: str) -> None:
    assert stage in STAGES, f"say in cli/progress.py what {stage!r} does with the user's data"


def test_a_log_gets_lines_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 10.0, 11.0, 40.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    log = StringIO()
    report: Progress = progress._lines(Console(file=log, width=80))
    report("merging", 0.0)  # at 1 s
    report("merging", 0.25)  # at 10 s
    report("merging", 0.3)  # too soon for another line
    report("a stage of tomorrow", 0.0)
    assert log.getvalue() == ("finding groups: 25 %, about 27 s left\na stage of tomorrow: 0 %\n")


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
