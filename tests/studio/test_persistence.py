"""What stays after a cancel, a reload, a restart, a kill and a full disk, and what does not."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from shoal.studio.processes import descendants
from tests.studio.served import Served, serving
from tests.studio.slow_table import slow_table

PLAN_AND_STATE = {"plan.toml", "run.json"}


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return slow_table(tmp_path_factory.mktemp("slow"))


@pytest.fixture
def running(tmp_path: Path, slow: tuple[Path, Path]) -> Iterator[tuple[Served, str]]:
    """A studio in the middle of a run, and the address of its project."""
    table, plan = slow
    with serving(tmp_path / "kept", str(table), "--plan", str(plan)) as served:
        yield served, started(served)


def started(served: Served) -> str:
    """Start a run of the table that the command has named, and wait until it finds groups."""
    project = served.get("/").headers["location"].rpartition("/")[0]
    served.until(f"{project}/columns", 'class="columns"')
    assert served.ask("POST", f"{project}/run/start", "").status == 303
    served.until(f"{project}/run", "finding groups|compiling")
    return project


def files(folder: Path) -> set[str]:
    """Everything below a folder."""
    return {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}


def run_files(served: Served) -> set[str]:
    """The files of the only run."""
    (run,) = served.folder.glob("projects/*/runs/*")
    return files(run)


def leaves_only(served: Served, names: set[str], seconds: float = 5.0) -> bool:
    """Whether these are soon its files: the state is written while the page is shown already."""
    end = monotonic() + seconds
    while run_files(served) != names and monotonic() < end:
        sleep(0.05)
    return run_files(served) == names


def gone(pids: list[int], seconds: float = 5.0) -> bool:
    """Whether processes end within some seconds."""
    end = monotonic() + seconds
    while monotonic() < end:
        if not any(Path(f"/proc/{pid}").exists() and alive(pid) for pid in pids):
            return True
        sleep(0.05)
    return False


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # somebody else has to take note of its end


def test_a_cancelled_run_ends_at_once_and_leaves_nothing(running: tuple[Served, str]) -> None:
    served, project = running
    workers = served.workers
    name = re.search(r"/run/(\w+)/cancel", served.get(f"{project}/run").text)
    assert name is not None
    begin = monotonic()
    assert served.ask("POST", f"{project}/run/{name[1]}/cancel", "").status == 303
    assert monotonic() - begin < 5
    assert "Cancelled" in served.get(f"{project}/run").text
    assert leaves_only(served, PLAN_AND_STATE)
    left = set(served.workers)
    assert len(left) < len(workers)
    assert gone([pid for pid in workers if pid not in left])
    assert served.ask("POST", f"{project}/run/{name[1]}/forget", "").status == 303
    assert not list(served.folder.glob("projects/*/runs/*"))
    assert "No run yet" in served.get(f"{project}/run").text


def test_a_studio_that_is_killed_leaves_no_process_and_no_half_file(
    running: tuple[Served, str], slow: tuple[Path, Path]
) -> None:
    served, project = running
    workers = descendants(served.process.pid)
    assert served.workers
    served.process.kill()
    served.process.wait()
    assert gone(workers), "processes that hold tables must not outlive the studio"
    (run,) = served.folder.glob("projects/*/runs/*")
    # What a run may have been writing at that moment.
    for name in ("run.json.new", ".shoal-00000000-00000000-1-0000000000000000.csv", "release.csv"):
        (run / name).write_text("half", encoding="utf-8")
    (served.folder / "uploads" / "half.csv").write_text("half", encoding="utf-8")
    with serving(served.folder) as again:
        page = again.until(f"{project}/run", "The studio ended before")
        assert "release.csv" not in page.text
        assert run_files(again) == PLAN_AND_STATE
        assert not files(served.folder / "uploads")
        assert slow[0].exists()


def test_a_second_studio_is_refused_while_the_first_one_runs(tmp_path: Path) -> None:
    with serving(tmp_path / "kept") as served:
        command = [sys.executable, "-m", "shoal", "studio", "--no-browser", "--folder",
                   str(served.folder)]  # fmt: skip
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode == 2
        assert "another studio uses the folder" in second.stderr
        assert served.get("/").status == 200
    with serving(tmp_path / "kept") as served:  # the lock of a killed one does not stay
        assert served.get("/").status == 200


def test_everything_can_be_wiped_in_the_middle_of_a_run(running: tuple[Served, str]) -> None:
    served, project = running
    assert served.ask("POST", "/wipe", "").status == 303
    assert gone(served.workers)
    assert files(served.folder) == {"studio.lock"}
    assert served.get(f"{project}/run").status == 404
    assert served.get("/").status == 200


@pytest.mark.parametrize("keep", [False, True])
def test_ctrl_c_ends_it_cleanly(tmp_path: Path, keep: bool) -> None:
    with serving(tmp_path / "kept", *(["--keep"] if keep else [])) as served:
        project = served.opened()
        # Names and values that a page asks for, found or not, are written nowhere.
        for path in (f"{project}/look?column=smoker&value=yes", f"{project}/smoker", "/smoker"):
            served.get(path)
        served.ask("POST", f"{project}/columns/1/role", "role=smoker")
        served.process.send_signal(signal.SIGINT)
        said = served.process.communicate(timeout=30)[0]
    assert served.process.returncode == 0
    assert "smoker" not in said
    assert project not in said
    assert said.strip().splitlines()[-1] == "The studio has ended."
    assert "Traceback" not in said
    assert bool(files(served.folder / "uploads")) is keep


def test_sigterm_ends_it_cleanly_too(tmp_path: Path) -> None:
    with serving(tmp_path / "kept") as served:
        served.process.send_signal(signal.SIGTERM)
        said = served.process.communicate(timeout=30)[0]
    assert served.process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in said


def test_the_list_of_processes_shows_no_data(running: tuple[Served, str]) -> None:
    served, _ = running
    for pid in descendants(served.process.pid):
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        assert b"slow" not in command
        assert str(served.folder).encode() not in command


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """What cannot be kept is refused in plain words, and changes nothing."""
    with serving(tmp_path / "kept") as served:
        project = served.opened()
        before = served.get(f"{project}/plan.toml").text
        kept = files(served.folder)
        _, hard = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (100, hard))
        answer = served.ask("POST", f"{project}/requirements/models/0", "k=9")
        assert answer.status == 409
        assert "free some space" in answer.text
        assert served.get(f"{project}/plan.toml").text == before
        answer = served.ask("POST", f"{project}/run/start", "")
        assert "free some space" in answer.text
        assert files(served.folder) == kept
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert served.ask("POST", f"{project}/requirements/models/0", "k=9").status == 303
        assert served.get(f"{project}/plan.toml").text != before


def test_a_disk_that_becomes_full_during_a_run(tmp_path: Path) -> None:
    with serving(tmp_path / "kept") as served:
        project = served.opened()
        workers = set(served.workers)
        assert served.ask("POST", f"{project}/run/start", "").status == 303
        end = monotonic() + 30
        while not (new := set(served.workers) - workers):
            assert monotonic() < end
        for pid in new:
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1000, hard))
        page = served.until(f"{project}/run", 'role="alert"|report.html').text
        assert "report.html" not in page
        assert os.strerror(27) in page  # EFBIG
        assert leaves_only(served, PLAN_AND_STATE)
