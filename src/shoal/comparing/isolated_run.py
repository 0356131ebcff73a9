"""Trial: runs of the flow, measured, in a process apart so that their memory is their own."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Timer
from time import perf_counter
from typing import Any

from shoal.base.errors import ShoalError
from shoal.base.progress import Progress, silent
from shoal.base.stopwatch import stopwatch
from shoal.flow.anonymize import anonymize
from shoal.flow.release import Release
from shoal.plan import Plan

SERVE = "from shoal.comparing.isolated_run import serve; serve()"
WARMING = "compiling or loading kernels"
REPORT_EVERY = 0.1  # seconds between two reports of progress
MEGABYTE = 1e6
NOISE = 0.01  # the share of a run that may go into loading kernels before it is run again


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
    peak_mb: float | None  # the most that the process held during the run; None: not measured
    rest_mb: float | None  # what it held just before the run
    cold: str = ""  # why kernels could not be warmed up before the run

    @property
    def recode_seconds(self) -> float:
        """What the algorithm itself took."""
        return self.seconds["recode"]

    @property
    def whole_seconds(self) -> float:
        """From the table in memory to the verified and measured release."""
        return sum(spent for step, spent in self.seconds.items() if step != "read")

    @property
    def memory_mb(self) -> float | None:
        """The most that the run took at once, beside what the process held before."""
        if self.peak_mb is None or self.rest_mb is None:
            return None
        return max(0.0, self.peak_mb - self.rest_mb)

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


class Here:
    """Runs plans on a table in this process, each when its kernels are warm."""

    def __init__(self, table: Any, sample: Any, memory: bool = False) -> None:
        self._table, self._sample, self._memory = table, sample, memory
        self._warm: dict[str, str] = {}  # what was warmed up, and why that failed

    def run(
        self,
        plan: Plan,
        progress: Progress = silent,
        limit: float | None = None,  # noqa: ARG002 (nobody could stop it)
        begin: Callable[[], None] = lambda: None,
    ) -> Measured:
        """Run a plan; `begin` is called when the kernels are warm."""
        try:
            cold = self._warm_up(plan, progress)
            found, compiling = self._measure(plan, progress, begin)
            if compiling > NOISE * sum(found.seconds.values()):
                # The sample did not lead to all of its kernels; now they are there.
                found, _ = self._measure(plan, progress, begin)
        except Failed:
            raise
        except ShoalError as error:
            raise Failed(str(error)) from None
        return replace(found, cold=cold)

    def _measure(
        self, plan: Plan, progress: Progress, begin: Callable[[], None]
    ) -> tuple[Measured, float]:
        """What a run brings, and the seconds of it in which kernels were compiled or loaded."""
        rest = resting_memory() if self._memory else None
        begin()
        with stopwatch() as watch:
            release = anonymize(self._table, plan, progress=progress)
        peak = peak_memory() if self._memory else None
        return Measured.of(release, peak, rest), watch.compiling

    def _warm_up(self, plan: Plan, progress: Progress) -> str:
        """Compile the kernels, or load what was compiled before: that is no part of the run."""
        easy = loosened(plan)
        kind = str([one.setting() for one in (easy.algorithm, easy.loss, *easy.models)])
        if kind not in self._warm:
            self._warm[kind] = ""
            progress(WARMING, 0.0)
            try:
                anonymize(self._sample, easy)
            except ShoalError as error:
                self._warm[kind] = str(error)
        return self._warm[kind]

    def close(self) -> None:
        """Nothing to end."""


def loosened(plan: Plan) -> Plan:
    """The same plan with models that require almost nothing."""
    return plan.changed(models=[model.loosened() for model in plan.models])


class Apart:
    """Runs plans on a table in a process of its own; one that is gone is replaced."""

    def __init__(self, table: Any, sample: Any) -> None:
        try:
            self._asked = pickle.dumps((table, sample), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError):
            raise Failed(
                "the table cannot be handed to another process; "
                "shoal.compare(…, apart=False) runs in this one"
            ) from None
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, plan: Plan, progress: Progress = silent, limit: float | None = None) -> Measured:
        """Run a plan, for `limit` seconds at the most."""
        try:
            asked = pickle.dumps(plan, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError):
            raise Failed(
                "the plan cannot be handed to another process; "
                "shoal.compare(…, apart=False) runs in this one"
            ) from None
        process = self._process = self._process or self._started()
        alarm = _Alarm(limit, process.kill)
        go_on = False
        try:
            self._send(asked)
            found, go_on = self._listen(process, progress, alarm)
        except (EOFError, pickle.UnpicklingError):
            if alarm.rang:
                raise Failed(f"stopped: it was not done after {limit:g} seconds") from None
            raise Failed(_how_it_ended(process.wait())) from None
        finally:
            alarm.cancel()
            if not go_on:
                self.close()
        if isinstance(found, str):
            raise Failed(found)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        # Not multiprocessing: it would run the user's own script again where nothing guards it.
        where = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("SHOAL_DEBUG") else subprocess.DEVNULL,
            # The system's own allocator gives back what a run freed, so that runs compare.
            env={
                **os.environ,
                "PYTHONPATH": where,
                "ARROW_DEFAULT_MEMORY_POOL": "system",
                "MALLOC_ARENA_MAX": "1",
            },
        )
        self._send(self._asked)
        return self._process

    def _send(self, asked: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # listening will tell how it ended
            self._process.stdin.write(asked)
            self._process.stdin.flush()

    def _listen(
        self, process: subprocess.Popen[bytes], progress: Progress, alarm: _Alarm
    ) -> tuple[Measured | str, bool]:
        """What a run brings, or why nothing, and whether its process can do another one."""
        assert process.stdout is not None
        while True:
            match pickle.load(process.stdout):
                case ("begin",):
                    alarm.set()
                case "progress", str(stage), float(share):
                    progress(stage, share)
                case "done", Measured() | str() as found, bool(go_on):
                    return found, go_on

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(BrokenPipeError):
                    if stream is not None:
                        stream.close()


class _Alarm:
    """Ends a run after some seconds, which count from when it began last."""

    def __init__(self, limit: float | None, kill: Callable[[], None]) -> None:
        self._limit, self._kill = limit, kill
        self._timer: Timer | None = None
        self.rang = False

    def set(self) -> None:
        self.cancel()
        if self._limit is not None:
            self._timer = Timer(self._limit, self._ring)
            self._timer.start()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _ring(self) -> None:
        self.rang = True
        self._kill()


def _how_it_ended(status: int) -> str:
    if status == -9:
        return "the system killed the run, most likely for want of memory"
    return f"the run ended by itself (status {status}); SHOAL_DEBUG=1 shows why"


def serve() -> None:
    """Run the plans that standard input asks for, and say on standard output how it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked ends this process
    with os.fdopen(os.dup(0), "rb") as inbox, os.fdopen(os.dup(1), "wb") as outbox:
        os.dup2(2, 1)  # nobody's print may stand between our words

        def say(*words: Any) -> None:
            pickle.dump(words, outbox, pickle.HIGHEST_PROTOCOL)
            outbox.flush()

        try:
            table, sample = pickle.load(inbox)
            trial = Here(table, sample, memory=True)
            go_on = True
            while go_on:
                found, go_on = _served(trial, pickle.load(inbox), say)
                say("done", found, go_on)
        except EOFError:
            pass  # nothing more is asked
        except BrokenPipeError:
            os._exit(1)  # nobody listens any more


def _served(trial: Here, plan: Plan, say: Callable[..., None]) -> tuple[Measured | str, bool]:
    """What a run brings, or why nothing, and whether another one can follow in this process."""
    last = 0.0

    def tell(stage: str, share: float) -> None:
        nonlocal last
        if perf_counter() - last > REPORT_EVERY:
            last = perf_counter()
            say("progress", stage, float(share))

    try:
        return trial.run(plan, tell, begin=lambda: say("begin")), forget_peak()
    except ShoalError as error:
        return str(error), forget_peak()
    except MemoryError:
        return "there was not enough memory", False
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        return f"a defect of shoal ({type(error).__name__})", False


def resting_memory() -> float | None:
    """Give back what earlier runs left, forget their peak, and tell the megabytes that stay."""
    gc.collect()
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # glibc keeps what was freed
        ctypes.CDLL(None).malloc_trim(0)
    forget_peak()
    return peak_memory()


def forget_peak() -> bool:
    """Note the most memory that this process holds from now on; whether the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def peak_memory() -> float | None:
    """The most megabytes that this process held since `forget_peak`; None where it does not tell.

    Where the system cannot forget, it is the most that the process ever held.
    """
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
