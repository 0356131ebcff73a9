"""What goes wrong with large tables: the message says what to do, and nothing is left behind."""

from __future__ import annotations

import re
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import BadFile, BadPlan, BadTable, Plan
from shoal.algorithms._shared.parts import cuts
from shoal.engines import writing
from shoal.engines.duckdb import Database
from shoal.engines.resources import Resources
from shoal.engines.source import Source
from shoal.io.atomic import private_folder
from shoal.io.frames import Frame, open_frame, write
from shoal.io.memory import shown


def plan(**change: object) -> Plan:
    asked: dict = {
        "columns": {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi",
                    "note": "other"},
        "models": [{"name": "k-anonymity", "k": 2}],
        "engine": "duckdb",
    }  # fmt: skip
    return Plan(**asked | change)


def table(rows: int = 200) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(20, 40, rows),
            "sex": rng.choice(["f", "m"], rows),
            "note": [f"note {i}" for i in range(rows)],
        }
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    pq.write_table(table(), path)
    return path


def nothing_left(folder: Path) -> bool:
    return not list(folder.glob(".shoal-*"))


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
        database.group(given, ["a", "b"])
    said = re.search(r"of 2 columns and 1 thread need ([0-9]+) MB: set it", str(error.value))
    assert said is not None
    enough = replace(low, memory=int(said[1]) * 10**6)
    assert low.memory < enough.memory
    with Database.opened(enough, given) as database:
        assert database.group(given, ["a", "b"]).height == rows
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
            f"{database._rows(given, ['a', 'b'])} GROUP BY c0, c1"
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


# Folders


def written(folder: Path, **files: pa.Table) -> Path:
    folder.mkdir()
    for name, rows in files.items():
        pq.write_table(rows, folder / f"{name}.parquet")
    return folder


@pytest.mark.parametrize(("change", "said"), [
    (lambda t: t.drop_columns(["note"]), "a.parquet and b.parquet.*differ in the columns 'note'"),
    (lambda t: t.select(["sex", "age", "note"]), "columns in another order"),
    (lambda t: t.set_column(0, "age", t["age"].cast(pa.string())),
     "different types of the column 'age': int64 and string"),
])  # fmt: skip
def test_files_of_a_folder_differ(change: object, said: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "in", a=table(), b=change(table()))  # type: ignore[operator]
    with pytest.raises(BadTable, match=said):
        shoal.anonymize(folder, plan())


def test_a_file_of_a_folder_without_a_header_line(tmp_path: Path) -> None:
    """Its first record, which counts as its column names, is not shown."""
    (tmp_path / "a.csv").write_text("age,sex,note\n30,f,x\n31,f,y\n")
    (tmp_path / "b.csv").write_text("44,m,MARKER\n45,m,z\n")
    with pytest.raises(BadTable, match=r"no column in common.*a line of their names") as error:
        shoal.anonymize(tmp_path, plan())
    assert "MARKER" not in str(error.value)


def test_text_in_one_file_and_numbers_in_the_next(tmp_path: Path) -> None:
    """Text files have no types: 17 and "17" are the same text, and codes stay codes."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.csv").write_text("zip,sex\n01,f\n01,f\n")
    (folder / "b.csv").write_text('zip,sex\n"01",f\n1,m\n1,m\n')
    asked = Plan(columns={"zip": "quasi", "sex": "quasi"}, seed=1,
                 models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    release = shoal.anonymize(folder, asked)
    release.save(tmp_path / "out.csv")
    assert sorted((tmp_path / "out.csv").read_text().split()) == [
        "01,f", "01,f", "01,f", "1,m", "1,m", "zip,sex",
    ]  # fmt: skip


@pytest.mark.parametrize(("names", "said"), [
    ([], "no files"),
    (["a.csv", "b.parquet"], "different formats"),
    (["a.docx"], "cannot tell the format"),
])  # fmt: skip
def test_folders_that_are_no_table(names: list[str], said: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in names:
        (folder / name).write_text("age\n1\n")
    with pytest.raises(BadFile, match=said):
        shoal.anonymize(folder, plan())


def test_memory_does_not_read_folders(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="engine = 'duckdb' reads a folder"):
        shoal.anonymize(tmp_path, plan(engine="memory"))


# Files


def test_a_type_that_duckdb_changes(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    rows = table()
    pq.write_table(rows.set_column(2, "note", pa.array([[1, 2]] * len(rows))), path)
    with pytest.raises(BadTable, match=r"'note' is of type list.*engine = 'memory'"):
        shoal.anonymize(path, plan())


def test_an_identifier_may_be_of_any_type(tmp_path: Path) -> None:
    """It is not read at all."""
    path = tmp_path / "people.parquet"
    rows = table()
    pq.write_table(rows.set_column(2, "note", pa.array([[1, 2]] * len(rows))), path)
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi",
               "note": "identifier"}  # fmt: skip
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


def test_a_file_that_changes_between_reading_and_writing(source: Path) -> None:
    release = shoal.anonymize(source, plan())
    pq.write_table(table().slice(1), source)
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(source.with_name("out.parquet"))
    assert not source.with_name("out.parquet").exists()
    assert nothing_left(source.parent)


def test_another_column_that_changes_between_reading_and_writing(tmp_path: Path) -> None:
    """Counting groups does not notice it, as the column is no part of them."""
    path = tmp_path / "people.csv"
    path.write_text("age,sex,note\n" + "30,f,aaa\n31,f,bbb\n" * 4)
    release = shoal.anonymize(path, plan())
    path.write_text(path.read_text().replace("bbb", "ccc", 1))
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_file_that_is_added_to_the_folder(tmp_path: Path) -> None:
    release = shoal.anonymize(written(tmp_path / "in", a=table()), plan())
    pq.write_table(table(), tmp_path / "in" / "b.parquet")
    with pytest.raises(BadFile, match="was changed while it was read"):
        release.save(tmp_path / "out.parquet")


def test_a_release_does_not_replace_the_original(tmp_path: Path) -> None:
    folder = written(tmp_path / "in", a=table(), b=table())
    before = {file: file.read_bytes() for file in folder.iterdir()}
    for target in (folder / "a.parquet", folder / "new.parquet"):
        with pytest.raises(BadFile, match="the original table is read from there"):
            shoal.anonymize(folder, plan()).save(target)
    with pytest.raises(BadFile, match="the original table is read from there"):
        shoal.anonymize(folder / "a.parquet", plan()).save(folder / "a.parquet")
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


# What is written


@pytest.mark.parametrize("name", ["id", "r", "own id", "number", "k", "n"])
def test_names_that_the_engine_uses_too(name: str, tmp_path: Path) -> None:
    rows = table().rename_columns(["age", "sex", name])
    pq.write_table(rows, tmp_path / "people.parquet")
    columns = {"age": {"role": "quasi", "hierarchy": {"ranges": [10]}}, "sex": "quasi"}
    asked = plan(columns={**columns, name: "other"})
    shoal.anonymize(tmp_path / "people.parquet", asked).save(tmp_path / "out.parquet")
    assert sorted(pq.read_table(tmp_path / "out.parquet")[name].to_pylist()) == sorted(
        rows[name].to_pylist()
    )


def test_duckdb_gets_the_memory_that_the_combinations_leave(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Original and published values stay in memory while DuckDB joins them with the rows."""
    given = []
    opened = Database.opened

    def noted(resources: Resources, *rest: object) -> object:
        given.append(resources.memory)
        return opened(resources, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Database, "opened", staticmethod(noted))
    monkeypatch.setattr(writing, "WHILE_WRITING", 10**7)
    release = shoal.anonymize(source, plan(memory="1GB"))
    del given[:]
    release.save(source.with_name("out.parquet"))
    assert given == [600_000_000]  # 40 combinations
    monkeypatch.setattr(writing, "WHILE_WRITING", 10**9)
    release.save(source.with_name("out.parquet"))
    assert given[1:] == [128_000_000]  # with less, DuckDB cannot join


def test_a_violated_requirement_is_found_in_the_file(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The requirements are verified on the groups of the file, and on nothing else."""
    release = shoal.anonymize(source, plan())
    grouped = writing.Database.group

    def too_small(self: Database, file: Source, columns: list[str]) -> object:
        found = grouped(self, file, columns)
        weight = found.counted.weight.copy()
        weight[0] = 1  # a class of one record
        return Frame(found.native, found.counted._replace(weight=weight))

    monkeypatch.setattr(Database, "group", too_small)
    with pytest.raises(shoal.NotHeld, match=r"k-anonymity requires .*2, the table reaches 1"):
        release.save(source.with_name("out.parquet"))
    assert not source.with_name("out.parquet").exists()


@pytest.mark.parametrize(("name", "cell"), [
    ("note", None), ("sex", None), ("sex", "x"), ("sex", "other"),
])  # fmt: skip
def test_other_rows_in_the_file_are_found(
    name: str, cell: str | None, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In columns that are published row by row, and in those whose values are coded."""
    release = shoal.anonymize(source, plan())
    honest = writing.Rows._tables
    calls = []

    def one_row_differs(self: writing.Rows, shuffled: object) -> object:
        calls.append(1)
        for part in honest(self, shuffled):  # type: ignore[arg-type]
            if len(calls) == 1:  # what is written, but not what is expected
                cells = part[name].to_pylist()
                cells[0] = cell if cell != "other" else {"f": "m", "m": "f"}[cells[0]]
                part = part.set_column(part.schema.get_field_index(name), name, pa.array(cells))
            yield part

    monkeypatch.setattr(writing.Rows, "_tables", one_row_differs)
    with pytest.raises(shoal.ShoalError, match="does not contain the rows of the release"):
        release.save(source.with_name("out.parquet"))
    assert not source.with_name("out.parquet").exists()


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
