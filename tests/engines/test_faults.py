"""What goes wrong with large tables: the message says what to do, and nothing is left behind."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import BadFile, BadPlan, BadTable
from shoal.engines.duckdb import Database
from shoal.engines.resources import Resources
from shoal.engines.source import Source
from shoal.io.atomic import private_folder
from tests.large_tables import nothing_left, plan, table


def test_not_installed(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(BadPlan, match=r"pip install 'shoal\[duckdb\]'"):
        shoal.anonymize(source, plan())


@pytest.mark.parametrize(("change", "said"), [
    ({"columns": {"age": "quasi", "sex": "quasi", "note": {"role": "person", "publish": False}}},
     "person column that is not published"),
    ({"algorithm": "auto"}, "auto"),
    ({"loss": "auto"}, "auto"),
    ({"algorithm": "mdav"}, "mdav"),
    ({"models": [{"name": "k-concealment", "k": 2}], "algorithm": "concealment"}, "k-concealment"),
    ({"keep_order": True}, "keep_order"),
])  # fmt: skip
def test_not_supported(change: dict, said: str, source: Path) -> None:
    with pytest.raises(BadPlan, match=f"does not support .*{said}.*engine = 'memory'"):
        shoal.anonymize(source, plan(**change))


def test_a_frame_in_memory(source: Path) -> None:
    with pytest.raises(BadPlan, match="reads files"):
        shoal.anonymize(table(), plan())


# Files


def test_a_type_that_duckdb_changes(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    rows = table()
    pq.write_table(rows.set_column(2, "note", pa.array([[1, 2]] * len(rows))), path)
    with pytest.raises(BadTable, match=r"'note' is of type list.*engine = 'memory'"):
        shoal.anonymize(path, plan())


@pytest.mark.parametrize("role", ["identifier", "drop"])
def test_a_column_that_is_not_published_may_be_of_any_type(role: str, tmp_path: Path) -> None:
    """It is not read at all."""
    path = tmp_path / "people.parquet"
    rows = table()
    pq.write_table(rows.set_column(2, "note", pa.array([[1, 2]] * len(rows))), path)
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi",
               "note": role}  # fmt: skip
    release = shoal.anonymize(path, plan(columns=columns))
    release.save(tmp_path / "out.parquet")
    assert pq.read_schema(tmp_path / "out.parquet").names == ["age", "sex"]


@pytest.mark.parametrize("name", ["people[1].parquet", "it's *.parquet", "k=5.parquet"])
def test_names_that_are_patterns(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    pq.write_table(table(), path)
    pq.write_table(table(3), tmp_path / "people1.parquet")  # what the pattern would match
    assert shoal.anonymize(path, plan()).rows == 200


@pytest.mark.parametrize(
    "text", ["age,sex,note\n1,f\n", 'age,sex,note\n1,"f,x\n', "age,sex,note\n"]
)
def test_bad_text_is_reported_as_by_memory(text: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text)
    said = []
    for engine in ("memory", "duckdb"):
        with pytest.raises(BadTable) as error:
            shoal.anonymize(path, plan(engine=engine))
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_damaged_file(source: Path) -> None:
    content = source.read_bytes()
    source.write_bytes(content[:200] + b"\xff" * 300 + content[500:])
    with pytest.raises(BadFile, match=r"cannot read .*people\.parquet: it is damaged"):
        shoal.anonymize(source, plan()).save(source.with_name("out.parquet"))
    assert not source.with_name("out.parquet").exists()
    assert nothing_left(source.parent)


# Temporary files


def test_a_private_folder_is_private_and_removed(tmp_path: Path) -> None:
    with private_folder(tmp_path) as folder:
        (folder / "secret").write_text("x")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        with private_folder(tmp_path) as other:  # one in use is not taken for stale
            assert other != folder
        assert (folder / "secret").exists()
    assert nothing_left(tmp_path)


def test_a_folder_of_a_killed_run_is_removed(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from shoal.io.atomic import private_folder\n"
        "with private_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'secret').write_text('x')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
    assert not nothing_left(tmp_path)
    with private_folder(tmp_path):
        assert len(list(tmp_path.glob(".shoal-*"))) == 1
    assert nothing_left(tmp_path)


def test_temp_directory(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    with pytest.raises(BadFile, match="there is no directory"):
        shoal.anonymize(source, plan(temp_directory=str(other)))
    other.mkdir()
    seen = []
    with Database.opened(Resources.of(None, str(other)), Source.of(source)) as database:
        seen.append(database.folder.parent)
    assert seen == [other]
    assert nothing_left(other)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_query_and_leaves_nothing(number: int, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    rows = 6_000_000
    rng = np.random.default_rng(1)
    pq.write_table(
        pa.table({"age": rng.integers(0, 10**6, rows), "sex": rng.integers(0, 10**6, rows)}), path
    )
    (tmp_path / "plan.toml").write_text(
        'engine = "duckdb"\nmemory = "200MB"\n[columns]\nage = "quasi"\nsex = "quasi"\n'
        '[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    words = [sys.executable, "-m", "shoal", "anonymize", "people.parquet", "--plan", "plan.toml",
             "--out", "out.parquet"]  # fmt: skip
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as run:
        until = monotonic() + 120
        while nothing_left(tmp_path) and run.poll() is None and monotonic() < until:
            sleep(0.01)
        assert run.poll() is None, "it ended before DuckDB began"
        run.send_signal(number)
        _, said = run.communicate(timeout=120)
    assert run.returncode == 128 + number
    assert "interrupted; nothing was written" in said
    assert nothing_left(tmp_path)
    assert not (tmp_path / "out.parquet").exists()
