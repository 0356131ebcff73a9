"""Machine code: how compiled kernels are stored between runs and loaded again.

The files are in a folder that nobody else can write to (see `code_folder`). A damaged file is
deleted. Each is keyed by a digest of all that it was compiled from, so code compiled from other
sources never runs, and an edit recompiles only the kernels that depend on it.

A wheel may bring machine code along, which runs on every processor of its architecture. It is read
only if whoever could change it could change the sources as well.
"""

from __future__ import annotations

import hashlib
import io
import logging
import pickle
import re
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import caching, compiler, environment, serialize
from numba.core.runtime.nrt import rtsys

from shoal.base.kernel_files.code_digest import UnknownContent, digest
from shoal.base.kernel_files.code_folder import as_safe, of_package, untouched
from shoal.base.kernel_files.compile_turns import end_turn, take_turn

ANY_PROCESSOR = ("generic", "")  # the name and the features that numba calls so
ENDING = ".code"
# The settings of numba that change the machine code, with their defaults.
FLAGS = {"BOUNDSCHECK": None, "OPT": 3, "LOOP_VECTORIZE": 1, "SLP_VECTORIZE": 0}

log = logging.getLogger("shoal")


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
            if not untouched(path):
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
        return path if as_safe(path, self._shipped.parent) else None

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
        if any(self._folder == of_package(parent) for parent in source.parents):
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


# Every kernel that this process has defined, by its name; a test may define several with one name.
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
