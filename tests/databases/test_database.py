"""Tables of databases as sources."""

from __future__ import annotations

import _thread
import builtins
import sqlite3
from pathlib import Path
from threading import Timer

import duckdb
import pyarrow as pa
import pytest

import shoal
from shoal import BadFile, BadTable, Database
from shoal.databases.database import tables_of
from shoal.databases.writing import write_to
from shoal.io.frames import Frame
from tests.large_tables import table
from tests.postgresql_server import PASSWORD, Server

PEOPLE = pa.table({"age": [31, None, 52], "sex": ["f", "F ", None], "weight": [1.5, None, 70.25]})


def test_a_table_is_read_as_it_is_stored(stored) -> None:
    assert stored(PEOPLE).read().equals(PEOPLE)


def test_a_query_is_read(stored) -> None:
    address = stored(PEOPLE).address
    found = Database(address, query="SELECT age AS years FROM people WHERE age > 40; ").read()
    assert found.equals(pa.table({"years": [52]}))
    commented = Database(address, query="SELECT age FROM people -- all of them")
    assert commented.read().num_rows == 3


def test_the_first_rows_and_the_tables_are_shown(stored) -> None:
    base = stored(PEOPLE)
    first = base.first_rows(2)
    assert first.names == ["age", "sex", "weight"]
    assert first.rows == [["31", "f", "1.5"], [None, "F ", None]]
    query = Database(base.address, query="SELECT age AS years FROM people ORDER BY age DESC")
    assert len(query.first_rows(2).rows) == 2
    assert "people" in tables_of(base.address)
    assert stored(PEOPLE.slice(0, 0), "nobody").first_rows(5).names == ["age", "sex", "weight"]


def test_progress_counts_rows(stored) -> None:
    seen: list[tuple[int, int]] = []
    stored(table(5000)).read(lambda done, size: seen.append((done, size)))
    assert seen
    assert seen[-1][0] == seen[-1][1] or seen[-1][0] == 5000  # the server only estimates the size


def test_an_empty_table_is_read(stored) -> None:
    found = stored(PEOPLE.slice(0, 0)).read()
    assert found.column_names == PEOPLE.column_names
    assert found.num_rows == 0


def test_rows_are_counted_by_the_database(stored) -> None:
    rows = pa.table({"sex": ["f", "m", "f", None, "F", "f "], "age": [1, 1, 1, 2, 2, None]})
    found = stored(rows).count(["sex", "age"])
    counts = dict(zip(map(tuple, (r.values() for r in found.native.to_pylist())), found.weight,
                      strict=True))  # fmt: skip
    assert counts == {("f", 1): 2, ("m", 1): 1, (None, 2): 1, ("F", 2): 1, ("f ", None): 1}


def test_names_that_sql_would_take_for_something_else(stored) -> None:
    odd = pa.table({'a "b"': [1], "select": [2], "A.b": ["x"], "é": ["ü"], "shoal 0": [3]})
    base = stored(odd, "my table-x")
    assert base.read().equals(odd)
    assert base.count(["shoal 0", "select"]).native.to_pydict() == {"shoal 0": [3], "select": [2]}


def test_two_columns_of_one_name_are_refused(stored) -> None:
    address = stored(PEOPLE).address
    with pytest.raises(BadTable, match="the query has several columns of the same name: 'age'"):
        Database(address, query="SELECT age, sex, age FROM people").read()


def test_an_unknown_table_is_named_with_a_similar_one(stored) -> None:
    address = stored(PEOPLE).address
    with pytest.raises(BadFile, match="has no table 'peple'; did you mean 'people'"):
        Database(address, "peple").read()
    with pytest.raises(BadTable, match="name a table with --table: there are 'people'"):
        Database(address).read()


def test_a_database_without_tables(address: str) -> None:
    with pytest.raises(BadFile, match="has no table 'people'; it has no tables"):
        Database(address, "people").read()


def test_a_query_cannot_change_anything(stored) -> None:
    base = stored(PEOPLE)
    for query in ("DROP TABLE people", "DELETE FROM people", "SELEC age FROM people"):
        with pytest.raises(shoal.BadInput):
            Database(base.address, query=query).read()
    assert base.read().equals(PEOPLE)


def test_a_query_that_writes_by_a_function_is_refused(empty_server: Server) -> None:
    empty_server.run("CREATE SEQUENCE IF NOT EXISTS numbers")
    with pytest.raises(BadTable, match="a query can only read"):
        Database(empty_server.address(), query="SELECT nextval('numbers') AS n").read()


def test_a_query_of_sqlite_opens_no_other_file(tmp_path: Path) -> None:
    """ATTACH creates a file that does not exist."""
    base = Database(f"sqlite:///{tmp_path / 'people.db'}", table="people")
    write_to(base, Frame(PEOPLE), False, lambda _: None)
    other = tmp_path / "other.db"
    for query, said in (
        (f"ATTACH '{other}' AS other", "another file"),
        (f"VACUUM INTO '{other}'", "cannot"),
        ("SELECT * FROM people; SELECT 1", "several statements"),
    ):
        with pytest.raises(BadTable, match=said):
            Database(base.address, query=query).read()
    assert not other.exists()


def test_errors_do_not_show_cells(stored) -> None:
    address = stored(pa.table({"name": ["Ann-Secret"]})).address
    query = "SELECT CAST(name AS date) AS d FROM people"
    if address.startswith("sqlite"):
        query = "SELECT json_extract(name, '$.x') AS d FROM people"
    with pytest.raises(shoal.ShoalError) as error:
        Database(address, query=query).read()
    assert "Ann" not in str(error.value)


def test_rows_come_in_their_order_whatever_the_server_would_do(empty_server: Server) -> None:
    """Several processes of the server would read the table together."""
    settings = ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size")
    empty_server.run(
        "CREATE TABLE long AS SELECT i AS n, i % 10 AS m FROM generate_series(1, 300000) AS i",
        *(f"ALTER DATABASE postgres SET {name} = 0" for name in settings),
    )
    try:
        base = Database(empty_server.address(), query="SELECT n FROM long WHERE m <> 3")
        rows = base.read()["n"].to_pylist()
        batches = [row for batch in base.batches() for row in batch.column(0).to_pylist()]
        assert base.count(["n"]).height == 270_000
    finally:
        empty_server.run(*(f"ALTER DATABASE postgres RESET {name}" for name in settings))
    assert rows == batches == sorted(rows)


def test_threads_read_one_file_at_the_same_time(tmp_path: Path) -> None:
    duckdb.connect(str(tmp_path / "a.duckdb")).execute("CREATE TABLE people AS SELECT 1 AS a")
    base = Database(tmp_path / "a.duckdb", "people")
    first = base.batches()
    assert next(first).num_rows == 1
    assert base.read().num_rows == 1
    first.close()


# Addresses


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{PASSWORD}@host/db",
        f"postgres://ann:{PASSWORD}@/db?host=/tmp",
        f"postgresql://ann@host/db?password={PASSWORD}",
        f"postgresql://ann@host/db?sslmode=require&sslpassword={PASSWORD}",
        f"postgresql://ann:a@b{PASSWORD}@host/db",
        f"postgresql://ann:?{PASSWORD}@host/db",
        f"postgresql://ann:/{PASSWORD}@host/db",
        f"postgresql:/ann:{PASSWORD}@host/db",
        f"mysql://ann:{PASSWORD}@host/db",
        f"postgresql:ann:{PASSWORD}@host/db",
        f"jdbc:postgresql://host/db?user=ann&password={PASSWORD}",
        f"host=localhost user=ann password={PASSWORD}",
        f"password='{PASSWORD}' dbname=people.db",
        f"Driver={{PostgreSQL}};Server=host;Uid=ann;Pwd={PASSWORD};",
    ],
)
def test_a_password_in_the_address_is_refused(address: str) -> None:
    with pytest.raises(BadFile) as error:
        Database(address, "people")
    assert PASSWORD not in str(error.value)
    assert "must not contain a password" in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{PASSWORD}@host/db",
        f"jdbc:postgresql://host/db?user=ann&password={PASSWORD}",
        f"host=localhost user=ann password={PASSWORD}",
    ],
)
def test_an_address_in_the_place_of_a_path_is_not_repeated(address: str) -> None:
    with pytest.raises(BadFile, match=r"shoal\.Database") as error:
        shoal.draft(address)
    assert PASSWORD not in str(error.value)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mysql://ann@host/db", "cannot read addresses that begin with mysql:"),
        ("postgresq://ann@host/db", "did you mean 'postgresql'"),
        ("sqlite:/people.db", "sqlite:// "),
        ("sqlite://people.db", "sqlite:///people.db"),
        ("people.csv", "is no address of a database"),
    ],
)
def test_other_addresses_are_refused(address: str, message: str) -> None:
    with pytest.raises(BadFile, match=message.strip()):
        Database(address, "people").read()


def test_a_table_or_a_query() -> None:
    with pytest.raises(BadTable, match="not both"):
        Database("a.db", "people", query="SELECT 1")
    with pytest.raises(BadTable, match="the query is empty"):
        Database("a.db", query=" ; ")
    for name in ("a.b.c", "a..b", "", ".", '"a"b'):
        with pytest.raises(BadTable, match=r"SCHEMA\.NAME"):
            shoal.databases.kind.split_name(name)


def test_a_file_that_is_not_there_or_no_database(tmp_path: Path) -> None:
    for ending in ("db", "duckdb"):
        with pytest.raises(BadFile, match="no such file"):
            Database(tmp_path / f"none.{ending}", "people").read()
        (tmp_path / f"text.{ending}").write_text("name,age\nAnn,31\n" * 1000)
        with pytest.raises(BadFile, match="damaged"):
            Database(tmp_path / f"text.{ending}", "people").read()


@pytest.mark.parametrize("kind", ["postgresql", "duckdb"])
def test_a_missing_driver_is_named(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    found = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith(("adbc", "duckdb")):
            raise ImportError(name)
        return found(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    extra = {"postgresql": "databases", "duckdb": "duckdb"}[kind]
    with pytest.raises(BadFile, match=rf"pip install 'shoal\[{extra}\]'"):
        Database(f"{kind}:///x", "people").read()


# Types


def test_types_of_postgresql(empty_server: Server) -> None:
    empty_server.run(
        "DROP TYPE IF EXISTS mood CASCADE",
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE TABLE typed (i int2, n numeric(8, 2), b bool, d date, t timestamp, z timestamptz, "
        "u uuid, m mood, c char(5), v varchar(9), f float4)",
        "INSERT INTO typed VALUES (7, 1.5, true, '1850-01-02', '2024-05-17 10:00', "
        "'2024-05-17 10:00+02', '90384a2d-e273-4f72-a4e8-55dfaa3be0a7', 'glad', 'ab', 'x', 0.1), "
        "(null, 'NaN', null, null, null, null, null, null, null, '', '-0')",
    )
    found = Database(empty_server.address(), "public.typed").read()
    texts = [{name: None if cell is None else str(cell) for name, cell in row.items()}
             for row in found.to_pylist()]  # fmt: skip
    assert texts[0] == {
        "i": "7", "n": "1.50", "b": "True", "d": "1850-01-02", "t": "2024-05-17 10:00:00",
        "z": "2024-05-17 08:00:00+00:00", "u": "90384a2d-e273-4f72-a4e8-55dfaa3be0a7", "m": "glad",
        "c": "ab", "v": "x", "f": str(pa.scalar(0.1, pa.float32()).as_py()),
    }  # fmt: skip
    assert texts[1] == dict.fromkeys("ibdtzumc") | {"n": "NaN", "v": "", "f": "-0.0"}
    counted = Database(empty_server.address(), "typed").count(found.column_names)
    assert sorted(map(str, counted.native.to_pylist())) == sorted(map(str, found.to_pylist()))


def test_types_of_duckdb(tmp_path: Path) -> None:
    con = duckdb.connect(str(tmp_path / "a.duckdb"))
    con.execute(
        "CREATE TABLE typed AS SELECT 7::UTINYINT AS i, 1.50::DECIMAL(8, 2) AS n, true AS b, "
        "DATE '1850-01-02' AS d, '90384a2d-e273-4f72-a4e8-55dfaa3be0a7'::UUID AS u, "
        "'glad'::ENUM('sad', 'glad') AS m, 170141183460469231731687303715884105727 AS h"
    )
    con.close()
    base = Database(tmp_path / "a.duckdb", "typed")
    wanted = ["7", "1.50", "True", "1850-01-02", "90384a2d-e273-4f72-a4e8-55dfaa3be0a7", "glad",
              "170141183460469231731687303715884105727"]  # fmt: skip
    assert [str(cell) for cell in base.read().to_pylist()[0].values()] == wanted
    counted = base.count(["i", "n", "b", "d", "u", "m", "h"]).native
    assert [str(cell) for cell in counted.to_pylist()[0].values()] == wanted


def test_types_of_sqlite_follow_from_all_cells(tmp_path: Path) -> None:
    con = sqlite3.connect(tmp_path / "a.db")
    con.execute("CREATE TABLE typed (i, r, mixed, words, void)")
    con.executemany(
        "INSERT INTO typed VALUES (?, ?, ?, ?, ?)",
        [(None, None, 1, None, None)] * 3000 + [(7, 0.5, 2.5, "x", None), (8, 1.5, "x", 9, None)],
    )
    con.commit()
    found = Database(tmp_path / "a.db", "typed").read()
    assert found.schema.types == [pa.int64(), pa.float64(), *[pa.string()] * 3]
    assert found["mixed"].to_pylist()[-3:] == ["1", "2.5", "x"]


def test_types_without_a_form_are_refused_by_column(empty_server: Server, tmp_path: Path) -> None:
    empty_server.run("CREATE TABLE odd (age int, photo bytea, tags text[])")
    with pytest.raises(BadTable, match=r"columns 'photo', 'tags' .*leave them out.*--query"):
        Database(empty_server.address(), "odd").read()
    assert Database(empty_server.address(), query="SELECT age FROM odd").read().num_rows == 0
    con = sqlite3.connect(tmp_path / "a.db")
    con.execute("CREATE TABLE odd AS SELECT 1 AS age, x'00' AS photo")
    con.commit()
    with pytest.raises(BadTable, match="columns 'photo'"):
        Database(tmp_path / "a.db", "odd").read()
    duck = duckdb.connect(str(tmp_path / "a.duckdb"))
    duck.execute(
        "CREATE TABLE odd AS SELECT 1 AS age, ['a'] AS tags, {'a': 1} AS s, 'x'::BLOB AS b"
    )
    duck.close()
    with pytest.raises(BadTable, match="columns 'tags', 's', 'b'"):
        Database(tmp_path / "a.duckdb", "odd").read()


def test_infinite_dates_are_refused_by_column(empty_server: Server) -> None:
    empty_server.run(
        "CREATE TABLE dates AS SELECT 'infinity'::date AS d, 'infinity'::timestamp AS t"
    )
    for name in "dt":
        with pytest.raises(BadTable, match=f"column '{name}' has dates .* infinite"):
            Database(empty_server.address(), query=f"SELECT {name} FROM dates").read()


def test_collations_do_not_join_texts(tmp_path: Path) -> None:
    con = sqlite3.connect(tmp_path / "a.db")
    con.execute("CREATE TABLE words (w TEXT COLLATE NOCASE)")
    con.execute("INSERT INTO words VALUES ('a'), ('A')")
    con.commit()
    assert Database(tmp_path / "a.db", "words").count(["w"]).height == 2
    duck = duckdb.connect(str(tmp_path / "a.duckdb"))
    duck.execute("CREATE TABLE words (w VARCHAR COLLATE NOCASE)")
    duck.execute("INSERT INTO words VALUES ('a'), ('A')")
    duck.close()
    assert Database(tmp_path / "a.duckdb", "words").count(["w"]).height == 2


# Faults of the server


def test_without_permission(empty_server: Server) -> None:
    empty_server.run("CREATE TABLE closed (age int)")
    if not empty_server.run("SELECT 1 FROM pg_roles WHERE rolname = 'visitor'"):
        empty_server.run("CREATE ROLE visitor LOGIN")
    with pytest.raises(BadFile, match="permission denied for table closed"):
        Database(empty_server.address("visitor"), "closed").read()


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot connect to PostgreSQL: no server answers"):
        Database(f"postgresql://ann@/db?host={tmp_path}", "people").read()


def test_a_server_that_ends_while_rows_are_read(empty_server: Server) -> None:
    empty_server.run("CREATE TABLE long AS SELECT i, repeat('x', 100) AS t "
                     "FROM generate_series(1, 400000) AS i")  # fmt: skip
    killed: list[int] = []

    def kill(done: int, size: int) -> None:
        if not killed:
            killed.append(done)
            empty_server.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
                "pg_backend_pid() AND backend_type = 'client backend'"
            )

    with pytest.raises(BadFile, match="connection to PostgreSQL was lost"):
        Database(empty_server.address(), "long").read(kill)
    assert killed[0] < 400000


def test_passwords_come_from_the_environment(
    empty_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty_server.run("CREATE TABLE mine AS SELECT 1 AS a", "GRANT SELECT ON mine TO guarded")
    base = Database(empty_server.address("guarded"), "mine")
    for name in ("PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(BadFile, match="set PGPASSWORD"):
        base.read()
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with pytest.raises(BadFile, match="the password is wrong"):
        base.read()
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert base.read().num_rows == 1
    monkeypatch.delenv("PGPASSWORD")
    (tmp_path / "pass").write_text(f"*:*:*:guarded:{PASSWORD}\n")
    (tmp_path / "pass").chmod(0o600)
    with_file = Database(f"{base.address}&passfile={tmp_path / 'pass'}", "mine")
    assert with_file.read().num_rows == 1
    assert PASSWORD not in f"{with_file!r} {with_file}"
    (tmp_path / "pass").rename(tmp_path / ".pgpass")  # in the home of the user
    assert base.read().num_rows == 1


ENDLESS = {
    "postgresql": "SELECT pg_sleep(600)::text AS a",
    "sqlite": "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    "SELECT max(x) AS a FROM c",
    "duckdb": "SELECT count(*) AS a FROM range(1000000) AS a, range(1000000) AS b "
    "WHERE a.range * b.range % 7 = 1",
}


def test_a_query_is_interrupted(stored) -> None:
    address = stored(PEOPLE).address
    timer = Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        Database(address, query=ENDLESS[address.split(":")[0]]).read()
    timer.join()
    assert Database(address, "people").read().equals(PEOPLE)


def test_an_interrupted_query_ends_on_the_server(empty_server: Server) -> None:
    Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        Database(empty_server.address(), query=ENDLESS["postgresql"]).read()
    active = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> "
    assert empty_server.run(f"{active} pg_backend_pid() AND state = 'active'") == [(0,)]
