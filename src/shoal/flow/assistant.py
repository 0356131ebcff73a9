"""Assistant: a second process that helps to compile the kernels of the first run.

The first run compiles each kernel when it is first called. When the first one is missing, the
command starts an assistant and sends it the plan and a sample of the table (see `rehearsal`). If
anything fails there, the command compiles all kernels itself.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from time import sleep

import numpy as np
import pyarrow as pa

from shoal import kernels
from shoal.base import interrupt, own_process
from shoal.base.progress import Progress
from shoal.base.threads import available
from shoal.io.frames import Frame
from shoal.kernels import Job
from shoal.models import min_class_size
from shoal.plan import Plan

# Records of the sample; more if the classes of the plan are large. With fewer classes `peel` does
# not look ahead, and its kernels for that would not be found.
SAMPLE, CLASSES, LARGEST = 60, 80, 480
JOBS = "jobs"  # the file with the kernels that the plan needs
TICK = 0.02  # seconds between two looks at what the assistant has done
ENDING = 2.0  # seconds that it gets to end
# The assistant finds modules where the command found them, and not in the current folder (-P).
START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from shoal.flow.rehearsal import assist; assist()"
)


@contextmanager
def compiling_together(frame: Frame, plan: Plan, progress: Progress) -> Iterator[None]:
    """Compile missing kernels in two processes; only in a process of the command line."""
    if not own_process.claimed() or available() < 2:
        yield
        return
    with ExitStack() as stack:
        assistant: Assistant | None = None

        def wait(job: Job) -> None:
            nonlocal assistant
            if assistant is None:
                assistant = stack.enter_context(assisted(frame, plan))
            progress("compile", assistant.share())
            if assistant.process and not claim(job, assistant.folder):
                while not job.is_stored() and assistant.process.poll() is None:
                    if not assistant.compile_another():
                        sleep(TICK)
                    progress("compile", assistant.share())

        with kernels.before_compiling(wait):
            yield


class Assistant:
    """The second process, and the folder in which both note what they do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self._jobs: list[Job] | None = None  # what is needed later; None: not known yet

    def compile_another(self) -> bool:
        """Compile a kernel that is needed later and that nobody has claimed; False: there is none.

        Better than to wait for the assistant.
        """
        if self._jobs is None:
            self._jobs = announced(self.folder)
        while self._jobs:
            job = self._jobs.pop(0)
            if claim(job, self.folder):
                job.run()
                return True
        return False

    def share(self) -> float:
        """The share of the kernels that is compiled; 0 while their number is not known."""
        if self.process is None:
            return 0.0
        known = {path.stem for path in self.folder.glob("*.known")}
        begun = {path.stem for path in self.folder.glob("*.claimed")}
        return max(0, len(known & begun) - 2) / len(known) if known else 0.0

    def start(self, task: bytes) -> None:
        """Start the process and send it its task."""
        words = [sys.executable, "-P", "-c", START, json.dumps(sys.path)]
        nothing = subprocess.DEVNULL
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing
        )
        assert self.process.stdin is not None
        self.process.stdin.write(len(task).to_bytes(8, "little") + task)
        self.process.stdin.flush()  # not closed: that is the sign to end

    @interrupt.whole
    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self.process is None:
            return
        with suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        try:
            self.process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def assisted(frame: Frame, plan: Plan) -> Iterator[Assistant]:
    """Start an assistant, and end it with the context; its process is None if that failed."""
    with ExitStack() as stack:
        assistant = Assistant(Path())
        with suppress(Exception):  # then the command compiles its kernels itself
            private = tempfile.TemporaryDirectory(prefix="shoal-", ignore_cleanup_errors=True)
            assistant.folder = Path(stack.enter_context(private))
            stack.callback(assistant.end)
            assistant.start(pickle.dumps((plan, sample(frame, plan), str(assistant.folder))))
        yield assistant


def sample(frame: Frame, plan: Plan) -> bytes:
    """Some records of a table, evenly spread, without columns that identify or are dropped."""
    wanted = min(LARGEST, max(SAMPLE, CLASSES * min_class_size(plan.models)))
    rows = np.unique(np.linspace(0, frame.height - 1, min(wanted, frame.height)).astype(np.int64))
    columns = {}
    for name in [name for name in frame.names if name in plan.columns]:
        column = frame.column(name)
        hidden = plan.columns[name].role in ("identifier", "drop")
        columns[name] = pa.nulls(len(rows), column.type) if hidden else column.take(rows)
    table = pa.table(columns)
    stream = BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def announce(jobs: list[Job], folder: Path) -> None:
    """Tell the command which kernels the plan needs."""
    for job in jobs:
        (folder / f"{job.name}.known").touch()
    private = folder / f"{JOBS}.new"
    private.write_bytes(pickle.dumps([job.address() for job in jobs]))
    private.replace(folder / JOBS)


def announced(folder: Path) -> list[Job] | None:
    """The kernels that the plan needs, in the order of their first calls; None: not known yet."""
    try:
        found = pickle.loads((folder / JOBS).read_bytes())
    except OSError:
        return None
    return [job for one in found if (job := Job.at(*one)) is not None]


def claim(job: Job, folder: Path) -> bool:
    """Claim a kernel for this process; False if the other process has claimed it."""
    try:
        (folder / f"{job.name}.claimed").touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:  # the folder is gone, or the disk is full: better twice than not at all
        return True
    return True
