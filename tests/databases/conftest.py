"""Databases for the tests: a server, files, and tables in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from shoal import Database
from shoal.databases.kind import quoted_name
from tests.postgresql_server import Server

KINDS = ["postgresql", "sqlite", "duckdb"]


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database of each kind, without tables."""
    if request.param == "postgresql":
        server: Server = request.getfixturevalue("empty_server")
        return server.address()
    path = tmp_path / f"base.{request.param}"
    if request.param == "sqlite":
        sqlite3.connect(path).close()
        path.touch()
    else:
        duckdb.connect(str(path)).close()
    return f"{request.param}:///{path}"


@pytest.fixture
def stored(address: str):
    """Store an arrow table in the database, by its driver alone."""

    def store(table: pa.Table, name: str = "people") -> Database:
        put(address, table, name)
        return Database(address, name)

    return store


def put(address: str, table: pa.Table, name: str = "people") -> None:
    """Store an arrow table of texts and integers in a database, by its driver alone."""
    kinds = {pa.int64(): "bigint", pa.string(): "text", pa.float64(): "double precision"}
    columns = ", ".join(f"{quoted_name(one.name)} {kinds[one.type]}" for one in table.schema)
    if address.startswith("postgresql"):
        import adbc_driver_postgresql.dbapi as driver

        with driver.connect(address) as con, con.cursor() as cursor:
            cursor.execute(f'CREATE TABLE "{name}" ({columns})')
            if table.num_rows:
                cursor.adbc_ingest(name, table, mode="append")
            con.commit()
        return
    path = address.split("///")[1]
    if address.startswith("duckdb"):
        with duckdb.connect(path) as con:
            con.execute(f'CREATE TABLE "{name}" ({columns})')
            con.register("given", table)
            con.execute(f'INSERT INTO "{name}" SELECT * FROM given')
        return
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(f'CREATE TABLE "{name}" ({columns})')
        marks = ", ".join("?" * table.num_columns)
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        base.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
