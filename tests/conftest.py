"""What all tests share."""

from __future__ import annotations

import os
import signal
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from shoal.cli import main as cli
from tests import postgresql_server, spark_cluster
from tests.command_line import PLAN, write_people
from tests.strategies import examples

# Kernels compile on their first call, so a time limit would only tell how busy the machine is.
# CI judges a change, and draws the same examples whenever it runs on it; `make test` and the
# campaign search: they draw others each time.
settings.register_profile(
    "shoal",
    deadline=None,
    max_examples=examples(100),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("shoal")

# Started in the background by a shell, tests ignore Ctrl-C, and those of it would wait forever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
SHARED = HERE.parents[1] / "shared" / "data"
# Browsers, servers, processes that compile or are killed, whole examples: half of the time of all
# tests. They are `make test-long`, which CI runs after `make test`. Folders, files, or tests of a
# file.
LONG = (
    "base/kernel_files",
    "cli/test_cli.py::test_a_real_interrupt_leaves_nothing",
    "cli/test_compare_command.py::test_an_interrupt_leaves_what_has_finished",
    "comparing/test_isolated_run.py",
    "databases/test_lost_connections.py",
    "engines/test_faults.py::test_an_interrupt_ends_the_query_and_leaves_nothing",
    "engines/test_written_tables.py",
    "flow/test_at_scale.py",
    "flow/test_rehearsal.py::test_an_interrupt_while_both_compile_leaves_nothing",
    "flow/test_rehearsal.py::test_the_assistant_ends_with_the_command",
    "flow/test_rehearsal.py::test_the_assistant_stores_what_nobody_has_claimed",
    "kernels/test_kernels.py::test_item_0_all_algorithms_with_all_losses_end_on_tables_of_1_to_12_rows",
    "kernels/test_kernels.py::test_item_0_peel_ends_where_one_class_is_all_there_can_be",
    "kernels/test_kernels.py::test_kernels_run_as_plain_python_and_use_no_negative_index",
    "kernels/test_kernels.py::test_kernels_that_are_shipped_with_the_package_are_not_compiled",
    "kernels/test_kernels.py::test_stored_kernels_compute_raise_and_are_inlined_as_before",
    "laws/test_databases.py",
    "laws/test_threads.py",
    "report/test_narrow.py",
    "report/test_pdf.py",
    "studio/browser",
    "studio/pages/export",
    "studio/pages/test_dropped_files.py::test_a_copy_that_was_removed_is_dropped_again_and_the_plan_is_kept",
    "studio/pages/test_look.py::test_a_restart_shows_the_same",
    "studio/test_persistence.py",
    "test_campaign.py::test_smoke",
    "test_campaign.py::test_smoke_kills",
    "test_contributing.py",
    "test_readme.py::test_examples_run",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark these tests."""
    places = [HERE / name for name in LONG if "::" not in name]
    names = {name for name in LONG if "::" in name}
    long = cache(lambda path: any(path.is_relative_to(place) for place in places))
    relative = cache(lambda path: path.relative_to(HERE).as_posix() if HERE in path.parents else "")
    for item in items:
        test = f"{relative(item.path)}::{getattr(item, 'originalname', item.name)}"
        if test in names or long(item.path):
            item.add_marker("long")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with more real tables; tests that need it say so when it is not there."""
    if not SHARED.is_dir():
        pytest.skip("needs the real tables of ../shared/data, which are not here")
    return SHARED


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A session on a Spark cluster of two workers; tests say why if there is none."""
    if (reason := spark_cluster.lacking()) is not None:
        pytest.skip(reason)
    session = spark_cluster.started(tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgresql():
    """A PostgreSQL server; tests say why if there is none."""
    if (reason := postgresql_server.lacking()) is not None:
        pytest.skip(reason)
    with postgresql_server.started() as server:
        yield server


@pytest.fixture
def empty_server(postgresql):
    """The server without the tables of other tests."""
    postgresql.run("DROP SCHEMA public CASCADE", "CREATE SCHEMA public",
                   "GRANT USAGE ON SCHEMA public TO PUBLIC")  # fmt: skip
    return postgresql


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run the command line in a folder of its own; returns status, output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out = capsys.readouterr()
        return end.value.code or 0, out.out, out.err

    return call


@pytest.fixture
def people(tmp_path):
    """A folder with a table of 60 people and its plan."""
    write_people(tmp_path / "people.csv", range(60))
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path
