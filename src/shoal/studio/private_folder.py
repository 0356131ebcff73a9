"""The private folder: what the studio keeps, readable by its owner only."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.base.errors import BadFile

try:
    import fcntl
except ImportError:  # not on Windows, where nobody else has the folder of a user
    fcntl = None  # type: ignore[assignment]

LOCK = "studio.lock"
# Files that are not complete: ours, and those of `io.atomic`.
HALF = re.compile(r".*\.new|\.shoal-[0-9a-f].*")
NAMES = "abcdefghijkmnpqrstuvwxyz23456789"  # without letters that look alike


class PrivateFolder:
    """A folder that only its owner can enter."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.name == "posix":
                if path.stat().st_uid != os.getuid():
                    raise BadFile(
                        f"{path} belongs to somebody else; name another folder (--folder)"
                    )
                path.chmod(0o700)
        except OSError as error:
            raise BadFile(f"cannot use the folder {path}: {error.strerror}") from None

    def inside(self, *names: str) -> Path:
        """The path of something in it; it cannot lead out of the folder."""
        found = self.path.joinpath(*names)
        if not all(map(_is_name, names)):
            raise BadFile(f"{'/'.join(names)} is no name in the folder of the studio")
        return found

    def folder(self, *names: str) -> PrivateFolder:
        """A folder in it, made if there is none."""
        return PrivateFolder(self.inside(*names))

    def new_name(self) -> str:
        """A name that nothing in it has."""
        while True:
            name = "".join(secrets.choice(NAMES) for _ in range(10))
            if not self.inside(name).exists():
                return name

    def write(self, name: str, content: bytes) -> Path:
        """Write a file; it is complete, or not there at all."""
        target = self.inside(name)
        waiting = self.inside(f"{name}.new")
        try:
            with private(waiting) as file:
                file.write(content)
            waiting.replace(target)
        except OSError as error:
            with suppress(OSError):
                waiting.unlink()
            why = error.strerror or type(error).__name__
            raise BadFile(
                f"cannot keep {name} in the folder of the studio ({why}): what you see was not "
                "saved; free some space on that disk, and repeat the last step"
            ) from None
        return target

    def write_json(self, name: str, content: Any) -> None:
        """Write a file with this content."""
        self.write(name, json.dumps(content, ensure_ascii=False, indent=1).encode())

    def read_json(self, name: str, default: Any) -> Any:
        """The content of a file; the default if there is none, or if it is damaged."""
        try:
            return json.loads(self.inside(name).read_bytes())
        except (OSError, ValueError):
            return default

    def names(self) -> list[str]:
        """What is in it, in alphabetical order."""
        with suppress(OSError):
            return sorted(one.name for one in self.path.iterdir() if _is_name(one.name))
        return []

    def claim(self) -> None:
        """Be the only studio that uses it, until this process ends; an error if another one does.

        Two studios would write over each other's plans, and remove each other's files.
        """
        if fcntl is None:
            return
        held = os.open(self.inside(LOCK), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            raise BadFile(
                f"another studio uses the folder {self.path}: go to its page, or end it, or name "
                "another folder (--folder)"
            ) from None
        except OSError:  # a disk without locks
            os.close(held)
            return
        self._lock = held

    def sweep(self, keep: Collection[str] | None = None) -> None:
        """Remove files that are not complete, of a studio that was killed.

        `keep` is what else stays in it; None: everything.
        """
        with suppress(OSError):
            for one in list(self.path.iterdir()):
                if HALF.fullmatch(one.name) or (keep is not None and one.name not in keep):
                    _remove(one)

    def wipe(self) -> None:
        """Remove it and everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)


def private(path: Path) -> Any:
    """A file to write that only its owner can read."""
    with suppress(OSError):
        path.unlink()
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def _is_name(name: str) -> bool:
    return bool(name) and not name.startswith(".") and not set(name) & set("/\\:\0")
