"""Runs shoal's command line: in a warm process that is watched, or in one of its own."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[2]
MEMORY = 8 << 30  # bytes of data: what wants more fails, and does not stop the machine
COMPILING = 400  # seconds more where kernels are compiled


@dataclass
class Ran:
    """One command: how it ended and what it said."""

    words: list[str]
    code: int
    out: str
    err: str
    hung: bool
    seconds: float

    def wrong(self) -> list[str]:
        """What is wrong with how it ended, whatever was asked."""
        found = []
        if self.hung:
            found.append(f"hang: not done after {self.seconds:.0f} s")
        elif self.code not in (0, 1, 2):
            found.append(f"exit status {self.code}")
        if "Traceback" in self.err and not self.hung:
            found.append("traceback")
        return found


class Shoal:
    """A warm process that runs one command after the other, and is killed if one hangs."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def run(self, words: list, folder: Path, seconds: float = 60) -> Ran:
        """Run a command in a folder; whatever it prints is kept there as out.txt and err.txt."""
        words = [str(word) for word in words]
        process = self._started()
        begin = monotonic()
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {"words": words, "folder": str(folder), "seconds": seconds}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        code, hung = None, False
        limit, used, since = begin + seconds, 0.0, _processor(process.pid)
        while code is None:
            ready, _, _ = select.select([process.stdout], [], [], max(0.05, limit - monotonic()))
            if ready:
                line = process.stdout.readline()
                code = json.loads(line)["code"] if line else process.wait()
            elif monotonic() > limit:
                if "Compiling" in _text(folder / "err.txt") and monotonic() < begin + COMPILING:
                    limit = monotonic() + 5
                    continue
                # On a busy machine it waits for the processor: it may use as many seconds of it.
                now = _processor(process.pid) - since
                if used < now < seconds:
                    used, limit = now, monotonic() + seconds / 2
                    continue
                hung = True
                process.send_signal(signal.SIGABRT)  # faulthandler says where it was
                code = process.wait()
        took = monotonic() - begin
        if process.poll() is not None:
            self.close()
        return Ran(words, code, _text(folder / "out.txt"), _text(folder / "err.txt"), hung, took)

    def _started(self) -> subprocess.Popen:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.campaign.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, cwd=ROOT, env=environment(), start_new_session=True,
            )  # fmt: skip
        return self.process

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                assert pipe is not None
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
            self.process = None


def environment() -> dict[str, str]:
    """The environment of a command: this tree's sources, and a plain screen."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "100", "NO_COLOR": "1"}


def command(words: list) -> list[str]:
    """A command as a process of its own."""
    return [sys.executable, "-m", "shoal", *map(str, words)]


def _processor(number: int) -> float:
    """Seconds of the processor that a process has used; 0 where the system does not say."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def serve() -> None:
    """The warm process: a command a line on standard input, its exit status on standard output."""
    import faulthandler

    import shoal.cli.main

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    asked, answer = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for line in asked:
        task = json.loads(line)
        folder = Path(task["folder"])
        os.chdir(folder)
        for stream, name in ((1, "out.txt"), (2, "err.txt")):
            file = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(file, stream)
            os.close(file)
        faulthandler.enable(2)
        sys.argv = ["shoal", *task["words"]]
        code: object = 0
        try:
            shoal.cli.main.main()
        except SystemExit as end:
            code = end.code
        except BaseException:
            import traceback

            traceback.print_exc()
            code = 99
        sys.stdout.flush()
        sys.stderr.flush()
        os.chdir(ROOT)
        answer.write(
            json.dumps({"code": code if isinstance(code, int) else 0 if code is None else 1}) + "\n"
        )
        answer.flush()


if __name__ == "__main__":
    serve()
