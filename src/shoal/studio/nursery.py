"""The nursery: a process that has loaded what others need, and forks them.

A new process of Python needs more than a second to load Arrow and the compiler; one that is forked
has them at once, and shares their memory. The nursery itself never does a task, so that it has no
table and no thread. Only Linux has it; elsewhere processes are started anew.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import BinaryIO

HAS_ONE = sys.platform == "linux"
START = "from shoal.studio.nursing import nurse; nurse()"
NEWS = struct.Struct("=cii")  # what has happened, to which process, and how it ended
BORN, GONE = b"b", b"g"
KILLED = -9


class Forked:
    """A process that the nursery forks: what `subprocess.Popen` has, as far as it is needed."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self.stdin, self.stdout = stdin, stdout
        self.pid: int | None = None  # None: it is not born yet
        self.unwanted = False
        self._over, self._status = Event(), 0

    def ended(self, status: int) -> None:
        """Note how it ended."""
        self._status = status
        self._over.set()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._over.is_set()

    def wait(self, timeout: float | None = None) -> int:
        """Its status, once it has ended; negative: the signal that ended it."""
        if not self._over.wait(timeout):
            raise subprocess.TimeoutExpired("a process of the studio", timeout or 0.0)
        return self._status


class Nursery:
    """The nursery, seen from the server."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.is_alive = True
        self._lock = Lock()
        self._expected: deque[Forked] = deque()
        self._living: dict[int, Forked] = {}
        with theirs:
            self._process = started(START, str(theirs.fileno()), pass_fds=[theirs.fileno()])
        Thread(target=self._listen, daemon=True).start()

    def forked(self) -> Forked:
        """A new process; it may be born a little later, and reads then what was sent before."""
        (in_read, in_write), (out_read, out_write) = os.pipe(), os.pipe()
        child = Forked(os.fdopen(in_write, "wb"), os.fdopen(out_read, "rb"))
        try:
            with self._lock:  # they are born in the order in which they are expected
                self._expected.append(child)
                socket.send_fds(self._control, [b"+"], [in_read, out_write])
        except OSError:  # the nursery is gone
            self.is_alive = False
            child.ended(KILLED)
        finally:
            os.close(in_read)
            os.close(out_write)
        return child

    def _listen(self) -> None:
        with suppress(OSError):
            while news := self._control.recv(NEWS.size):
                self._heard(*NEWS.unpack(news))
        self.is_alive = False
        self._control.close()
        with self._lock:
            for child in (*self._expected, *self._living.values()):
                child.ended(KILLED)  # they end with the nursery
        self._process.wait()

    def _heard(self, what: bytes, pid: int, status: int) -> None:
        with self._lock:
            if what == GONE:
                if ended := self._living.pop(pid, None):
                    ended.ended(status)
                return
            child = self._expected.popleft()
            if pid < 0:  # there is no room for it
                child.ended(status)
                return
            self._living[pid] = child
            child.pid = pid
            if child.unwanted:
                with suppress(OSError):  # it has ended already
                    os.kill(pid, signal.SIGKILL)


def started(
    program: str, *words: str, pipes: int = subprocess.DEVNULL, pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """A new process of Python that knows where our modules are, and whose parent this one is."""
    where = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-P", "-c", program, str(os.getpid()), *words],
        stdin=pipes,
        stdout=pipes,
        stderr=None if os.environ.get("SHOAL_DEBUG") else subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": where},
        start_new_session=True,  # Ctrl-C in the terminal is for the studio
        pass_fds=pass_fds,
    )
