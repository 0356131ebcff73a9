"""Machine code: where compiled kernels are kept between runs, and how they are read again.

Anybody who can write to that folder decides what this process executes. So it belongs to the user
who runs shoal, nobody else may write to it, and a file that is not what was written is thrown away.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, compiler, serialize

VARIABLES = ("SHOAL_CACHE", "NUMBA_CACHE_DIR")  # the first that is set names the folder
FOLDER = "kernels-"
PACKAGE, HOME, TEMPORARY = "package", "home", "temporary"
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
ENDING = ".code"

log = logging.getLogger("shoal")


def folder(package: Path, digest: str) -> Path | None:
    """The folder for machine code from sources with this digest; None if there is no safe one.

    SHOAL_CACHE, if it is set; else the package; else the user's cache; else a private folder for
    temporary files. Each version of the sources has a folder of its own.
    """
    for base, why in _bases(package):
        new = not (base / (FOLDER + digest)).exists()
        found = _private(base / (FOLDER + digest), why)
        if found is None:
            if why in VARIABLES:
                log.warning(
                    "%s is not used for compiled code: %s cannot be written, or other users can "
                    "write to it",
                    why,
                    base,
                )
            continue
        if why == PACKAGE:  # nobody else's: a shared folder may serve other installations
            for old in base.glob(FOLDER + "*"):
                if old != found:
                    shutil.rmtree(old, ignore_errors=True)
        if why == TEMPORARY and new:
            log.warning(
                "neither the folder of shoal nor a home folder can be written to: compiled code "
                "is kept in %s; set SHOAL_CACHE to a folder that lasts",
                found,
            )
        return found
    log.warning(
        "there is no folder for compiled code, so this run compiles all it needs; "
        "set SHOAL_CACHE to a folder that only you can write to"
    )
    return None


def _bases(package: Path) -> Iterator[tuple[Path, str]]:
    """Where the folder may be, and why there."""
    for variable in VARIABLES:
        if chosen := os.environ.get(variable):
            yield Path(os.path.realpath(chosen)), variable
    yield package / "__pycache__", PACKAGE
    with suppress(RuntimeError):  # no HOME, and nobody of that number among the users
        users = Path(os.environ.get("XDG_CACHE_HOME", ""))
        yield (users if users.is_absolute() else Path.home() / ".cache") / "shoal", HOME
    with suppress(OSError):  # there may be no folder for temporary files either
        yield Path(tempfile.gettempdir()) / f"shoal-{getattr(os, 'geteuid', int)()}", TEMPORARY


def _private(path: Path, why: str) -> Path | None:
    """Make the folder, or make sure that nobody else could write to it; None where that fails.

    A folder of our own that others could write to may hold anything: it is made anew.
    """
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if why != PACKAGE and not _guarded(path.parent, ours=why in (HOME, TEMPORARY)):
            return None
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if _mine(path) and not _usable(path):
            log.warning("the folder of compiled code had wrong permissions, is made anew: %s", path)
            with suppress(OSError):
                path.chmod(0o700)
            shutil.rmtree(path)
            path.mkdir(mode=0o700)
        if _mine(path) and _usable(path) and os.access(path, os.R_OK | os.W_OK | os.X_OK):
            return path
    return None


def _guarded(base: Path, ours: bool) -> bool:
    """Whether nobody but this user and the administrator can put another folder in its place.

    The package is not asked: whoever can write there can change the sources as well.
    """
    if not hasattr(os, "geteuid"):
        return True
    found = base.lstat()
    if ours and stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
        base.chmod(found.st_mode & 0o755)
    return all(_closed(folder) for folder in (base, *base.parents))


def _closed(folder: Path) -> bool:
    """Whether only this user and the administrator can rename what is in a folder."""
    found = folder.lstat()
    closed = not found.st_mode & OTHERS_MAY_WRITE or found.st_mode & stat.S_ISVTX
    return stat.S_ISDIR(found.st_mode) and found.st_uid in (0, os.geteuid()) and bool(closed)


def _mine(path: Path) -> bool:
    found = path.lstat()  # a link leads where somebody else wants
    return stat.S_ISDIR(found.st_mode) and (
        not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    )


def _usable(path: Path) -> bool:
    if not hasattr(os, "geteuid"):  # Windows: permissions are not in the mode
        return True
    mode = path.lstat().st_mode
    return not mode & OTHERS_MAY_WRITE and mode & stat.S_IRWXU == stat.S_IRWXU


class MachineCode(caching.NullCache):
    """The compiled forms of one kernel, a file for each signature.

    numba keeps its own in a numbered file with an index: it fails on one that is damaged, and two
    processes that compile different signatures at once can take each other's. Here a file is
    named after what it is for, says so inside, and carries its checksum.
    """

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._function = function
        self._folder = folder
        line = function.__code__.co_firstlineno
        self._name = f"{function.__module__}.{function.__qualname__}-{line}"

    @property
    def cache_path(self) -> str:
        """Where the files are."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for these types, or None if there is none that can be trusted."""
        target_context.refresh()
        key = self._key(sig, target_context.codegen())
        path = self._path(key)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._throw_away(path, error.strerror or "unreadable")
            return None
        digest, payload = content[:32], content[32:]
        if hashlib.sha256(payload).digest() != digest:
            self._throw_away(path, "damaged")
            return None
        try:
            known, reduced = pickle.loads(payload)
            if known != key:
                return None
            rebuild: Callable[..., Any] = compiler.CompileResult._rebuild
            return rebuild(target_context, *reduced)
        except Exception as error:  # whatever it is: the kernel can be compiled again
            self._throw_away(path, type(error).__name__)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel; without it the next run has to compile it again."""
        if data.library.has_dynamic_globals or any(not one.can_cache for one in data.lifted):
            return
        key = self._key(sig, data.codegen)
        path = self._path(key)
        beside = path.with_suffix(f".{secrets.token_hex(8)}")
        try:
            payload = serialize.dumps((key, data._reduce()))  # type: ignore[no-untyped-call]
            with beside.open("xb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            beside.replace(path)
        except OSError as error:
            _once(
                f"compiled code cannot be kept in {self._folder} ({error.strerror}); the next run "
                "compiles it again. SHOAL_CACHE names another folder"
            )
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def _throw_away(self, path: Path, reason: str) -> None:
        _once(f"compiled code in {self._folder} is {reason}: it is thrown away and compiled again")
        with suppress(OSError):
            path.unlink(missing_ok=True)

    def _key(self, sig: Any, codegen: Any) -> Any:
        """What the machine code is for: kernel, types, processor and version of numba."""
        versions = numba.__version__, sys.implementation.cache_tag
        return self._name, _content(self._function), sig, codegen.magic_tuple(), versions

    def _path(self, key: Any) -> Path:
        return self._folder / (hashlib.sha256(repr(key).encode()).hexdigest()[:32] + ENDING)


def _content(function: Callable[..., Any]) -> str:
    """What a function does: its code, and what it has from the function that made it."""
    code = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    inside = [_content(made) if (made := getattr(cell, "py_func", None)) else repr(cell)
              for cell in cells]  # fmt: skip
    parts = [
        code.co_code.hex(),
        repr([one for one in code.co_consts if not hasattr(one, "co_code")]),
        repr(code.co_names),
        *inside,
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


_SAID: set[str] = set()


def _once(message: str) -> None:
    """A hundred kernels of a damaged folder need not say it a hundred times."""
    if message not in _SAID:
        _SAID.add(message)
        log.warning(message)
