"""Machine code: where compiled kernels are stored between runs, and how they are loaded again.

Anybody who can write to that folder decides what this process executes. So the folder belongs to
the user who runs shoal, nobody else can write to it, and a damaged file is deleted. Each file is
keyed by a digest of all that it was compiled from, so code compiled from other sources never runs,
and an edit recompiles only the kernels that depend on it.

A wheel may bring machine code along, which runs on every processor of its architecture. It is read
only if whoever could change it could change the sources as well.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import pickle
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import caching, compiler, environment, serialize
from numba.core.runtime.nrt import rtsys

from shoal.base.code_digest import UnknownContent, digest

try:
    import fcntl
except ImportError:  # Windows: two processes may compile the same kernel
    fcntl = None  # type: ignore[assignment]

VARIABLES = ("SHOAL_CACHE", "NUMBA_CACHE_DIR")  # the first that is set names the folder
FOLDER = "kernels"
SHIPPED = "compiled"  # the folder in the package with the machine code of a wheel
ANY_PROCESSOR = ("generic", "")  # the name and the features that numba calls so
OLD_FOLDERS = "kernels-*"  # of versions that had one folder for each version of all sources
PACKAGE, HOME, TEMPORARY = "package", "home", "temporary"
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
ENDING = ".code"
LOCKS = "compiling.lock"  # one byte of it per kernel that is being compiled
PATIENCE = 120.0  # seconds to wait for another process: it may be stopped
TICK = 0.02  # seconds between two attempts
# The settings of numba that change the machine code, with their defaults.
FLAGS = {"BOUNDSCHECK": None, "OPT": 3, "LOOP_VECTORIZE": 1, "SLP_VECTORIZE": 0}

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
    yield _of_package(package).parent, PACKAGE
    with suppress(RuntimeError):  # no HOME, and the user has no entry in the user database
        users = Path(os.environ.get("XDG_CACHE_HOME", ""))
        yield (users if users.is_absolute() else Path.home() / ".cache") / "shoal", HOME
    with suppress(OSError):  # there may be no folder for temporary files either
        yield Path(tempfile.gettempdir()) / f"shoal-{getattr(os, 'geteuid', int)()}", TEMPORARY


def _of_package(package: Path) -> Path:
    """The folder inside the package."""
    return package / "__pycache__" / FOLDER


def shipped(package: Path) -> Path | None:
    """The folder with the machine code that was installed with the package; None if there is none.

    It must be as safe as the sources: `package` is the folder of a package, with its `__init__.py`.
    """
    found = package / SHIPPED
    return found if _as_safe(found, package) else None


def _as_safe(path: Path, sources: Path) -> bool:
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


def _untouched(path: Path) -> bool:
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


class MachineCode(caching.NullCache):
    """The compiled forms of one kernel: one file per signature.

    numba's own cache numbers its files in an index. It fails on a damaged file, and two processes
    that compile different signatures at the same time can load each other's code. Here a file is
    named after its key, repeats the key inside, and carries a checksum.
    """

    def __init__(
        self, kernel: Any, folder: Path, linked: bool = True, shipped: Path | None = None
    ) -> None:
        self._kernel = kernel
        self._folder = folder
        self._shipped = shipped  # a folder of `shipped`, which is only read
        self._linked = linked  # whether other kernels may call this one
        self._module = kernel.py_func.__module__
        self._name = f"{self._module}-{re.sub('[^a-zA-Z0-9_.]', '', kernel.py_func.__qualname__)}"
        _KERNELS.setdefault(self._name, []).append(kernel)

    @property
    def cache_path(self) -> str:
        """Where the files are."""
        return str(self._folder)

    def has(self, sig: Any) -> bool:
        """Whether there is a file for these types; it may still turn out to be damaged."""
        key = self._key(sig, self._kernel.targetctx.codegen())
        if key is None:
            return False
        return self._path(key).is_file() or self._shipped_path(_for_any_processor(key)) is not None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for these types, or None if there is none that can be trusted."""
        key = self._key(sig, target_context.codegen())
        if key is None:
            return None
        found = self._load(self._path(key), key, target_context)
        if found is None:
            found = self._load_shipped(_for_any_processor(key), target_context)
        if found is None:
            take_turn(self._path(key))
            # Another process may have stored it meanwhile.
            found = self._load(self._path(key), key, target_context)
            if found is not None:
                end_turn(self._path(key))
        return found

    def _load(self, path: Path, key: Any, target_context: Any) -> Any:
        """The kernel in a file of ours, which is deleted if it is of no use."""
        try:
            if not _untouched(path):
                raise _Unusable("not safe from other users")
            return _rebuilt(path, key, target_context)
        except _Unusable as error:
            _warn_once(
                f"compiled code in {self._folder} is {error}: it is deleted and compiled again"
            )
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return None

    def _load_shipped(self, key: Any, target_context: Any) -> Any:
        """The kernel that was installed with the package; its files are never changed."""
        path = self._shipped_path(key)
        if path is None:
            return None
        try:
            return _rebuilt(path, key, target_context, complete=True)
        except _Unusable as error:
            _warn_once(f"compiled code in {self._shipped} is {error}: it is compiled again")
            return None

    def _shipped_path(self, key: Any) -> Path | None:
        """The file that was installed with the package; None if there is none that is safe."""
        if self._shipped is None:
            return None
        path = self._shipped / self._path(key).name
        return path if _as_safe(path, self._shipped.parent) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled kernel; without the file the next run compiles it again."""
        key = self._key(sig, data.codegen)
        if key is None:
            return
        path = self._path(key)
        if not data.library.has_dynamic_globals and all(one.can_cache for one in data.lifted):
            self._store(path, key, data)
        end_turn(path)

    def ship(self, folder: Path) -> None:
        """Write what this process has compiled for any processor into a folder for a wheel."""
        for sig, data in self._kernel.overloads.items():
            key = self._key(sig, data.codegen)
            if key is None:
                continue
            if key[3][1:] != ANY_PROCESSOR:
                raise ValueError(f"compiled for the processor {key[3][1]}, not for any")
            key = _for_any_processor(key)
            (folder / self._path(key).name).write_bytes(_content(key, data, self._linked))

    def _store(self, path: Path, key: Any, data: Any) -> None:
        temporary = path.with_suffix(f".{secrets.token_hex(8)}")
        try:
            content = _content(key, data, self._linked)
            # Whatever the umask is: others may be able to reach the folder.
            temporary.touch(mode=0o600, exist_ok=False)
            with temporary.open("wb") as file:
                file.write(content)
            temporary.replace(path)
        except OSError as error:
            _warn_once(
                f"compiled code cannot be stored in {self._folder} ({error.strerror}); the next "
                "run compiles it again. SHOAL_CACHE names another folder"
            )
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        # Other folders may serve several installations: nothing is stale there.
        source = Path(self._kernel.py_func.__code__.co_filename)
        if any(self._folder == _of_package(parent) for parent in source.parents):
            _remove_stale(self._folder, self._module)

    def _key(self, sig: Any, codegen: Any) -> Any:
        """What the machine code is for: kernel, types, processor, compiler and its settings.

        None for a kernel that depends on something without a digest: it is not stored.
        """
        try:
            content = digest(self._kernel)
        except UnknownContent:
            return None
        versions = numba.__version__, np.__version__, sys.implementation.cache_tag
        return self._name, content, sig, codegen.magic_tuple(), versions, _flags()

    def _path(self, key: Any) -> Path:
        rest = hashlib.sha256(repr(key).encode()).hexdigest()[:32]
        return self._folder / f"{self._name}-{key[1][:16]}-{rest}{ENDING}"


def _content(key: Any, data: Any, linked: bool) -> bytes:
    """What a file contains: a checksum, the key, the kernel and the symbols that it refers to."""
    reduced = data._reduce()
    symbols = _external_symbols(reduced)
    if not linked:
        reduced = _without_bitcode(reduced)
    payload: bytes = serialize.dumps((key, reduced))  # type: ignore[no-untyped-call]
    payload += pickle.dumps(symbols)
    return hashlib.sha256(payload).digest() + payload


class _Unusable(Exception):
    """A file of machine code is damaged, or cannot be read."""


def _rebuilt(path: Path, key: Any, target_context: Any, complete: bool = False) -> Any:
    """The kernel in a file; None if there is no such file, or if it is for something else.

    `complete`: only if each function that it calls is there; on another machine one may not be.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _Unusable(error.strerror or "unreadable") from None
    checksum, payload = content[:32], content[32:]
    if hashlib.sha256(payload).digest() != checksum:
        raise _Unusable("damaged")
    try:
        stream = io.BytesIO(payload)
        known, reduced = _Unpickler(stream).load()
        if known != key:
            return None
        # Files of earlier versions end here.
        written = stream.tell() < len(payload)
        symbols = pickle.load(stream) if written else _external_symbols(reduced)
        _provide(symbols, target_context)
        if complete and not all(_known(name) for name in symbols):
            return None
        rebuild: Callable[..., Any] = compiler.CompileResult._rebuild
        return rebuild(target_context, *reduced)
    except Exception as error:  # whatever it is: the kernel can be compiled again
        raise _Unusable(type(error).__name__) from None


def _for_any_processor(key: Any) -> Any:
    """The key of the same kernel for a processor that has only what all of its kind have.

    The machine code comes from another machine, where llvmlite may have another version.
    """
    *what, (platform, *_), versions, flags = key
    return (*what, (platform, *ANY_PROCESSOR), (*versions, llvmlite.__version__), flags)


def take_turn(path: Path) -> None:
    """Wait while another process compiles the kernel of this file; then it is our turn.

    A lock ends with its process, even if that is killed. Without file locks, nobody waits.
    """
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


def _external_symbols(reduced: Any) -> list[str]:
    """The names of the C functions and variables that compiled code refers to."""
    _name, kind, content = reduced[0]
    module = llvm.parse_bitcode(content[1] if kind == "object" else content)
    found = (*module.functions, *module.global_variables)
    names = [one.name for one in found if one.is_declaration]
    return [name for name in names if not name.startswith("llvm.")]


def _without_bitcode(reduced: Any) -> Any:
    """The same without the form that is inlined into other kernels, half of the time to load it.

    Only the names that it defines remain: numba takes the address of no other name.
    """
    (name, kind, content), *rest = reduced
    if kind != "object":
        return reduced
    module, whole = ir.Module(), llvm.parse_bitcode(content[1])
    for one in (*whole.functions, *whole.global_variables):
        if not one.is_declaration:
            ir.GlobalVariable(module, ir.IntType(8), one.name).initializer = ir.IntType(8)(0)
    names = llvm.parse_assembly(str(module)).as_bitcode()
    return (name, kind, (content[0], names)), *rest


class _Unpickler(pickle.Unpickler):
    """Reads stored kernels without loading parts of the compiler, which take a quarter second."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        return _environment if found is environment._rebuild_env else found


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """The constants of a compiled function.

    Compiled code does not use the globals. Those of numba's own functions are left out if their
    module would have to be loaded for them.
    """
    rebuild: Callable[..., Any] = environment._rebuild_env
    if not module.startswith("numba.") or module in sys.modules:
        return rebuild(module, constants, name)
    known = environment.lookup_environment(name)  # type: ignore[no-untyped-call]
    if known is None:
        known = environment.Environment({"__name__": module})
        known.consts[:] = constants
        known.env_name = name
        environment.Environment._memo[name] = known
    return known


def _provide(symbols: list[str], target_context: Any) -> None:
    """Register what compiled code refers to: one missing symbol would abort the process.

    numba's own cache loads the whole compiler for this (and scipy.linalg with it), which takes
    half a second. Kernels rarely refer to anything that is not registered before.
    """
    rtsys.initialize(target_context)
    if not all(_known(name) for name in symbols):
        target_context.refresh()


def _known(symbol: str) -> bool:
    """Whether machine code that refers to this symbol can be loaded."""
    return llvm.address_of_symbol(symbol) is not None


# Every kernel that this process has defined, by its name; a function that makes kernels makes
# several with one name.
_KERNELS: dict[str, list[Any]] = {}


def defined() -> list[Any]:
    """Every kernel that this process has defined and can store."""
    return [kernel for kernels in _KERNELS.values() for kernel in kernels]


def _prefix(name: str, kernel: Any) -> str:
    """The first parts of the names of a kernel's files."""
    try:
        return f"{name}-{digest(kernel)[:16]}"
    except UnknownContent:  # it has no files
        return ""


def _remove_stale(folder: Path, module: str) -> None:
    """Delete code from older sources of a module, and that of modules that no longer exist."""
    current = {
        _prefix(name, kernel)
        for name, kernels in _KERNELS.items()
        if name.startswith(f"{module}-")
        for kernel in kernels
    }
    exists: Callable[[str], bool] = cache(_exists)
    for path in folder.glob("*" + ENDING):
        of = path.name.partition("-")[0]
        old = of == module and path.name.rpartition("-")[0] not in current
        if old or not exists(of):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _exists(module: str) -> bool:
    with suppress(ImportError):  # of a package around it
        return find_spec(module) is not None
    return False


def _flags() -> tuple[str, ...]:
    """The settings of numba that differ from their defaults; usually none."""
    config: Any = numba.config
    found = {flag: getattr(config, flag, default) for flag, default in FLAGS.items()}
    return tuple(f"{flag}={value}" for flag, value in found.items() if value != FLAGS[flag])


_WARNED: set[str] = set()


def _warn_once(message: str) -> None:
    """A damaged folder concerns a hundred kernels; one warning is enough."""
    if message not in _WARNED:
        _WARNED.add(message)
        log.warning(message)
