"""Trial: one run of the flow, measured, in a process of its own so that its memory is its own."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from time import perf_counter
from typing import IO, Any

from shoal.anonymize import anonymize
from shoal.errors import ShoalError
from shoal.plan import Plan
from shoal.progress import Progress, silent
from shoal.release import Release

SERVE = "from shoal.trial import serve; serve()"
PATIENCE = 0.1  # seconds between two words about progress
MEGABYTE = 1e6


@dataclass(frozen=True)
class Task:
    """What a process has to do: warm up on a small sample, then run one plan on the table."""

    sample: Any
    warm: Sequence[Plan]
    table: Any = None  # a frame, or the path of a file; None: nothing but warming up
    plan: Plan | None = None


@dataclass(frozen=True)
class Measured:
    """What a run brought: the numbers of its release, and what it took."""

    losses: dict[str, float]  # percent of alteration, per metric
    mean_loss: float  # over the seven metrics (Def. 9, Mauger 2023)
    classes: int
    smallest_class: int
    average_class_size: float
    published: int
    suppressed: int
    generalized_percent: float
    root_percent: float
    linked: bool  # whether rows were widened one by one, without classes
    seconds: dict[str, float]  # by step of the flow
    peak_mb: float | None  # the most memory that the process ever held; None: not measured
    rest_mb: float | None  # the same before the table was there

    @property
    def recode_seconds(self) -> float:
        """What the algorithm itself took."""
        return self.seconds["recode"]

    @property
    def whole_seconds(self) -> float:
        """From the table in memory to the verified and measured release."""
        return sum(spent for step, spent in self.seconds.items() if step != "read")

    @staticmethod
    def of(release: Release, peak: float | None = None, rest: float | None = None) -> Measured:
        """The numbers of a release."""
        quality = release.quality
        return Measured(
            losses=dict(quality.losses),
            mean_loss=quality.mean_loss,
            classes=release.classes,
            smallest_class=release.smallest_class,
            average_class_size=release.average_class_size,
            published=release.published,
            suppressed=release.suppressed,
            generalized_percent=quality.generalized_percent,
            root_percent=quality.root_percent,
            linked=release.after.linked,
            seconds=dict(release.seconds),
            peak_mb=peak,
            rest_mb=rest,
        )


class Failed(ShoalError):
    """A run that brought no release, and why."""


def run_here(task: Task, progress: Progress = silent) -> Measured:
    """Run in this process, where memory cannot be told from what was there before."""
    for plan in task.warm:
        _warm_up(task.sample, plan)
    try:
        return Measured.of(_release(task, progress))
    except ShoalError as error:
        raise Failed(str(error)) from None


def run_apart(
    task: Task, progress: Progress = silent, limit: float | None = None
) -> Measured | None:
    """Run in a process of its own, for `limit` seconds at the most."""
    try:
        asked = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        raise Failed(
            "the table or the plan cannot be handed to another process; "
            "shoal.compare(…, apart=False) runs in this one"
        ) from None
    # Not multiprocessing: it would run the user's own script again where nothing guards it.
    where = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if os.environ.get("SHOAL_DEBUG") else subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": where},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    alarm = Timer(limit or 0.0, process.kill)
    try:
        with suppress(BrokenPipeError), process.stdin as inbox:
            inbox.write(asked)
        return _listen(process.stdout, progress, None if limit is None else alarm)
    except (EOFError, pickle.UnpicklingError):
        if alarm.finished.is_set():
            raise Failed(f"stopped: it was not done after {limit:g} seconds") from None
        raise Failed(_how_it_ended(process.wait())) from None
    finally:
        alarm.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def _listen(inbox: IO[bytes], progress: Progress, alarm: Timer | None) -> Measured | None:
    """What the other process says, until it is done; the time runs from when it has warmed up."""
    while True:
        match pickle.load(inbox):
            case ("warm",) if alarm is not None:
                alarm.start()
            case "progress", str(stage), float(share):
                progress(stage, share)
            case "failed", str(reason):
                raise Failed(reason)
            case "done", measured:
                assert measured is None or isinstance(measured, Measured)
                return measured


def _how_it_ended(status: int) -> str:
    if status == -9:
        return "the system killed the run, most likely for want of memory"
    return f"the run ended by itself (status {status}); SHOAL_DEBUG=1 shows why"


def serve() -> None:
    """Do what standard input asks for, and say on standard output how it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked ends this process
    with os.fdopen(os.dup(0), "rb") as inbox, os.fdopen(os.dup(1), "wb") as outbox:
        os.dup2(2, 1)  # nobody's print may stand between our words

        def say(*words: Any) -> None:
            pickle.dump(words, outbox, pickle.HIGHEST_PROTOCOL)
            outbox.flush()

        try:
            say("done", _run(pickle.load(inbox), say))
        except ShoalError as error:
            say("failed", str(error))
        except MemoryError:
            say("failed", "there was not enough memory")
        except BrokenPipeError:
            os._exit(1)  # nobody listens any more
        except Exception as error:
            if os.environ.get("SHOAL_DEBUG"):
                raise
            say("failed", f"a defect of shoal ({type(error).__name__})")


def _run(task: Task, say: Any) -> Measured | None:
    for plan in task.warm:
        _warm_up(task.sample, plan)
    if task.plan is None:
        return None
    rest = peak_memory()
    say("warm")
    last = perf_counter()

    def tell(stage: str, share: float) -> None:
        nonlocal last
        if perf_counter() - last > PATIENCE:
            last = perf_counter()
            say("progress", stage, float(share))

    return Measured.of(_release(task, tell), peak_memory(), rest)


def _release(task: Task, progress: Progress) -> Release:
    assert task.plan is not None
    return anonymize(task.table, task.plan, progress=progress)


def _warm_up(sample: Any, plan: Plan) -> None:
    """Compile the kernels, or load what was compiled before: that is no part of the run."""
    with suppress(ShoalError):  # a sample may be too small for a promise
        anonymize(sample, plan)


def peak_memory() -> float | None:
    """The most megabytes that this process ever held in memory; None where it does not tell."""
    with suppress(OSError, StopIteration):
        # Linux: getrusage() would count what the parent held when it started us.
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="ignore").splitlines()
        mark = next(line for line in lines if line.startswith("VmHWM:"))
        return int(mark.split()[1]) * 1024 / MEGABYTE
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE
