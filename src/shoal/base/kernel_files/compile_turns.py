"""Turns: one process compiles a kernel while others wait for it.

A lock ends with its process, even if that is killed. Without file locks, nobody waits.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

try:
    import fcntl
except ImportError:  # Windows: two processes may compile the same kernel
    fcntl = None  # type: ignore[assignment]

LOCKS = "compiling.lock"  # one byte of it per kernel that is being compiled
PATIENCE = 120.0  # seconds to wait for another process: it may be stopped
TICK = 0.02  # seconds between two attempts


def take_turn(path: Path) -> None:
    """Wait while another process compiles the kernel of this file; then it is our turn."""
    end = monotonic() + PATIENCE
    while not _lock(path) and monotonic() < end:
        sleep(TICK)


def end_turn(path: Path) -> None:
    """Let other processes load, or compile, the kernel of this file."""
    if path in _TURNS:
        _TURNS.discard(path)
        with suppress(OSError):
            fcntl.lockf(_LOCKS[path.parent], fcntl.LOCK_UN, 1, _place(path))


def end_turns() -> None:
    """End all turns of this process: compiling has ended, perhaps by an error or an interrupt."""
    for path in list(_TURNS):
        end_turn(path)


# The open file of each folder: closing any file of that name would end all our locks on it.
_LOCKS: dict[Path, int] = {}
_TURNS: set[Path] = set()


def _lock(path: Path) -> bool:
    """Whether it is our turn; only another process can prevent that."""
    if fcntl is None:
        return True
    try:
        if path.parent not in _LOCKS:
            how = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            _LOCKS[path.parent] = os.open(path.parent / LOCKS, how, 0o600)
        fcntl.lockf(_LOCKS[path.parent], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(path))
    except (BlockingIOError, PermissionError):  # POSIX allows both for a locked byte
        return path.parent not in _LOCKS
    except OSError:
        return True
    _TURNS.add(path)
    return True


def _place(path: Path) -> int:
    """The byte that is locked for a file; it need not exist."""
    return int.from_bytes(hashlib.sha256(path.name.encode()).digest()[:7], "little")
