"""Atomic: a file exists complete under its name, or not at all.

A file that is being written may contain records that are never published. It is written to a
temporary file that only its owner can read, is synced to disk before it gets its name, and is
removed if anything fails. What a killed run leaves is removed by the next run in the same folder.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import logging
import os
import platform
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from shoal.base.errors import BadFile, BadInput
from shoal.base.interrupt import whole
from shoal.io.sources import is_address

try:
    import fcntl
except ImportError:  # not on Windows, where stale files stay
    fcntl = None  # type: ignore[assignment]

# The running kernel, the machine, the process, and a random number.
NAME = re.compile(r"\.shoal-([0-9a-f]{8})-([0-9a-f]{8})-[0-9]+-[0-9a-f]{16}(\.|$)")
ACCESS = "system.posix_acl_access"  # the access control list of a file
CANNOT = {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EACCES, errno.EBADF}

NEW = 60  # seconds for which an empty file is not removed

log = logging.getLogger("shoal")
_at_work: dict[Path, int] = {}  # temporary files, with the process that made them


@contextmanager
@whole
def atomic(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """Provide a temporary file, which becomes the target at the end or is removed on failure.

    A private target is readable by its owner only. One that exists keeps its permissions.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "report.html"
    >>> with atomic(target, private=True) as temporary:
    ...     _ = temporary.write_text("<p>")
    >>> target.read_text(), oct(target.stat().st_mode)[-3:]
    ('<p>', '600')
    """
    if Path(path) in _at_work:  # already a temporary file of this process
        yield Path(path)
        return
    check_place(Path(path))
    target = Path(os.path.realpath(path))  # what a link points to, not the link
    check_place(target)
    remove_stale(target.parent)
    temporary = target.with_name(_name() + "".join(target.suffixes[-2:]))
    held = None
    try:
        _at_work[temporary] = os.getpid()
        held = _create(temporary)
        with _by_its_name(temporary, path):
            yield temporary
        _sync(temporary)
        _sync(target.parent)
        mode = _permissions(temporary, target, private)
        if fcntl is None and held is not None:
            os.close(held)
            held = None  # an open file cannot be renamed there
        temporary.replace(target)
        if mode is not None:  # not before: a process that is killed leaves nothing that others read
            target.chmod(mode)
        _sync(target.parent)  # the new name itself
    except OSError as error:
        raise BadFile(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if fcntl is None and held is not None:
            os.close(held)
            held = None  # nor can it be removed
        temporary.unlink(missing_ok=True)
        if held is not None:
            os.close(held)
        _at_work.pop(temporary, None)


@contextmanager
@whole
def _by_its_name(temporary: Path, path: str | Path) -> Iterator[None]:
    """Let errors name the target, not the temporary file."""
    try:
        yield
    except BadInput as error:
        said = str(error)
        if str(temporary) not in said:
            raise
        raise type(error)(said.replace(str(temporary), str(path))) from None


@contextmanager
@whole
def private_folder(near: Path) -> Iterator[Path]:
    """Provide a temporary folder that only its owner can enter, and remove it at the end.

    It is made in the folder `near`. One that a killed run leaves is removed by the next run there.
    """
    if not near.is_dir():
        shown = "of this name" if is_address(near) else near  # it may contain a password
        raise BadFile(f"cannot make temporary files: there is no directory {shown}; make it first")
    remove_stale(near)
    folder = near / _name()
    held = None
    try:
        _at_work[folder] = os.getpid()
        try:
            folder.mkdir(0o700)
            if fcntl is not None:
                held = os.open(folder, os.O_RDONLY)
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(held, fcntl.LOCK_EX)
        except OSError as error:
            raise BadFile(f"cannot make temporary files in {near}: {error.strerror}") from None
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)
        _at_work.pop(folder, None)


@contextmanager
@whole
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """Provide a temporary folder for files, which becomes the target or is removed on failure.

    The target must not exist: files of another release would mix with the new ones.
    """
    target = Path(path).absolute()
    check_folder(target)
    with private_folder(target.parent) as folder:
        yield folder
        try:
            mask = _umask()
            for file in sorted(folder.iterdir()):
                _sync(file)
                if os.name != "nt":
                    file.chmod(0o666 & ~mask)
            _sync(folder)
            folder.rename(target)
            if os.name != "nt":
                target.chmod(0o777 & ~mask)
            _sync(target.parent)
        except OSError as error:
            raise BadFile(f"cannot write {path}: {error.strerror or error}") from error


def check_folder(path: Path) -> None:
    """Raise an error if no folder of files can be made at a path."""
    if path.is_dir():
        raise BadFile(
            f"cannot write {path}: the folder exists, and other files would mix with those of the "
            "release; choose another name"
        )
    check_place(path)
    if path.exists():
        raise BadFile(f"cannot write the folder {path}: it is a file; choose another name")


@atexit.register
def _leave_nothing() -> None:
    """Remove what is left after an exception at a bad moment, such as two interrupts."""
    for path, process in list(_at_work.items()):
        if process == os.getpid():
            with suppress(OSError):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                path.unlink(missing_ok=True)


def check_place(path: Path) -> None:
    """Raise an error if no file can be created at a path."""
    folder = path.parent
    try:
        path.exists()
        if "\0" in str(path) or not os.fsencode(path):
            raise ValueError("no name")
    except ValueError:  # a lone surrogate or a NUL in the name
        raise BadFile(f"cannot write {str(path)!r}: no file can have this name") from None
    except OSError as error:  # a name that is too long, for example
        raise BadFile(f"cannot write {str(path)[:80]}: {error.strerror}") from None
    if is_address(path) and not path.exists():  # it may contain a password, and is not repeated
        raise BadFile(
            "cannot write to the address of a database here; give the name of a file instead"
        )
    if not folder.exists():
        raise BadFile(f"cannot write {path}: there is no directory {folder}; make it first")
    if not folder.is_dir():
        raise BadFile(f"cannot write {path}: {folder} is not a directory")
    if path.is_dir():
        raise BadFile(f"cannot write {path}: it is a directory; add the name of a file")
    if path.exists() and not path.is_file():
        raise BadFile(f"cannot write {path}: it is not a regular file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BadFile(f"cannot write {path}: no permission to write in the directory {folder}")


def check_writable(path: Path) -> None:
    """Raise an error if no file can be written at a path, before the work for it begins.

    Permissions do not say everything: a file is created in the folder, and removed.
    """
    if str(path) == "-":  # not a name that anybody wants
        raise BadFile(
            "cannot write -: only a release (--out -) and JSON (--json -) go to standard output; "
            "name a file"
        )
    check_place(path)
    target = Path(os.path.realpath(path))  # what a link points to
    check_place(target)
    probe = target.with_name(_name())
    try:
        _at_work[probe] = os.getpid()
        os.close(_create(probe))
    except OSError as error:
        raise BadFile(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
        _at_work.pop(probe, None)


# Temporary files


def _create(path: Path) -> int:
    """Create the file, readable by its owner only, and lock it until it is done."""
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    while True:
        held = os.open(path, flags, 0o600)
        if fcntl is None:
            return held
        try:
            with suppress(OSError):  # a file system without locks, where nothing is removed either
                fcntl.flock(held, fcntl.LOCK_EX)
            if _is(path, held):
                return held
        except BaseException:
            os.close(held)
            raise
        os.close(held)  # another run took it for stale before it was locked


def _is(path: Path, held: int) -> bool:
    """Whether the path leads to the open file."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.lstat(), os.fstat(held))
    return False


def _name() -> str:
    kernel, machine = _here()
    return f".shoal-{kernel}-{machine}-{os.getpid()}-{secrets.token_hex(8)}"


@cache
def _here() -> tuple[str, str]:
    """The running kernel and the machine: locks are reliable within these."""
    kernel = machine = ""
    with suppress(OSError):
        kernel = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    with suppress(OSError):
        machine = Path("/etc/machine-id").read_text(encoding="ascii")
    machine += platform.node()
    first, second = (hashlib.sha256(one.encode()).hexdigest()[:8] for one in (kernel, machine))
    return (first if kernel else second), second


def remove_stale(folder: Path) -> None:
    """Remove temporary files of killed runs from a folder, and log it.

    If the lock of a file can be taken, its run is gone. This is tested only where locks are
    reliable: for runs under the same kernel, also in another container, or on this machine before
    its last start. Files of other machines on a shared disk are not touched.
    """
    if fcntl is None:
        return
    removed = 0
    with suppress(OSError):  # a folder that cannot be listed
        for name in os.listdir(folder):  # noqa: PTH208 (names are all that is needed)
            found = NAME.match(name)
            if found and _of_here(folder / name, *found.groups()[:2]):
                removed += _removed(folder / name)
    if removed:
        files = "a temporary file" if removed == 1 else f"{removed} temporary files"
        log.warning("removed %s that a killed run of shoal had left in %s", files, folder)


def _of_here(path: Path, kernel: str, machine: str) -> bool:
    """Whether the lock of a file shows if its run is still alive.

    Machines cloned from one image have the same name: a file that is newer than the start of this
    kernel may belong to another machine with the same disk.
    """
    ours, here = _here()
    if kernel == ours:
        return True
    if machine != here or not hasattr(time, "CLOCK_BOOTTIME"):
        return False
    return path.lstat().st_mtime < time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def _removed(path: Path) -> bool:
    """Remove a temporary file unless a run is using it."""
    with suppress(OSError):  # locked, gone, or of another user
        kind = path.lstat().st_mode
        access = os.O_RDONLY if stat.S_ISDIR(kind) else os.O_RDWR
        flags = access | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        file = os.open(path, flags)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.fstat(file)
            empty = not any(path.iterdir()) if stat.S_ISDIR(kind) else not found.st_size
            new = empty and time.time() - found.st_mtime < NEW  # perhaps not locked yet
            if stat.S_ISDIR(found.st_mode) and not new and _is(path, file):
                shutil.rmtree(path)
                return True
            if stat.S_ISREG(found.st_mode) and not new and _is(path, file):
                path.unlink()
                return True
        finally:
            os.close(file)
    return False


# On the disk


def _sync(path: Path) -> None:
    """Sync a file, or the names in a folder, to disk."""
    if path.is_dir() and os.name == "nt":
        return  # not possible for folders on Windows
    try:
        file = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
        try:
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        if error.errno not in CANNOT:
            raise


# Permissions


def _permissions(temporary: Path, target: Path, private: bool) -> int | None:
    """The permissions of the new file, never more than the old one had; None: it has them.

    Owner, group and access control list are set. The new file remains private until it has its
    name, and an error that permissions cannot be set comes before that.
    """
    if os.name == "nt":
        return None
    try:
        old = target.stat()
    except FileNotFoundError:
        temporary.chmod(0o600)
        return 0o600 if private else 0o666 & ~_umask()
    mode = stat.S_IMODE(old.st_mode) & 0o777
    new = temporary.stat()
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(OSError):  # only the administrator may change the owner
            os.chown(temporary, old.st_uid, -1)
        try:
            os.chown(temporary, -1, old.st_gid)
        except OSError:  # another group: it gets what both the old group and others had
            both = (mode >> 3) & mode & 0o007
            mode = mode & 0o700 | both << 3 | both
    if not _same_list(temporary, target):
        mode &= 0o700
    temporary.chmod(0o600)
    return mode


def _same_list(temporary: Path, target: Path) -> bool:
    """Copy the access control list (ACL), or remove it; return whether that succeeded."""
    if not hasattr(os, "getxattr"):
        return True
    try:
        listed = os.getxattr(target, ACCESS)
    except OSError:
        listed = None
    try:
        if listed is not None:
            os.setxattr(temporary, ACCESS, listed)
        elif ACCESS in os.listxattr(temporary):  # inherited from the folder
            os.removexattr(temporary, ACCESS)
    except OSError as error:
        return listed is None and error.errno in CANNOT
    return True


def _umask() -> int:
    """The permission mask of new files."""
    with suppress(OSError, StopIteration, ValueError):  # Linux shows it without changing it
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="ignore").splitlines()
        return int(next(line for line in lines if line.startswith("Umask:")).split()[1], 8)
    umask = os.umask(0o077)
    os.umask(umask)
    return umask
