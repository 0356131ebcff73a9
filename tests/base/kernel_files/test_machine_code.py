"""Compiled kernels are stored and loaded; whatever is damaged or foreign is compiled again."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.registry import cpu_target

from shoal.base.kernel_files import code_folder, compile_turns, machine_code
from tests.base.kernel_files.tiny_kernel import (
    SOURCE,
    TINY,
    call,
    double,
    environment,
    posix,
    stored,
)


def test_item_13_a_damaged_file_is_thrown_away_and_compiled_again(tmp_path, caplog, monkeypatch):
    assert call(tmp_path) == (42, True)
    assert call(tmp_path) == (42, False)
    (file,) = stored(tmp_path)
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for content in (b"", b"garbage", whole[:100], whole[:-1], bytes(flipped)):
        monkeypatch.setattr(machine_code, "_WARNED", set())
        caplog.clear()
        file.write_bytes(content)
        assert call(tmp_path) == (42, True)
        assert "is damaged: it is deleted and compiled again" in caplog.text
        assert call(tmp_path) == (42, False)
    file.unlink()
    file.mkdir()  # it can neither be read nor written
    assert call(tmp_path) == (42, True)


@posix
def test_a_file_that_others_could_have_written_is_not_run(tmp_path, caplog, monkeypatch):
    """In a folder that others can read, as one that was there before shoal came."""
    tmp_path.chmod(0o755)
    assert call(tmp_path) == (42, True)
    (file,) = stored(tmp_path)
    for mode in (0o620, 0o602, 0o666):
        monkeypatch.setattr(machine_code, "_WARNED", set())
        caplog.clear()
        file.chmod(mode)
        assert call(tmp_path) == (42, True)
        assert "is not safe from other users: it is deleted" in caplog.text
        assert call(tmp_path) == (42, False)
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert call(tmp_path) == (42, True)
    assert not file.is_symlink()
    assert call(tmp_path) == (42, False)
    file.chmod(0o666)
    tmp_path.chmod(0o700)  # nobody else can reach the file
    assert call(tmp_path) == (42, False)


@posix
def test_a_file_of_another_user_is_not_run(tmp_path, monkeypatch):
    assert call(tmp_path) == (42, True)
    (file,) = stored(tmp_path)
    lstat = Path.lstat

    def foreign(path):
        found = lstat(path)
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:])) if path == file else found

    monkeypatch.setattr(Path, "lstat", foreign)
    assert call(tmp_path) == (42, True)


@posix
def test_files_are_written_for_their_owner_only(tmp_path):
    before = os.umask(0)
    try:
        assert call(tmp_path) == (42, True)
    finally:
        os.umask(before)
    (file,) = stored(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.fixture
def installed(tmp_path):
    """A package with the machine code of a tiny kernel for any processor, as a wheel brings it."""
    package = tmp_path / "installed"
    (package / code_folder.SHIPPED).mkdir(parents=True)
    (package / "__init__.py").touch()
    done = subprocess.run(
        [sys.executable, "-c", SHIP, str(package / code_folder.SHIPPED)],
        env=environment(tmp_path, PYTHONPATH=str(SOURCE.parent), NUMBA_CPU_NAME="generic"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return package


SHIP = f"""
from __future__ import annotations  # as here: it is part of the digest
import sys
from pathlib import Path
import numba
from shoal.base.kernel_files import machine_code
def double(x): return x * 2
double.__module__ = {double.__module__!r}
kernel = numba.njit(no_cfunc_wrapper=True)(double)
code = kernel._cache = machine_code.MachineCode(kernel, Path(sys.argv[1]) / "none", linked=False)
kernel(21)
code.ship(Path(sys.argv[1]))
"""


def call_installed(package: Path, cache: Path) -> tuple[int, bool]:
    """What the kernel returns, and whether it had to be compiled."""
    cache.mkdir(exist_ok=True)
    kernel = numba.njit(no_cfunc_wrapper=True)(double)
    shipped = code_folder.shipped(package)
    code = machine_code.MachineCode(kernel, cache, linked=False, shipped=shipped)
    kernel._cache = code
    expected = code.has((numba.int64,))
    value = kernel(21)
    assert expected >= bool(kernel.stats.cache_hits)
    return value, not kernel.stats.cache_hits


def test_machine_code_of_a_wheel_is_loaded_and_not_stored_again(installed, tmp_path):
    assert call_installed(installed, tmp_path / "cache") == (42, False)
    assert stored(tmp_path / "cache") == []
    assert len(stored(installed / code_folder.SHIPPED)) == 1


def test_damaged_machine_code_of_a_wheel_is_not_run_and_not_changed(installed, tmp_path, caplog):
    (file,) = stored(installed / code_folder.SHIPPED)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert call_installed(installed, tmp_path / "cache") == (42, True)
    assert "is damaged: it is compiled again" in caplog.text
    assert file.read_bytes() == content
    assert call_installed(installed, tmp_path / "cache") == (42, False)


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (machine_code.llvmlite, "__version__", "0.1"),
        (machine_code.np, "__version__", "0.1"),
        (machine_code.numba.config, "BOUNDSCHECK", 1),
    ],
)
def test_machine_code_of_a_wheel_for_other_versions_or_settings_is_not_run(
    installed, tmp_path, monkeypatch, module, name, value
):
    monkeypatch.setattr(module, name, value)
    assert call_installed(installed, tmp_path / "cache") == (42, True)


def test_machine_code_of_a_wheel_that_calls_a_missing_function_is_not_run(
    installed, tmp_path, monkeypatch
):
    """It was there where the wheel was built; loading the code would end the process."""
    monkeypatch.setattr(machine_code, "_known", lambda _symbol: False)
    monkeypatch.setattr(machine_code, "_provide", lambda *_: None)
    assert call_installed(installed, tmp_path / "cache") == (42, True)


@posix
@pytest.mark.parametrize("what", ["file", "folder"])
def test_machine_code_that_more_people_can_write_than_the_sources_is_not_run(
    installed, tmp_path, what
):
    folder = installed / code_folder.SHIPPED
    (file,) = stored(folder)
    path = file if what == "file" else folder
    mode = path.stat().st_mode
    for more in (stat.S_IWGRP, stat.S_IWOTH):
        path.chmod(mode | more)
        assert call_installed(installed, tmp_path / f"cache-{more}") == (42, True)
    path.chmod(mode)
    assert call_installed(installed, tmp_path / "cache") == (42, False)
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert call_installed(installed, tmp_path / "cache-link") == (42, True)


@posix
def test_machine_code_of_another_user_than_the_sources_is_not_run(installed, tmp_path, monkeypatch):
    (file,) = stored(installed / code_folder.SHIPPED)
    lstat = Path.lstat

    def foreign(path):
        found = lstat(path)
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:])) if path == file else found

    monkeypatch.setattr(Path, "lstat", foreign)
    assert call_installed(installed, tmp_path / "cache") == (42, True)


def test_only_machine_code_for_any_processor_is_put_into_a_wheel(tmp_path):
    kernel = numba.njit(no_cfunc_wrapper=True)(double)
    code = kernel._cache = machine_code.MachineCode(kernel, tmp_path / "none", linked=False)
    kernel(21)
    with pytest.raises(ValueError, match="not for any"):
        code.ship(tmp_path)


@pytest.mark.parametrize(("symbol", "loads"), [("NRT_Free", False), ("no_such_symbol", True)])
def test_the_compiler_is_loaded_for_a_symbol_that_is_missing(symbol, loads, monkeypatch):
    """It may register the symbol; calling a missing one would end the process."""
    context, calls = cpu_target.target_context, []
    monkeypatch.setattr(context, "refresh", lambda: calls.append("refresh"))
    machine_code._provide([symbol], context)
    assert bool(calls) == loads


def test_loading_a_kernel_does_not_load_the_compiler(package, tmp_path):
    source = TINY + 'print("numba.np.arraymath" in sys.modules)'
    for compiled in ("True", "False"):
        words = [sys.executable, "-c", source, str(package)]
        env = environment(tmp_path, PYTHONPATH=str(SOURCE.parent))
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
        assert done.stdout.split()[1::2] == [compiled, compiled]


def test_files_without_the_list_of_symbols_are_loaded(tmp_path):
    """Earlier versions did not write it."""
    assert call(tmp_path) == (42, True)
    (file,) = stored(tmp_path)
    payload = file.read_bytes()[32:]
    stream = io.BytesIO(payload)
    pickle.load(stream)
    older = payload[: stream.tell()]
    assert len(older) < len(payload)
    file.write_bytes(hashlib.sha256(older).digest() + older)
    assert call(tmp_path) == (42, False)


def test_item_13_code_for_something_else_is_not_run(tmp_path):
    """Two kernels in one folder: a file under the name of the other is not taken for it."""
    assert call(tmp_path) == (42, True)
    (file,) = stored(tmp_path)
    content = file.read_bytes()
    kernel = numba.njit(no_cfunc_wrapper=True)(double)
    kernel._cache = machine_code.MachineCode(kernel, tmp_path)
    assert kernel(1.5) == 3.0
    (other,) = set(stored(tmp_path)) - {file}
    other.write_bytes(content)  # of whole numbers, sound in itself
    kernel = numba.njit(no_cfunc_wrapper=True)(double)
    kernel._cache = machine_code.MachineCode(kernel, tmp_path)
    assert kernel(1.5) == 3.0


def test_item_13_a_full_disk_is_said_once_and_does_no_harm(tmp_path, monkeypatch, caplog):
    kernel = numba.njit(double)
    kernel._cache = machine_code.MachineCode(kernel, tmp_path)
    plain = Path.open

    def full(path, *words, **options):
        if path.parent == tmp_path and words[:1] == ("wb",):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return plain(path, *words, **options)

    monkeypatch.setattr(machine_code, "_WARNED", set())
    monkeypatch.setattr(Path, "open", full)
    assert (kernel(21), kernel(1.5)) == (42, 3.0)
    monkeypatch.undo()
    assert [record.message for record in caplog.records] == [
        f"compiled code cannot be stored in {tmp_path} (No space left on device); the next "
        "run compiles it again. SHOAL_CACHE names another folder"
    ]
    assert {path.name for path in tmp_path.iterdir()} <= {compile_turns.LOCKS}


def test_kernels_that_one_function_makes_are_distinguished(tmp_path):
    """Their code is the same; what differs is what they have from the function around them."""

    def make(number):
        def add(x):
            return x + number

        kernel = numba.njit(no_cfunc_wrapper=True)(add)
        kernel._cache = machine_code.MachineCode(kernel, tmp_path)
        return kernel

    assert [make(1)(0), make(100)(0)] == [1, 100]
