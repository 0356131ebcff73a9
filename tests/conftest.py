"""What all tests share."""

from __future__ import annotations

import os
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

HERE = Path(__file__).parent
SHARED = HERE.parents[1] / "shared" / "data"
# Browsers, servers, processes that compile or are killed: a third of the time of all tests. They
# are `make test-long`, which CI runs after `make test`.
LONG = (
    "base/kernel_files",
    "comparing/test_isolated_run.py",
    "databases/test_lost_connections.py",
    "engines/test_written_tables.py",
    "flow/test_at_scale.py",
    "laws/test_databases.py",
    "laws/test_threads.py",
    "report/test_narrow.py",
    "report/test_pdf.py",
    "studio/browser",
    "studio/pages/export",
    "studio/test_persistence.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of these files."""
    places = [HERE / name for name in LONG]
    long = cache(lambda path: any(path.is_relative_to(place) for place in places))
    for item in items:
        if long(item.path):
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
