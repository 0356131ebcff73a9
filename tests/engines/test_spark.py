"""The law of engines on a Spark cluster of two workers: the release is the one of memory."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
import shoal.spark
from shoal import BadFile, BadPlan, Plan
from shoal.engines import spark_table
from shoal.engines.spark_tasks import WriteFile
from shoal.io.frames import open_frame, read, write
from tests.flow.test_at_scale import numbers, people, plan, rows, split, typed


def lines(path: Path) -> list[bytes]:
    return sorted(path.read_bytes().splitlines())


def in_memory(table: Any, asked: Plan, out: Path) -> dict:
    """Save the release that memory makes; returns its numbers."""
    release = shoal.anonymize(table, asked.changed(engine="memory"))
    release.save(out)
    return numbers(release)


def test_a_dataframe_gives_the_release_of_memory(spark: Any, tmp_path: Path) -> None:
    """Byte for byte: sorted rows, all numbers, and the same file however the rows are divided."""
    table, asked = people(3), plan()
    expected = in_memory(table, asked, tmp_path / "memory.csv")
    divided = [spark.createDataFrame(table).repartition(3), spark.createDataFrame(table)]
    written = []
    for i, frame in enumerate(divided):
        release = shoal.spark.anonymize(frame, asked)
        release.save(tmp_path / f"{i}.csv")
        assert numbers(release) == expected
        assert release.as_dict()["engine"] == "spark"
        written.append((tmp_path / f"{i}.csv").read_bytes())
    assert lines(tmp_path / "0.csv") == lines(tmp_path / "memory.csv")
    assert written[0] == written[1]  # the order follows from the rows and the seed
    published = release.dataframe.toArrow()
    assert published.column_names == release.dataframe.columns
    assert pa.Table.to_pylist(published) == pa.Table.to_pylist(
        read(tmp_path / "1.csv").native.cast(published.schema)
    )
    assert all(not field.metadata for field in release.dataframe.schema.fields)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("ending", [".csv", pytest.param(".parquet", marks=pytest.mark.slow)])
def test_a_folder_gives_the_release_of_memory(
    ending: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, asked = people(4), plan()
    write(open_frame(table), tmp_path / f"one{ending}")
    expected = in_memory(tmp_path / f"one{ending}", asked, tmp_path / f"memory{ending}")
    folder = split(table, tmp_path / "many", 3, ending)
    monkeypatch.setattr(spark_table, "ROWS", 150)  # so that the release has three files
    release = shoal.anonymize(folder, asked.changed(engine="spark"))
    release.save(tmp_path / "release")
    assert numbers(release) == expected
    parts = sorted((tmp_path / "release").iterdir())
    assert [one.name for one in parts] == [f"part-0000{i}{ending}" for i in range(3)]
    found = sorted((row for part in parts for row in rows(part)), key=str)
    assert found == rows(tmp_path / f"memory{ending}")
    for part in parts:
        assert b"MARKER" not in part.read_bytes()
    if ending == ".parquet":
        schema = pq.read_schema(tmp_path / f"memory{ending}")
        assert {str(pq.read_schema(part)) for part in parts} == {str(schema)}
        assert all(b"spark" not in part.read_bytes() for part in parts)
    audited = shoal.audit(tmp_path / f"memory{ending}", asked)
    assert release.checks == audited.checks
    assert not list(tmp_path.glob(".shoal-*"))


class KillOnce(WriteFile):
    """Kills the executor, with all that it has shuffled, after a file was written."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for found in super().__call__(batches):
            kill_once(self.folder.parents[1] / "killed while writing")
            yield found


def killing(marker: Path) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Kills the executor in the middle of the rows."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            kill_once(marker)

    return task


def kill_once(marker: Path) -> None:
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    daemon = os.getppid()  # of the workers of Python; the executor has started it
    stat = Path(f"/proc/{daemon}/stat").read_text(encoding="ascii")
    os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)


def test_a_lost_executor_loses_no_row(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, asked = people(5, 3_000), plan()
    in_memory(table, asked, tmp_path / "memory.parquet")
    monkeypatch.setattr(spark_table, "WriteFile", KillOnce)
    monkeypatch.setattr(spark_table, "ROWS", 1_000)
    frame = spark.createDataFrame(table).toDF(*"abcdefg").repartition(4, "f", "g")
    frame = frame.mapInArrow(killing(tmp_path / "killed while grouping"), frame.schema)
    release = shoal.spark.anonymize(frame.toDF(*table.column_names), asked)
    assert (tmp_path / "killed while grouping").exists()
    release.save(tmp_path / "release")
    assert (tmp_path / "killed while writing").exists()
    parts = sorted((tmp_path / "release").iterdir())
    assert len(parts) == 3
    found = sorted((row for part in parts for row in rows(part)), key=str)
    assert found == rows(tmp_path / "memory.parquet")


def test_a_table_that_changes_is_not_released(spark: Any, tmp_path: Path) -> None:
    """Cells that differ whenever they are computed: no file is written."""

    def drawn(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            cells = [os.urandom(4).hex() for _ in range(batch.num_rows)]
            yield pa.record_batch([batch.column(0), pa.array(cells)], ["sex", "note"])

    frame = spark.createDataFrame(pa.table({"sex": ["f", "m"] * 4}))
    frame = frame.mapInArrow(drawn, "sex string, note string")
    asked = Plan(columns={"sex": "quasi", "note": "other"}, seed=1,
                 models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    release = shoal.spark.anonymize(frame, asked)
    with pytest.raises(BadFile, match="the DataFrame was changed while it was read"):
        release.save(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("role", ["other", "sensitive", "quasi"])
def test_types_stay_as_they_are(role: str, spark: Any, tmp_path: Path) -> None:
    table = typed(1)
    pq.write_table(table, tmp_path / "typed.parquet")
    for name in table.column_names[1:]:
        asked = Plan(
            columns=dict.fromkeys(table.column_names, "identifier") | {"q": "quasi", name: role},
            models=[{"name": "k-anonymity", "k": 2}],
            missing_values=["", "-99", "True", "0.25", "1970-03-01", "7", "y"],
            seed=1,
        )
        out = tmp_path / f"memory-{name}.parquet"
        expected = in_memory(tmp_path / "typed.parquet", asked, out)
        release = shoal.anonymize(tmp_path / "typed.parquet", asked.changed(engine="spark"))
        release.save(tmp_path / f"spark-{name}.parquet")
        assert numbers(release) == expected
        assert rows(tmp_path / f"spark-{name}.parquet") == rows(out)
        assert read(tmp_path / f"spark-{name}.parquet").native.schema == read(out).native.schema


# Faults that need no cluster


def small(**change: Any) -> Plan:
    asked: dict = {"columns": {"age": "quasi", "note": "other"}, "engine": "spark",
                   "models": [{"name": "k-anonymity", "k": 2}]}  # fmt: skip
    return Plan(**asked | change)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("age,note\n1,a\n1,b\n")
    return path


def test_not_installed(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in sys.modules if one.split(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(BadPlan, match=r"pip install 'shoal\[spark\]'"):
        shoal.anonymize(source, small())


@pytest.mark.parametrize(("change", "said"), [
    ({"columns": {"age": "quasi", "note": "person"}}, "person column"),
    ({"algorithm": "auto"}, "auto"),
    ({"models": [{"name": "k-concealment", "k": 2}], "algorithm": "concealment"}, "k-concealment"),
    ({"keep_order": True}, "keep_order"),
])  # fmt: skip
def test_not_supported(change: dict, said: str, source: Path) -> None:
    with pytest.raises(BadPlan, match=f"does not support .*{said}.*engine = 'memory'"):
        shoal.anonymize(source, small(**change))


def test_a_frame_in_memory() -> None:
    table = pa.table({"age": [1, 1], "note": ["a", "b"]})
    with pytest.raises(BadPlan, match="in memory already"):
        shoal.anonymize(table, small())
    with pytest.raises(BadPlan, match="engine = 'duckdb'; remove it"):
        shoal.spark.anonymize(table, small(engine="duckdb"))
