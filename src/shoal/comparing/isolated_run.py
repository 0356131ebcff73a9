"""Measured runs of the flow, in a separate process so that their memory can be measured."""

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
NOISE = 0.01  # a run is repeated if loading kernels took more than this share of it


@dataclass(frozen=True)
class Measured:
    """The result of a run: the numbers of its release, its time and its memory."""

    losses: dict[str, float]  # in percent, per metric
    mean_loss: float  # over the seven metrics (Def. 9, Mauger 2023)
    classes: int
    smallest_class: int
    average_class_size: float
    published: int
    suppressed: int
    generalized_percent: float
    root_percent: float
    linked: bool  # whether records were generalized one by one, without classes
    seconds: dict[str, float]  # by step of the flow
    peak_mb: float | None  # peak memory of the process during the run; None: not measured
    rest_mb: float | None  # its memory just before the run
    cold: str = ""  # why the warm-up failed

    @property
    def recode_seconds(self) -> float:
        """Seconds of the algorithm itself."""
        return self.seconds["recode"]

    @property
    def whole_seconds(self) -> float:
        """Seconds from the table in memory to the verified and measured release."""
        return sum(spent for step, spent in self.seconds.items() if step != "read")

    @property
    def memory_mb(self) -> float | None:
        """Peak memory of the run, in addition to what the process used before."""
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
    """A run produced no release; the message says why."""


class Here:
    """Runs plans on a table in this process, each after its kernels are loaded."""

    def __init__(self, table: Any, sample: Any, memory: bool = False) -> None:
        self._table, self._sample, self._memory = table, sample, memory
        self._warm: dict[str, str] = {}  # by kind of plan that was warmed up, why that failed

    def run(
        self,
        plan: Plan,
        progress: Progress = silent,
        limit: float | None = None,  # noqa: ARG002 (nothing could stop it)
        begin: Callable[[], None] = lambda: None,
    ) -> Measured:
        """Run a plan; `begin` is called when the kernels are loaded."""
        try:
            cold = self._warm_up(plan, progress)
            found, compiling = self._measure(plan, progress, begin)
            if compiling > NOISE * sum(found.seconds.values()):
                # The warm-up did not use all of its kernels; now they are loaded.
                found, _ = self._measure(plan, progress, begin)
        except Failed:
            raise
        except ShoalError as error:
            raise Failed(str(error)) from None
        return replace(found, cold=cold)

    def _measure(
        self, plan: Plan, progress: Progress, begin: Callable[[], None]
    ) -> tuple[Measured, float]:
        """The result of a run, and the seconds in which kernels were compiled or loaded."""
        rest = resting_memory() if self._memory else None
        begin()
        with stopwatch() as watch:
            release = anonymize(self._table, plan, progress=progress)
        peak = peak_memory() if self._memory else None
        return Measured.of(release, peak, rest), watch.compiling

    def _warm_up(self, plan: Plan, progress: Progress) -> str:
        """Compile or load the kernels, which is not counted; returns why that failed."""
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
    """Runs plans on a table in a separate process, which is replaced if it dies."""

    def __init__(self, table: Any, sample: Any) -> None:
        try:
            self._asked = pickle.dumps((table, sample), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError):
            raise Failed(
                "the table cannot be sent to another process; "
                "shoal.compare(…, apart=False) runs in this one"
            ) from None
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, plan: Plan, progress: Progress = silent, limit: float | None = None) -> Measured:
        """Run a plan for at most `limit` seconds."""
        try:
            asked = pickle.dumps(plan, pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError):
            raise Failed(
                "the plan cannot be sent to another process; "
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
                raise Failed(f"stopped: not finished after {limit:g} seconds") from None
            raise Failed(_how_it_ended(process.wait())) from None
        finally:
            alarm.cancel()
            if not go_on:
                self.close()
        if isinstance(found, str):
            raise Failed(found)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        # Not multiprocessing: it would run a script of the user again that has no main guard.
        where = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("SHOAL_DEBUG") else subprocess.DEVNULL,
            # The system's allocator returns freed memory, so that runs can be compared.
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
        with suppress(BrokenPipeError):  # listening will show how it ended
            self._process.stdin.write(asked)
            self._process.stdin.flush()

    def _listen(
        self, process: subprocess.Popen[bytes], progress: Progress, alarm: _Alarm
    ) -> tuple[Measured | str, bool]:
        """The result of a run or why there is none, and whether the process can go on."""
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
    """Ends a run after some seconds, counted from when it last began."""

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
        return "the system killed the run, most likely because memory ran out"
    return f"the process of the run ended with status {status}; SHOAL_DEBUG=1 shows why"


def serve() -> None:
    """Run the plans that arrive on standard input, and send results to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    with os.fdopen(os.dup(0), "rb") as inbox, os.fdopen(os.dup(1), "wb") as outbox:
        os.dup2(2, 1)  # a print() must not get between the messages

        def send(*message: Any) -> None:
            pickle.dump(message, outbox, pickle.HIGHEST_PROTOCOL)
            outbox.flush()

        try:
            table, sample = pickle.load(inbox)
            trial = Here(table, sample, memory=True)
            go_on = True
            while go_on:
                found, go_on = _served(trial, pickle.load(inbox), send)
                send("done", found, go_on)
        except EOFError:
            pass  # the parent has no more plans
        except BrokenPipeError:
            os._exit(1)  # the parent is gone


def _served(trial: Here, plan: Plan, send: Callable[..., None]) -> tuple[Measured | str, bool]:
    """The result of a run or why there is none, and whether another can follow here."""
    last = 0.0

    def report(stage: str, share: float) -> None:
        nonlocal last
        if perf_counter() - last > REPORT_EVERY:
            last = perf_counter()
            send("progress", stage, float(share))

    try:
        return trial.run(plan, report, begin=lambda: send("begin")), forget_peak()
    except ShoalError as error:
        return str(error), forget_peak()
    except MemoryError:
        return "not enough memory", False
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            raise
        return f"internal error in shoal ({type(error).__name__})", False


def resting_memory() -> float | None:
    """Free what earlier runs left, reset the peak, and return the megabytes still in use."""
    gc.collect()
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # glibc keeps freed memory
        ctypes.CDLL(None).malloc_trim(0)
    forget_peak()
    return peak_memory()


def forget_peak() -> bool:
    """Reset the peak memory of this process; whether the system can do that (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def peak_memory() -> float | None:
    """Peak memory of this process in megabytes since `forget_peak`; None if not known.

    Where the peak cannot be reset, it is that of the whole life of the process.
    """
    with suppress(OSError, StopIteration):
        # Linux: getrusage() would include what the parent used when it started us.
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="ignore").splitlines()
        mark = next(line for line in lines if line.startswith("VmHWM:"))
        return int(mark.split()[1]) * 1024 / MEGABYTE
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE
