"""Too little memory or disk: the message says how much is needed, and nothing is left behind."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import BadFile, BadPlan
from shoal.algorithms._shared.parts import cuts
from shoal.engines.duckdb import Database
from shoal.engines.duckdb_groups import group
from shoal.engines.resources import Resources
from shoal.engines.source import Source
from shoal.io.frames import open_frame, write
from shoal.io.memory import shown
from tests.large_tables import nothing_left, plan, table


def test_a_memory_limit_that_no_machine_has(source: Path) -> None:
    release = shoal.anonymize(source, plan(memory="999999999999TB"))
    release.save(source.with_name("out.parquet"))
    assert pq.read_table(source.with_name("out.parquet")).num_rows == 200


@pytest.mark.parametrize(("memory", "said"), [
    ("2 apples", "a number and a unit"),
    ("1MB", "128 MB or more"),
])  # fmt: skip
def test_memory_limit_that_is_none(memory: str, said: str) -> None:
    with pytest.raises(BadPlan, match=said):
        plan(memory=memory)


def test_memory_limit_too_low_for_the_groups(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says how many combinations there are, and how much memory they need."""
    monkeypatch.setattr(cuts, "PER_TUPLE", 10**8)
    monkeypatch.setattr(cuts, "HELD", 10**8)
    with pytest.raises(BadPlan, match=r"40 distinct .* about 4\.0 GB .* limit is 500 MB"):
        shoal.anonymize(source, plan(memory="500MB"))
    assert nothing_left(source.parent)


def test_memory_limit_too_low_for_the_parts(tmp_path: Path) -> None:
    """No number of parts is enough; the message says how much memory is."""
    path, rows = tmp_path / "many.parquet", 200_000
    pq.write_table(
        pa.table({"age": np.arange(rows), "sex": ["f"] * rows, "note": ["x"] * rows}), path
    )
    needed = shown(Resources(0, parts=None).needed_for(rows))
    said = f"200,000 distinct .* need about {needed} .* part by part, and the limit is 128 MB"
    with pytest.raises(BadPlan, match=said):
        shoal.anonymize(path, plan(memory="128MB"))
    assert nothing_left(tmp_path)


@pytest.mark.parametrize(("ending", "megabytes"), [(".parquet", 12), (".csv", 6)])
def test_memory_limit_too_low_for_duckdb(ending: str, megabytes: int, tmp_path: Path) -> None:
    """DuckDB itself runs out of memory; what the message asks for is enough."""
    path = tmp_path / f"many{ending}"
    rows = 300_000
    long = pa.array([f"somewhere in the middle of {i}" for i in range(rows)])
    write(open_frame(pa.table({"a": long, "b": np.arange(rows) % 1000})), path)
    given = Source.of(path)
    low = Resources(megabytes * 10**6, threads=1, parts=None)
    with (
        Database.opened(low, given) as database,
        pytest.raises(BadPlan, match=f"limit of {megabytes} MB is too low") as error,
    ):
        group(database, given, ["a", "b"])
    said = re.search(r"of 2 columns and 1 thread need ([0-9]+) MB: set it", str(error.value))
    assert said is not None
    enough = replace(low, memory=int(said[1]) * 10**6)
    assert low.memory < enough.memory
    with Database.opened(enough, given) as database:
        assert group(database, given, ["a", "b"]).height == rows
    assert nothing_left(tmp_path)


def test_spilling(tmp_path: Path) -> None:
    """More groups than fit into memory are spilled to the private folder, and are all found."""
    path = tmp_path / "many.parquet"
    rows = 3_000_000
    wide = pa.array(np.arange(rows)).cast(pa.string())
    pq.write_table(pa.table({"a": wide, "b": np.arange(rows)}), path)
    given = Source.of(path)
    seen: list[int] = []
    with Database.opened(Resources(130_000_000, threads=1), given) as database:
        assert stat.S_IMODE(database.folder.stat().st_mode) == 0o700

        def watch(share: float) -> None:
            seen.append(sum(one.stat().st_size for one in database.folder.iterdir()))

        database.watch = watch
        database.execute(
            f"CREATE TEMP TABLE u AS SELECT c0, c1, count(*) AS n FROM "
            f"{database.source_rows(given, ['a', 'b'])} GROUP BY c0, c1"
        )
        assert database.con.execute("SELECT count(*), sum(n) FROM u").fetchall() == [(rows, rows)]
    assert max(seen) > 0
    assert nothing_left(tmp_path)


DISK_FULL = """
import resource, sys
import shoal
from shoal import Plan
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), -1))
columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi", "note": "other"}
plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}], engine="duckdb",
            memory="130MB")
try:
    shoal.anonymize(sys.argv[1], plan).save(sys.argv[2])
except shoal.BadFile as error:
    print(error)
"""


@pytest.mark.parametrize(("ending", "limit", "said"), [
    (".parquet", 4_000, "temporary files"),
    (".csv", 70_000, "cannot write"),
])  # fmt: skip
def test_disk_full(ending: str, limit: int, said: str, tmp_path: Path) -> None:
    """No file may grow beyond a limit: the temporary files of the shuffle, or the release."""
    path, out = tmp_path / f"people{ending}", tmp_path / f"out{ending}"
    rows = table(4_000)
    if ending == ".csv":  # cells that compress well in the temporary files, but not in the release
        rows = rows.set_column(2, "note", pa.array(["the same note for everybody"] * len(rows)))
    write(open_frame(rows), path)
    done = subprocess.run(
        [sys.executable, "-c", DISK_FULL, path, out, str(limit)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert str(tmp_path) in done.stdout
    assert not out.exists()
    assert nothing_left(tmp_path)


def test_disk_full_in_duckdb(source: Path) -> None:
    """What DuckDB spills does not fit on the disk."""
    given = Source.of(source)
    with Database.opened(Resources(130_000_000, threads=1), given) as database:
        database.con.execute("SET max_temp_directory_size = '1MB'")
        sql = "SELECT count(*) FROM (SELECT range, count(*) FROM range(20_000_000) GROUP BY range)"
        with pytest.raises(BadFile, match=r"no space is left there.*--temp-directory"):
            database.execute(sql)
    assert nothing_left(source.parent)
