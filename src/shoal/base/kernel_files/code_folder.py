"""Where machine code is stored: a folder that nobody else can write to.

Anybody who can write to that folder decides what this process executes. So it belongs to the user
who runs shoal, and nobody else can write to it.
"""

from __future__ import annotations

import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

VARIABLES = ("SHOAL_CACHE", "NUMBA_CACHE_DIR")  # the first that is set names the folder
FOLDER = "kernels"
SHIPPED = "compiled"  # the folder in the package with the machine code of a wheel
OLD_FOLDERS = "kernels-*"  # of versions that had one folder for each version of all sources
PACKAGE, HOME, TEMPORARY = "package", "home", "temporary"
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH

log = logging.getLogger("shoal")


def folder(package: Path) -> Path | None:
    """The folder for machine code; None if there is no safe one.

    SHOAL_CACHE, if it is set; otherwise the package; otherwise the user's cache; otherwise a
    private folder for temporary files.
    """
    for base, why in _bases(package):
        new = not (base / FOLDER).exists()
        found = _private(base / FOLDER, why)
        if found is None:
            if why in VARIABLES:
                log.warning(
                    "%s is not used for compiled code: %s is not writable, or other users can "
                    "write to it",
                    why,
                    base,
                )
            continue
        if why == PACKAGE:
            for old in base.glob(OLD_FOLDERS):
                shutil.rmtree(old, ignore_errors=True)
        if why == TEMPORARY and new:
            log.warning(
                "neither the folder of shoal nor the home folder is writable: compiled code is "
                "stored in %s; set SHOAL_CACHE to a permanent folder",
                found,
            )
        return found
    log.warning(
        "there is no folder for compiled code, so every run compiles all it needs; "
        "set SHOAL_CACHE to a folder that only you can write to"
    )
    return None


def _bases(package: Path) -> Iterator[tuple[Path, str]]:
    """The places where the folder may be, and the reason for each."""
    for variable in VARIABLES:
        if chosen := os.environ.get(variable):
            yield Path(os.path.realpath(chosen)), variable
    yield of_package(package).parent, PACKAGE
    with suppress(RuntimeError):  # no HOME, and the user has no entry in the user database
        users = Path(os.environ.get("XDG_CACHE_HOME", ""))
        yield (users if users.is_absolute() else Path.home() / ".cache") / "shoal", HOME
    with suppress(OSError):  # there may be no folder for temporary files either
        yield Path(tempfile.gettempdir()) / f"shoal-{getattr(os, 'geteuid', int)()}", TEMPORARY


def of_package(package: Path) -> Path:
    """The folder inside the package."""
    return package / "__pycache__" / FOLDER


def shipped(package: Path) -> Path | None:
    """The folder with the machine code that was installed with the package; None if there is none.

    It must be as safe as the sources: `package` is the folder of a package, with its `__init__.py`.
    """
    found = package / SHIPPED
    return found if as_safe(found, package) else None


def as_safe(path: Path, sources: Path) -> bool:
    """Whether the owner is that of the sources, and nobody else may write who may not write them.

    Links are refused: what they lead to may belong to anybody.
    """
    try:
        found, like = path.lstat(), (sources / "__init__.py").stat()
    except OSError:
        return False
    if not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
        return False
    if not hasattr(os, "geteuid"):  # Windows: permissions are not in the mode
        return True
    more = found.st_mode & ~like.st_mode & OTHERS_MAY_WRITE
    foreign_group = found.st_gid != like.st_gid and found.st_mode & stat.S_IWGRP
    return found.st_uid == like.st_uid and not more and not foreign_group


def _private(path: Path, why: str) -> Path | None:
    """Create the folder, or check that nobody else could write to it; None if that fails.

    If others could write to a folder of ours, it may contain anything: it is created again.
    """
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if why != PACKAGE and not _guarded(path.parent, ours=why in (HOME, TEMPORARY)):
            return None
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if _mine(path) and not _usable(path):
            log.warning(
                "the folder of compiled code had wrong permissions and is created again: %s", path
            )
            with suppress(OSError):
                path.chmod(0o700)
            shutil.rmtree(path)
            path.mkdir(mode=0o700)
        if _mine(path) and _usable(path) and os.access(path, os.R_OK | os.W_OK | os.X_OK):
            return path
    return None


def _guarded(base: Path, ours: bool) -> bool:
    """Whether only this user and the administrator can replace the folder.

    The package is not checked: anybody who can write there can change the sources as well.
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
    found = path.lstat()  # not stat: a link may lead to somebody else's folder
    return stat.S_ISDIR(found.st_mode) and (
        not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    )


def _usable(path: Path) -> bool:
    if not hasattr(os, "geteuid"):  # Windows: permissions are not in the mode
        return True
    mode = path.lstat().st_mode
    return not mode & OTHERS_MAY_WRITE and mode & stat.S_IRWXU == stat.S_IRWXU


def untouched(path: Path) -> bool:
    """Whether nobody else could have written a file in a folder of ours; it need not exist."""
    try:
        found, folder = path.lstat(), path.parent.lstat()
    except OSError:
        return True
    if not hasattr(os, "geteuid"):  # Windows: permissions are not in the mode
        return True
    reachable = folder.st_mode & (stat.S_IXGRP | stat.S_IXOTH)
    closed = not (reachable and found.st_mode & OTHERS_MAY_WRITE)
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and closed
