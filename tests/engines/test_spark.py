"""The law of engines on a Spark cluster of two workers: the release is the one of memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
import shoal.spark
from shoal import BadFile, BadPlan, BadTable, Plan
from shoal.algorithms._shared.parts.part_task import PartFound, PartRows
from shoal.engines import spark_rows, spark_table
from shoal.engines.spark import explained
from shoal.engines.spark_tasks import RecodePart, WriteFile
from shoal.io.frames import open_frame, read, write
from tests.flow.test_at_scale import ANALYSES, numbers, plan, rounded, rows, split, typed
from tests.flow.test_at_scale import people as odd_people
from tests.spark_cluster import ROOT, lacking

IMPORTS = [ROOT / "src", ROOT]


def lines(path: Path) -> list[bytes]:
    return sorted(path.read_bytes().splitlines())


def in_memory(table: Any, asked: Plan, out: Path) -> dict:
    """Save the release that memory makes; returns its numbers."""
    release = shoal.anonymize(table, asked.changed(engine="memory"))
    release.save(out)
    return numbers(release)


@pytest.mark.spark
def test_a_dataframe_gives_the_release_of_memory(spark: Any, tmp_path: Path) -> None:
    """Byte for byte: sorted rows, all numbers, and the same file however the rows are divided."""
    table, asked = odd_people(3), plan()
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


@pytest.mark.spark
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_folder_gives_the_release_of_memory(
    ending: str, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, asked = odd_people(4), plan()
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


@pytest.mark.spark
def test_a_lost_executor_loses_no_row(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, asked = odd_people(5, 3_000), plan()
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


@pytest.mark.spark
def test_parts_are_recoded_on_the_executors(spark: Any, tmp_path: Path) -> None:
    """With the same cuts and random numbers as in memory, so that the release is the same."""
    table, asked = odd_people(6, 4_000), plan(parts=3)
    expected = in_memory(table, asked, tmp_path / "memory.csv")
    assert expected["parts"] == 3
    sent: list[str] = []
    release = shoal.spark.anonymize(
        spark.createDataFrame(table), asked, progress=lambda stage, share: sent.append(stage)
    )
    release.save(tmp_path / "spark.csv")
    assert "recoding parts" in sent
    assert numbers(release) == expected
    assert lines(tmp_path / "spark.csv") == lines(tmp_path / "memory.csv")


@pytest.mark.spark
def test_an_executor_lost_with_a_part_and_a_join_of_too_many_combinations_for_each(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part is recoded again elsewhere; rows and combinations are shuffled to be joined."""
    table, asked = odd_people(6, 4_000), plan(parts=3)
    expected = in_memory(table, asked, tmp_path / "memory.csv")
    marker, plans = tmp_path / "killed while recoding", []

    class KillWithPart(RecodePart):
        def __call__(self, part: PartRows) -> PartFound:
            found = super().__call__(part)
            kill_once(marker)  # nobody has got what was found
            return found

    joined = spark_rows.SparkRows.joined

    def watched(*args: Any) -> Any:
        found = joined(*args)
        plans.append(found._jdf.queryExecution().toString())
        return found

    monkeypatch.setattr(spark_table, "RecodePart", KillWithPart)
    monkeypatch.setattr(spark_rows, "BROADCAST", -1)
    monkeypatch.setattr(spark_rows.SparkRows, "joined", watched)
    settings = ["spark.sql.autoBroadcastJoinThreshold",
                "spark.sql.adaptive.autoBroadcastJoinThreshold"]  # fmt: skip
    for name in settings:
        spark.conf.set(name, "-1")
    try:
        release = shoal.spark.anonymize(spark.createDataFrame(table), asked)
        release.save(tmp_path / "spark.csv")
    finally:
        for name in settings:
            spark.conf.unset(name)
    assert marker.exists()
    assert plans
    assert all("SortMergeJoin" in one and "Broadcast" not in one for one in plans)
    assert numbers(release) == expected
    assert lines(tmp_path / "spark.csv") == lines(tmp_path / "memory.csv")


@pytest.mark.spark
def test_an_audit_finds_the_numbers_of_memory(spark: Any, tmp_path: Path) -> None:
    table, asked = odd_people(7), plan()
    release = shoal.anonymize(table, asked)
    release.save(tmp_path / "release.parquet")
    pq.write_table(table, tmp_path / "people.parquet")
    cases = [
        (table, spark.createDataFrame(table), None, None),
        (tmp_path / "release.parquet", tmp_path / "release.parquet",
         tmp_path / "people.parquet", tmp_path / "people.parquet"),
    ]  # fmt: skip
    for one, other, original, its_original in cases:
        memory = shoal.audit(one, asked, original=original).as_dict()
        found = shoal.spark.audit(other, asked, original=its_original)
        counted = found.as_dict()
        # What is counted cannot be matched with its original, record by record.
        alone = shoal.audit(one, asked).as_dict()["attacks"]["dependency"]
        memory["attacks"]["dependency"] = alone
        for each in (memory, counted):  # analyses of other columns need their rows
            for key in ANALYSES:
                each.get("utility", {}).pop(key, None)
        assert rounded(counted) == rounded(memory)
        with pytest.raises(shoal.BadTable, match="not in memory"):
            found.record_risks()


@pytest.mark.spark
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


@pytest.mark.spark
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


@pytest.mark.spark
def test_words_for_missing_are_those_of_each_column(spark: Any, tmp_path: Path) -> None:
    table = pa.table({
        "age": ["31", "38", "N", "N", "99", "99", "?", None, None, "?"] * 3,
        "sex": ["f", "N", "u", "f", "f"] * 6,
        "note": ["f", "u", "N", "?", "x"] * 6,
    })  # fmt: skip
    pq.write_table(table, tmp_path / "people.parquet")
    ages = {"role": "quasi", "hierarchy": {"ranges": [10]}, "missing_values": ["N", "99", "?"]}
    note = {"role": "other", "missing_values": ["f", "?"]}
    asked = Plan(
        columns={"age": ages, "sex": "quasi", "note": note},
        models=[{"name": "k-anonymity", "k": 2}],
        missing_values=["", "u"],
        seed=1,
    )
    expected = in_memory(tmp_path / "people.parquet", asked, tmp_path / "memory.parquet")
    release = shoal.anonymize(tmp_path / "people.parquet", asked.changed(engine="spark"))
    release.save(tmp_path / "spark.parquet")
    assert numbers(release) == expected
    assert rows(tmp_path / "spark.parquet") == rows(tmp_path / "memory.parquet")


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


def test_an_audit_does_not_take_records_for_people(source: Path) -> None:
    """Spark does not count people: an audit that ignored the person column would be wrong."""
    for publish in (True, False):
        person = {"role": "person", "publish": publish}
        asked = small(columns={"age": "quasi", "note": person}, engine="auto")
        with pytest.raises(BadPlan, match=r"does not support a person column.*engine = 'memory'"):
            shoal.spark.audit(source, asked)


def test_a_frame_in_memory() -> None:
    table = pa.table({"age": [1, 1], "note": ["a", "b"]})
    with pytest.raises(BadPlan, match="in memory already"):
        shoal.anonymize(table, small())
    with pytest.raises(BadPlan, match="engine = 'duckdb'; remove it"):
        shoal.spark.anonymize(table, small(engine="duckdb"))


@pytest.mark.parametrize(("texts", "said"), [
    (["age,note\n1,a\n", "age,sex\n1,f\n"], "a.csv and b.csv.*differ in the columns"),
    (["age,note\n1,a\n", "note,age\na,1\n"], "columns in another order"),
])  # fmt: skip
def test_text_files_of_a_folder_differ(texts: list[str], said: str, tmp_path: Path) -> None:
    for name, text in zip("ab", texts, strict=True):
        (tmp_path / f"{name}.csv").write_text(text)
    with pytest.raises(BadTable, match=said):
        shoal.anonymize(tmp_path, small())


def test_a_column_is_text_in_one_file_and_a_number_in_the_next(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 1], "note": ["a", "b"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"age": ["1", "1"], "note": ["a", "b"]}), tmp_path / "b.parquet")
    with pytest.raises(BadTable, match="different types of the column 'age': int64 and string"):
        shoal.anonymize(tmp_path, small())


def test_pyspark_can_import_pandas_in_a_command() -> None:
    """Other commands do without pandas, which takes long to import."""
    pytest.importorskip("pyspark")
    code = (
        "from shoal.base import own_process; own_process.claim()\n"
        "from shoal.engines.spark import load; load()\n"
        "import pandas"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, IMPORTS))}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)


def test_no_java(source: Path) -> None:
    """In a process of its own, as others may have a session already."""
    pytest.importorskip("pyspark")
    code = (
        "import sys, shoal; from shoal import Plan\n"
        "plan = Plan(columns={'age': 'quasi', 'note': 'other'}, engine='spark',"
        " models=[{'name': 'k-anonymity', 'k': 2}])\n"
        "try: shoal.anonymize(sys.argv[1], plan)\n"
        "except shoal.BadPlan as error: print(error)\n"
    )
    env = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    env |= {"PATH": str(source.parent), "PYTHONPATH": os.pathsep.join(map(str, IMPORTS))}
    done = subprocess.run(
        [sys.executable, "-c", code, source], env=env, capture_output=True, text=True
    )
    assert "needs Java 17 or later" in done.stdout, done.stderr


@pytest.mark.parametrize(("error", "kind", "said"), [
    ("java.io.IOException: No space left on device", BadFile, "spark.local.dir"),
    ("ExecutorLostFailure (executor 3 exited)", BadPlan, "spark.executor.memory"),
    ("Total size … bigger than spark.driver.maxResultSize", BadPlan, "maxResultSize"),
    ("ModuleNotFoundError: No module named 'shoal'", BadPlan, "cannot import shoal"),
    ("ModuleNotFoundError: No module named 'numba'", BadPlan, "lacks numba"),
    ("Traceback\nshoal.base.errors.BadTable: row 3\n at java", BadTable, "^row 3$"),
    ("the name of a person", shoal.ShoalError, r"Spark failed \(RuntimeError\)"),
])  # fmt: skip
def test_errors_of_spark_say_what_to_do(error: str, kind: type, said: str) -> None:
    """They never contain what Spark said: it may name a person."""
    found = explained(RuntimeError(error))
    assert type(found) is kind
    with pytest.raises(kind, match=said):
        raise found
    assert "person" not in str(found)


# Faults on the cluster


@pytest.mark.spark
def test_too_little_memory_for_the_combinations(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.engines.resources.memory_for", lambda units, parts: units * 10**9)
    table = pa.table({"age": [1, 1, 2, 2], "note": list("abcd")})
    with pytest.raises(BadPlan, match=r"2 distinct .* about 2\.0 GB .* limit is 500 MB"):
        shoal.spark.anonymize(spark.createDataFrame(table), small(memory="500MB"))


@pytest.mark.spark
def test_bad_text_is_reported_as_by_memory(spark: Any, tmp_path: Path) -> None:
    """The error of a task on an executor, which read the file."""
    path = tmp_path / "people.csv"
    path.write_text("age,note\n1,a\n1\n")
    said = []
    for engine in ("memory", "spark"):
        with pytest.raises(BadTable) as error:
            shoal.anonymize(path, small(engine=engine))
        said.append(str(error.value))
    assert said[0] == said[1]


@pytest.mark.spark
def test_a_release_does_not_replace_a_file_that_a_dataframe_reads(
    spark: Any, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"age": [1, 1, 2, 2], "note": list("abcd")}), tmp_path / "a b.parquet")
    before = (tmp_path / "a b.parquet").read_bytes()
    release = shoal.spark.anonymize(spark.read.parquet(str(tmp_path)), small())
    with pytest.raises(BadFile, match="the original table is read from there"):
        release.save(tmp_path / "a b.parquet")
    assert (tmp_path / "a b.parquet").read_bytes() == before


@pytest.mark.spark
def test_files_that_change_between_reading_and_writing(spark: Any, tmp_path: Path) -> None:
    """Also in a column that is no part of the groups, or by another file in the folder."""
    folder = tmp_path / "in"
    folder.mkdir()
    first, second = folder / "a.csv", folder / "b.csv"
    first.write_text("age,note\n" + "1,aaa\n2,bbb\n" * 4)
    release = shoal.anonymize(folder, small())
    first.write_text(first.read_text().replace("bbb", "ccc", 1))
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(tmp_path / "out.csv")
    release = shoal.anonymize(folder, small())
    second.write_text(first.read_text())
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == ["in"]


@pytest.mark.spark
def test_a_table_by_its_name(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In Spark's catalog; a file of the same name comes first."""
    monkeypatch.chdir(tmp_path)
    table = pa.table({"age": [1, 1, 2, 2], "note": list("abcd")})
    spark.createDataFrame(table).createOrReplaceTempView("people_of_spark")
    assert shoal.anonymize("people_of_spark", small()).rows == 4
    with pytest.raises(BadFile, match="no such file"):
        shoal.anonymize("no_such_table.csv", small())
    (tmp_path / "people_of_spark").mkdir()
    (tmp_path / "people_of_spark" / "a.csv").write_text("age,note\n1,a\n1,b\n")
    assert shoal.anonymize("people_of_spark", small()).rows == 2


@pytest.mark.spark
def test_types_that_are_not_supported(spark: Any) -> None:
    frame = spark.createDataFrame(pa.table({"age": [1, 1], "note": [[1], [2]]}))
    with pytest.raises(BadTable, match=r"'note' is of type .*engine = 'spark' does not support"):
        shoal.spark.anonymize(frame, small())


@pytest.mark.spark
def test_the_command_line(people: Path, tmp_path: Path) -> None:
    """In a process of its own, with a session by the settings of Spark."""
    if (reason := lacking()) is not None:
        pytest.skip(reason)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, IMPORTS))}

    def shoal_command(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "shoal", *words]
        return subprocess.run(command, cwd=people, env=env, capture_output=True, text=True)

    both = "--plan", "plan.toml"
    done = shoal_command("anonymize", "people.csv", *both, "--out", "published", "--engine",
                         "spark", "--seed", "1", "--json", "-")  # fmt: skip
    assert done.returncode == 0, done.stderr
    numbers = json.loads(done.stdout)
    assert numbers["engine"] == "spark"
    assert [one.name for one in (people / "published").iterdir()] == ["part-00000.csv"]
    audited = shoal_command("audit", "published", *both, "--engine", "spark", "--json", "-")
    assert audited.returncode == 0, audited.stderr
    assert json.loads(audited.stdout)["checks"] == numbers["checks"]
    again = shoal_command("anonymize", "people.csv", *both, "--out", "published", "--engine",
                          "spark")  # fmt: skip
    assert again.returncode == 2
    assert "the folder exists" in again.stderr


@pytest.mark.spark
def test_an_interrupt_cancels_the_jobs_and_leaves_nothing(tmp_path: Path) -> None:
    if (reason := lacking()) is not None:
        pytest.skip(reason)
    rows = 3_000_000
    rng = np.random.default_rng(1)
    pq.write_table(
        pa.table({"age": rng.integers(0, 10**6, rows), "sex": rng.integers(0, 10**6, rows)}),
        tmp_path / "people.parquet",
    )
    (tmp_path / "plan.toml").write_text(
        '[columns]\nage = "quasi"\nsex = "quasi"\n[[models]]\nname = "k-anonymity"\nk = 2\n'
    )
    words = [sys.executable, "-m", "shoal", "anonymize", "people.parquet", "--plan", "plan.toml",
             "--out", "published", "--engine", "spark", "--memory-limit", "1TB"]  # fmt: skip
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, IMPORTS))}
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=env) as run:
        assert run.stderr is not None
        said = ""
        while "counting equal records" not in said:
            line = run.stderr.readline()
            assert line, said
            said += line
        run.send_signal(signal.SIGINT)
        _, more = run.communicate(timeout=300)
    assert run.returncode == 130
    assert "interrupted; nothing was written" in more
    assert sorted(one.name for one in tmp_path.iterdir()) == ["people.parquet", "plan.toml"]
