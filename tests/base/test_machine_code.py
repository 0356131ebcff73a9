"""Compiled kernels are kept where only their user can write, and whatever is damaged is rebuilt."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import pickle
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
import pytest
from numba.core.registry import cpu_target

from shoal.base import machine_code
from shoal.base.machine_code import FOLDER

SOURCE = Path(machine_code.__file__).parents[1]
posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
POWERLESS = shutil.which("setpriv")  # root without its powers, whom permissions do stop
TINY = """
import logging, sys
from pathlib import Path
import numba, numpy as np
from numba.core import event
from shoal.base import machine_code
logging.getLogger("shoal").addHandler(logging.StreamHandler(sys.stderr))
compiled = []
class Seen(event.Listener):
    def on_start(self, event): compiled.append(event)
    def on_end(self, event): pass
def double(x): return x * 2
kernel = numba.njit(no_cfunc_wrapper=True)(double)
folder = machine_code.folder(Path(sys.argv[1]))
kernel._cache = machine_code.MachineCode(kernel, folder)
with event.install_listener("numba:run_pass", Seen()):
    print(kernel(21), bool(compiled), folder)
"""


def run(
    package: Path, *, home: Path | None = None, power: bool = True, **more: str
) -> tuple[str, bool, Path, str]:
    """What a tiny kernel says, whether it was compiled, where it is kept, and what was said."""
    done = subprocess.run(
        [*words(power), "-c", TINY, str(package)],
        env=environment(home, PYTHONPATH=str(SOURCE.parent), **more),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    value, compiled, folder = done.stdout.split()
    return value, compiled == "True", Path(folder), done.stderr


def words(power: bool) -> list[str]:
    if power or os.geteuid() != 0:
        return [sys.executable]
    if POWERLESS is None:
        pytest.skip("root can write anywhere, and there is no setpriv to prevent that")
    return [POWERLESS, "--bounding-set=-all", "--inh-caps=-all", sys.executable]


def environment(home: Path | None, **more: str) -> dict[str, str]:
    left_out = ("HOME", "XDG_CACHE_HOME", "SHOAL_CACHE", "NUMBA_CACHE_DIR", "TMPDIR")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, **({} if home is None else {"HOME": str(home)}), **more}


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "package"
    folder.mkdir()
    return folder


def double(x):
    return x * 2


def call(folder: Path) -> tuple[int, bool]:
    """What a tiny kernel says that nobody has loaded yet, and whether it had to be compiled."""
    kernel = numba.njit(no_cfunc_wrapper=True)(double)
    kernel._cache = machine_code.MachineCode(kernel, folder)
    return kernel(21), not kernel.stats.cache_hits


def stored(folder: Path) -> list[Path]:
    return list(folder.glob("*" + machine_code.ENDING))


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
    (package / machine_code.SHIPPED).mkdir(parents=True)
    (package / "__init__.py").touch()
    done = subprocess.run(
        [sys.executable, "-c", SHIP, str(package / machine_code.SHIPPED)],
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
from shoal.base import machine_code
def double(x): return x * 2
double.__module__ = {__name__!r}
kernel = numba.njit(no_cfunc_wrapper=True)(double)
code = kernel._cache = machine_code.MachineCode(kernel, Path(sys.argv[1]) / "none", linked=False)
kernel(21)
code.ship(Path(sys.argv[1]))
"""


def call_installed(package: Path, cache: Path) -> tuple[int, bool]:
    """What the kernel returns, and whether it had to be compiled."""
    cache.mkdir(exist_ok=True)
    kernel = numba.njit(no_cfunc_wrapper=True)(double)
    shipped = machine_code.shipped(package)
    code = machine_code.MachineCode(kernel, cache, linked=False, shipped=shipped)
    kernel._cache = code
    expected = code.has((numba.int64,))
    value = kernel(21)
    assert expected >= bool(kernel.stats.cache_hits)
    return value, not kernel.stats.cache_hits


def test_machine_code_of_a_wheel_is_loaded_and_not_stored_again(installed, tmp_path):
    assert call_installed(installed, tmp_path / "cache") == (42, False)
    assert stored(tmp_path / "cache") == []
    assert len(stored(installed / machine_code.SHIPPED)) == 1


def test_damaged_machine_code_of_a_wheel_is_not_run_and_not_changed(installed, tmp_path, caplog):
    (file,) = stored(installed / machine_code.SHIPPED)
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
    folder = installed / machine_code.SHIPPED
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
    (file,) = stored(installed / machine_code.SHIPPED)
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


@pytest.mark.slow
@posix
def test_item_13_where_nothing_can_be_written_a_private_temporary_folder_serves(package, tmp_path):
    """A service account: neither the package nor HOME is writable."""
    temporary, home = tmp_path / "tmp", tmp_path / "home"
    temporary.mkdir()
    temporary.chmod(0o1777)
    home.mkdir()
    home.chmod(0o555)
    package.chmod(0o555)
    value, compiled, folder, said = run(package, home=home, power=False, TMPDIR=str(temporary))
    assert (value, compiled) == ("42", True)
    assert folder.parent == temporary / f"shoal-{os.geteuid()}"
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert "set SHOAL_CACHE" in said
    again = run(package, home=home, power=False, TMPDIR=str(temporary))
    assert again == ("42", False, folder, "")
    chosen = tmp_path / "chosen"
    chosen.mkdir(mode=0o755)
    found = run(package, home=home, power=False, SHOAL_CACHE=str(chosen))
    assert found == ("42", True, chosen / FOLDER, "")


@posix
def test_item_13_the_whole_command_line_starts_there(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o555)
    copy = tmp_path / "site" / "shoal"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *copy.rglob("*/")]:
        folder.chmod(0o555)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    places = {"PYTHONPATH": str(copy.parent), "TMPDIR": str(temporary)}
    for line in (["list", "losses"], ["--help"]):
        done = subprocess.run(
            [*words(False), "-m", "shoal", *line],
            env=environment(home, **places),
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
    assert (temporary / f"shoal-{os.geteuid()}").is_dir()


def folder_of(package: Path) -> Path | None:
    return machine_code.folder(package)


@pytest.fixture
def nowhere(package, tmp_path, monkeypatch):
    """A package, a home and temporary files that are plain files: no folder can be made there."""
    (package / "__pycache__").write_text("")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    for variable in (*machine_code.VARIABLES, "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return package


def test_item_13_without_any_folder_kernels_are_compiled_each_time(nowhere, caplog):
    assert folder_of(nowhere) is None
    assert "every run compiles all it needs" in caplog.text


def test_item_13_a_user_without_a_home(nowhere, tmp_path, monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = folder_of(nowhere)
    assert found is not None
    assert found.parent.parent == tmp_path


@posix
def test_item_13_no_folder_that_somebody_else_could_have_written(nowhere, tmp_path, monkeypatch):
    """Links, folders that others may write to, and folders of other users."""
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setenv("SHOAL_CACHE", str(open_to_all))
    assert folder_of(nowhere) is None
    open_to_all.chmod(0o755)
    mine = folder_of(nowhere)
    assert mine == open_to_all / FOLDER
    (mine / "planted.code").write_text("")
    mine.chmod(0o775)  # others may have written to it: it is created again
    assert folder_of(nowhere) == mine
    assert not list(mine.iterdir())
    mine.rmdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    mine.symlink_to(elsewhere)
    assert folder_of(nowhere) is None
    mine.unlink()
    if os.geteuid() == 0:
        mine.mkdir(mode=0o755)
        os.chown(mine, 12345, 12345)
        assert folder_of(nowhere) is None
        mine.rmdir()
        os.chown(open_to_all, 12345, 12345)
        assert folder_of(nowhere) is None


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
    assert {path.name for path in tmp_path.iterdir()} <= {machine_code.LOCKS}


def test_kernels_that_one_function_makes_are_distinguished(tmp_path):
    """Their code is the same; what differs is what they have from the function around them."""

    def make(number):
        def add(x):
            return x + number

        kernel = numba.njit(no_cfunc_wrapper=True)(add)
        kernel._cache = machine_code.MachineCode(kernel, tmp_path)
        return kernel

    assert [make(1)(0), make(100)(0)] == [1, 100]


# Says so before it waits for another process.
WAITING = TINY.replace(
    "compiled = []",
    """compiled = []
def sleep(seconds):
    print("waiting", flush=True)
    wait(seconds)
wait, machine_code.sleep = machine_code.sleep, sleep""",
)
# Begins to compile, and does not end.
HANGING = TINY.replace(
    "compiled = []",
    """compiled = []
class Hang(event.Listener):
    def on_start(self, event):
        print("compiling", flush=True)
        sys.stdin.read()
    def on_end(self, event): pass
event.register("numba:compile", Hang())""",
)


@contextmanager
def running(source: str, package: Path, cache: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", source, str(package)],
        env=environment(None, PYTHONPATH=str(SOURCE.parent), SHOAL_CACHE=str(cache)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@posix
def test_of_two_processes_one_compiles_and_the_other_waits_for_it(package, tmp_path):
    with running(HANGING, package, tmp_path) as first:
        assert first.stdout.readline() == "compiling\n"
        with running(WAITING, package, tmp_path) as second:
            assert second.stdout.readline() == "waiting\n"
            assert first.communicate()[0].split()[:2] == ["42", "True"]
            *_, last = second.communicate()[0].splitlines()
            assert last.split()[:2] == ["42", "False"]


@posix
def test_a_process_that_is_killed_while_it_compiles_does_not_keep_others_waiting(package, tmp_path):
    with running(HANGING, package, tmp_path) as first:
        assert first.stdout.readline() == "compiling\n"
        with running(WAITING, package, tmp_path) as second:
            assert second.stdout.readline() == "waiting\n"
            first.kill()
            *_, last = second.communicate(timeout=machine_code.PATIENCE / 2)[0].splitlines()
            assert last.split()[:2] == ["42", "True"]


def test_without_locks_every_process_compiles_by_itself(tmp_path, monkeypatch):
    (tmp_path / machine_code.LOCKS).mkdir()  # it cannot be opened for writing
    assert call(tmp_path) == (42, True)
    assert call(tmp_path) == (42, False)
    monkeypatch.setattr(machine_code, "fcntl", None)
    assert call(tmp_path) == (42, False)
    stored(tmp_path)[0].unlink()
    assert call(tmp_path) == (42, True)
