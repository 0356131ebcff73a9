"""The law of engines: row order, number of files, threads and engine do not change a release."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import Plan
from shoal.engines import duckdb_people
from shoal.engines.resources import Resources
from shoal.io.frames import open_frame, read, write
from shoal.io.native.packed_texts import is_packed
from tests.strategies import first_of

OWN = ("seconds", "made", "engine", "original_sha256")  # what differs between two runs
ODD = ["a", 'say "hi"', "x,y;z", "two\nlines", "Zürich", "", None, "NA", "0.0", " a"]


def people(seed: int, rows: int = 400) -> pa.Table:
    """Odd names and values, missing values of all kinds, spellings that count as one."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(20, 60, rows).astype(object)
    ages[rng.random(rows) < 0.05] = None
    return pa.table(
        {
            "who": [f"MARKER{i}" for i in range(rows)],
            "Age": pa.array(ages.tolist(), pa.int64()),
            "age": rng.choice(["young", "old", None, ""], rows),
            'o"dd; näme': rng.choice(["x", "y, z", 'q"q'], rows),
            "disease": rng.choice(["flu", "Flu ", "cold", "gout", "NA", None], rows),
            "note": pa.array([ODD[i] for i in rng.integers(0, len(ODD), rows)], pa.string()),
            "visits": pa.array(rng.integers(0, 300, rows)),
        }
    )


def plan(**change: object) -> Plan:
    columns = {
        "who": "identifier",
        "Age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
        "age": "quasi",
        'o"dd; näme': "quasi",
        "disease": "sensitive",
        "note": "other",
        "visits": "other",
    }
    asked: dict = {
        "columns": columns,
        "models": [
            {"name": "k-anonymity", "k": 4},
            {"name": "distinct-l-diversity", "column": "disease", "l": 2},
        ],
        "missing_values": ["", "NA"],
        "seed": 5,
    }
    return Plan(**asked | change)


ANALYSES = ("numbers", "associations", "correlations")  # those of other columns need their rows


def numbers(release: shoal.Release) -> dict:
    """All numbers that both engines measure."""
    found = json.loads(json.dumps(release.as_dict()))
    found["utility"] = {k: v for k, v in found["utility"].items() if k not in ANALYSES}
    return {key: rounded(value) for key, value in found.items() if key not in OWN}


def rounded(value: object) -> object:
    """Sums of floats differ in their last digits with the order of what is summed."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.11g}") if isinstance(value, float) else value


def rows(path: Path) -> list[tuple]:
    table = read(path).native
    cells = [table[name].cast(pa.string()).to_pylist() for name in table.column_names]
    return sorted(zip(*cells, strict=True), key=str)


def both(path: Path, asked: Plan, tmp_path: Path, ending: str) -> tuple[Path, Path]:
    """A release by each engine; their numbers must be equal."""
    found, written = [], []
    for engine in ("memory", "duckdb"):
        release = shoal.anonymize(path, asked.changed(engine=engine))
        assert release.as_dict()["engine"] == engine
        out = tmp_path / f"{engine}{ending}"
        release.save(out)
        found.append(release)
        written.append(out)
    assert numbers(found[0]) == numbers(found[1])
    assert [one.rows for one in found[0].reasons()] == [one.rows for one in found[1].reasons()]
    assert found[0].recoding.vectors == found[1].recoding.vectors
    assert found[0].recoding.order == found[1].recoding.order
    return written[0], written[1]


@pytest.mark.parametrize("seed", first_of(4))
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".tsv.gz"])
def test_engines_make_the_same_release(seed: int, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{ending}"
    write(open_frame(people(seed)), path)
    memory, duckdb = both(path, plan(), tmp_path, ending)
    assert rows(memory) == rows(duckdb)
    assert read(memory).native.schema == read(duckdb).native.schema
    assert not list(tmp_path.glob(".shoal-*"))


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian",
                                       {"name": "full-domain", "suppression": 0.2}])  # fmt: skip
@pytest.mark.parametrize("missing", ["value", "root"])
def test_the_same_by_every_algorithm(algorithm: object, missing: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    write(open_frame(people(9)), path)
    models = [{"name": "k-anonymity", "k": 5}, {"name": "average-risk", "r": 0.15}]
    asked = plan(algorithm=algorithm, missing=missing, models=models)
    memory, duckdb = both(path, asked, tmp_path, ".csv")
    assert sorted(memory.read_bytes().splitlines()) == sorted(duckdb.read_bytes().splitlines())


def patients(seed: int, people: int = 150) -> pa.Table:
    """People with one to four records each, odd spellings of their names, and some without."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.choice([1, 2, 4], people, p=[0.6, 0.3, 0.1]))
    rng.shuffle(who)
    rows = len(who)
    spelled = [
        rng.choice(["", "NA", "MARKER"]) if one % 29 == 7 else f"{one}{rng.choice(['', '.0', ' '])}"
        for one in who
    ]
    return pa.table(
        {
            "note": pa.array([ODD[i] for i in rng.integers(0, len(ODD), rows)], pa.string()),
            "Who": pa.array(spelled),
            "age": rng.integers(30, 34, rows),
            "who": rng.choice(["f", "m", None], rows),
            "disease": rng.choice(["flu", "Flu ", "gout", "cold", None], rows),
            "visits": rng.integers(0, 40, rows),
        }
    )


def of_people(**change: object) -> Plan:
    columns = {
        "Who": "person",
        "age": {"role": "quasi", "hierarchy": {"ranges": [2, 4]}},
        "who": "quasi",
        "disease": "sensitive",
        "note": "other",
        "visits": "other",
    }
    return plan(**{"columns": columns} | change)


def by_person(path: Path) -> list:
    """The records of each person, without the number."""
    table = read(path).native
    cells = {name: table[name].cast(pa.string()).to_pylist() for name in table.column_names}
    found: dict = {}
    for who, *row in zip(cells.pop("Who"), *cells.values(), strict=True):
        found.setdefault(int(who), []).append(str(row))
    assert min(found) >= 0
    return sorted(sorted(rows) for rows in found.values())


@pytest.mark.parametrize("seed", first_of(3))
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_the_same_with_people(seed: int, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"patients{ending}"
    write(open_frame(patients(seed)), path)
    memory, duckdb = both(path, of_people(), tmp_path, ending)
    assert by_person(memory) == by_person(duckdb)
    assert read(memory).native.schema == read(duckdb).native.schema
    assert not list(tmp_path.glob(".shoal-*"))
    audits = [shoal.audit(one, of_people(), original=path).as_dict() for one in (memory, duckdb)]
    assert rounded(audits[0]) == rounded(audits[1])


PEOPLE_MODELS = [
    [{"name": "ir-k-anonymity", "k": 4},
     {"name": "eir-l-diversity", "column": "disease", "l": 2},
     {"name": "ir-alpha-beta-anonymity", "column": "disease", "alpha": 0.3, "beta": 0.9}],
    [{"name": "k-anonymity", "k": 3}, {"name": "average-risk", "r": 0.15}],
]  # fmt: skip


@pytest.mark.parametrize("algorithm", ["peel", "gaa", "mondrian",
                                       {"name": "full-domain", "suppression": 0.2}])  # fmt: skip
@pytest.mark.parametrize("models", PEOPLE_MODELS, ids=["people", "table"])
def test_the_same_with_people_by_every_algorithm(
    algorithm: object, models: list[dict], tmp_path: Path
) -> None:
    path = tmp_path / "patients.csv"
    write(open_frame(patients(9)), path)
    asked = of_people(algorithm=algorithm, models=models)
    memory, duckdb = both(path, asked, tmp_path, ".csv")
    assert by_person(memory) == by_person(duckdb)


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint8(), pa.large_string(), pa.date32(),
                                  pa.dictionary(pa.int32(), pa.string()), pa.bool_()])  # fmt: skip
def test_persons_of_every_type(kind: pa.DataType, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    cells = pa.array(rng.integers(0, 100, 150).astype(np.int32), mask=rng.random(150) < 0.1)
    if pa.types.is_boolean(kind):
        cells = pc.greater(cells, 50)
    elif pa.types.is_dictionary(kind):
        cells = cells.cast(pa.string()).dictionary_encode()
    table = patients(2).slice(0, 150).set_column(1, "Who", cells.cast(kind))
    path = tmp_path / "patients.parquet"
    pq.write_table(table, path)
    asked = of_people(
        models=[{"name": "k-anonymity", "k": 2}],
        missing_values=["", "NA", "1970-01-10", "True", "7", "8"],
    )
    memory, duckdb = both(path, asked, tmp_path, ".parquet")
    assert {7, 8}.isdisjoint(read(duckdb).native["Who"].to_pylist())
    assert by_person(memory) == by_person(duckdb)


def test_persons_that_duckdb_does_not_support(tmp_path: Path) -> None:
    path = tmp_path / "patients.parquet"
    table = patients(2)
    pq.write_table(table.set_column(1, "Who", pa.array(np.arange(table.num_rows) / 2)), path)
    with pytest.raises(shoal.BadTable, match="person column 'Who' is of type double"):
        shoal.anonymize(path, of_people(engine="duckdb"))
    hidden = of_people().columns | {"Who": {"role": "person", "publish": False}}
    with pytest.raises(shoal.BadPlan, match=r"not published \('Who', publish = false\)"):
        shoal.anonymize(path, of_people(engine="duckdb", columns=hidden))


def test_numbers_of_people_are_random_and_follow_the_seed(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    write(open_frame(patients(3)), path)

    def saved(seed: int | None) -> bytes:
        release = shoal.anonymize(path, of_people(engine="duckdb", seed=seed))
        release.save(tmp_path / "out.csv")
        assert b"MARKER" not in (tmp_path / "out.csv").read_bytes()
        return (tmp_path / "out.csv").read_bytes()

    assert saved(5) == saved(5)
    assert len({saved(5), saved(6), saved(None), saved(None)}) == 4


def test_people_with_different_records_and_the_same_hash_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "patients.csv"
    write(open_frame(patients(3)), path)
    monkeypatch.setattr(duckdb_people, "HASH", "0")
    with pytest.raises(shoal.ShoalError, match="nothing is released"):
        shoal.anonymize(path, of_people(engine="duckdb"))


def test_a_source_with_other_people_is_noticed(tmp_path: Path) -> None:
    """The rows are the same, but one of them is of another person."""
    path = tmp_path / "patients.csv"
    write(open_frame(patients(3)), path)
    release = shoal.anonymize(path, of_people(engine="duckdb"))
    who = patients(3)["Who"].to_pylist()
    changed = patients(3).set_column(1, "Who", pa.array(["new", *who[1:]]))
    assert who.count(who[0]) > 1
    write(open_frame(changed), path)
    with pytest.raises(shoal.BadFile, match="was changed while it was read"):
        release.save(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def typed(seed: int) -> pa.Table:
    """One column of every type that DuckDB serves."""
    rng = np.random.default_rng(seed)
    n = 300
    floats = rng.choice([0.0, -0.0, 1.5, float("nan"), 1e300, -99.0], n)
    days = pa.array(rng.integers(0, 400, n).astype(np.int32)).cast(pa.date32())
    return pa.table(
        {
            "q": pa.array(rng.integers(0, 4, n).astype(np.uint8)),
            "real": pa.array(floats, mask=rng.random(n) < 0.1),
            "single": pa.array(rng.choice([0.1, 0.25, -0.0], n).astype(np.float32)),
            "yes": pa.array(rng.random(n) < 0.5),
            "day": days,
            "time": pa.array(rng.integers(0, 10**9, n)).cast(pa.timestamp("ms")),
            "fine": pa.array(rng.integers(0, 50, n) * 1001).cast(pa.timestamp("ns")),
            "kind": pa.array(rng.choice(["a", "b", None], n)).dictionary_encode(),
            "money": pa.array(rng.integers(0, 30, n)).cast(pa.decimal128(22, 2)),
            "long": pa.array(rng.choice(["x", "y"], n), pa.large_string()),
            "small": pa.array(rng.integers(-5, 5, n).astype(np.int8)),
        }
    )


@pytest.mark.parametrize("role", ["other", "sensitive", "quasi"])
@pytest.mark.parametrize("name", typed(0).column_names[1:])
def test_types_stay_as_they_are(role: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "typed.parquet"
    pq.write_table(typed(1).select(["q", name]), path)
    asked = Plan(
        columns={"q": "quasi", name: role},
        models=[{"name": "k-anonymity", "k": 2}],
        missing_values=["", "-99", "True", "0.25", "1970-03-01", "7", "y"],
        seed=1,
    )
    memory, duckdb = both(path, asked, tmp_path, ".parquet")
    assert read(memory).native.schema == read(duckdb).native.schema
    assert rows(memory) == rows(duckdb)


def split(table: pa.Table, folder: Path, parts: int, ending: str) -> Path:
    folder.mkdir()
    (folder / "_SUCCESS").write_text("")
    step = -(-table.num_rows // parts)
    for i in range(parts):
        write(open_frame(table.slice(i * step, step)), folder / f"part-{i}{ending}")
    return folder


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_order_files_and_threads_do_not_matter(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = people(3)
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    sources = [split(table, tmp_path / "one", 1, ending),
               split(table, tmp_path / "many", 3, ending),
               split(shuffled, tmp_path / "shuffled", 2, ending)]  # fmt: skip
    found, written = [], []
    for i, source in enumerate(sources):
        for threads in (1, 3):
            given = Resources.of
            monkeypatch.setattr(
                Resources, "of", lambda *a, t=threads, g=given: replace(g(*a), threads=t)
            )
            release = shoal.anonymize(source, plan())  # a folder: DuckDB without being asked
            out = tmp_path / f"release-{i}-{threads}.csv"
            release.save(out)
            monkeypatch.undo()
            found.append(numbers(release))
            written.append(out.read_bytes())
    for one, text in zip(found[1:], written[1:], strict=True):
        assert one == found[0]
        assert sorted(text.splitlines()) == sorted(written[0].splitlines())
    # With a seed, the same rows in the same order give the same bytes.
    assert len(set(written[:4])) == 1
    assert written[4] == written[5] != written[0]


def test_a_seed_decides_the_order_and_without_it_every_run_differs(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    write(open_frame(people(3)), path)

    def bytes_of(seed: int | None) -> bytes:
        release = shoal.anonymize(path, plan(engine="duckdb", seed=seed))
        release.save(tmp_path / "out.csv")
        first = (tmp_path / "out.csv").read_bytes()
        release.save(tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_bytes() == first
        return first

    assert bytes_of(5) == bytes_of(5)
    assert len({bytes_of(5), bytes_of(6), bytes_of(None), bytes_of(None)}) == 4


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_unpublished_values_are_nowhere_in_the_file(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{ending}"
    write(open_frame(people(3)), path)
    release = shoal.anonymize(path, plan(engine="duckdb"))
    release.save(tmp_path / f"out{ending}")
    assert b"MARKER" in path.read_bytes()
    assert b"MARKER" not in (tmp_path / f"out{ending}").read_bytes()
    assert "MARKER" not in json.dumps(release.as_dict())


def test_the_report_and_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    write(open_frame(people(3)), path)
    release = shoal.anonymize(path, plan(engine="duckdb"))
    assert release.frame is None
    assert release.csv_sha256() is None
    release.save(tmp_path / "out.parquet")
    of_parquet = release.csv_sha256()
    written = release.written
    assert written is not None
    assert written.name == "out.parquet"
    assert written.sha256 == sha256((tmp_path / "out.parquet").read_bytes()).hexdigest()
    release.save(tmp_path / "out.csv")
    again = shoal.anonymize(path, plan(engine="duckdb", seed=5))
    again.save(tmp_path / "out.csv")
    found = sha256((tmp_path / "out.csv").read_bytes()).hexdigest()
    assert of_parquet == again.csv_sha256() == found
    again.report(tmp_path / "report.html", explain=True)
    assert found in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_combinations_are_in_memory_once_and_texts_as_codes(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(people(3), path)
    release = shoal.anonymize(path, plan(engine="duckdb", algorithm="peel"))
    recoded = release.recoded
    assert release.suppressed == 0
    assert recoded.units is not recoded.released
    assert recoded.units.counted is recoded.released.counted
    texts = [one for one in recoded.released.native.schema if one.type != pa.int64()]
    assert texts
    assert all(is_packed(one) for one in texts)
    assert len(release.seen.codes) < recoded.units.height  # measured per class


def test_messages_name_the_rows_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    table = people(2, 50)
    write(open_frame(pa.concat_tables([table, table])), path)
    for change in (
        {"missing": "error"},
        {"columns": plan().columns | {"age": {"role": "quasi",
                                             "hierarchy": {"parents": {"young": "*"}}}}},
    ):  # fmt: skip
        said = []
        for engine in ("memory", "duckdb"):
            with pytest.raises(shoal.BadInput) as error:
                shoal.anonymize(path, plan(engine=engine, **change))
            said.append(str(error.value))
        assert said[0] == said[1]
        assert "row" in said[0]


def test_a_single_row_cannot_be_explained(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    write(open_frame(people(2)), path)
    release = shoal.anonymize(path, plan(engine="duckdb"))
    with pytest.raises(shoal.BadTable, match="not in memory"):
        release.explain(3)
    assert len(release.reasons()) == 2
