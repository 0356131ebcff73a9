"""An audit of a table in a database: the database counts, and the numbers are those of memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Database, Plan
from shoal.databases.writing import write_to
from shoal.io.frames import Frame
from tests.flow.test_at_scale import rounded


def odd_people(rows: int = 400, seed: int = 1) -> pa.Table:
    """Values that a database might join or change: letter case, blanks, gaps, 0.0 and -0.0."""
    rng = np.random.default_rng(seed)
    pick = rng.choice
    return pa.table(
        {
            "name": [f"Person {i}" for i in range(rows)],
            "age": pa.array([None if x == 20 else int(x) for x in rng.integers(20, 26, rows)]),
            "sex": pa.array(pick(["f", "F", "m", "m ", "", None, "NA", "é", "e\u0301"], rows)),
            "score": pa.array(pick([0.0, -0.0, 0.1, 1e22, 2.5], rows)),
            "disease": pa.array(pick(["flu", "Flu", "a cold", None, "?"], rows)),
            "note": pa.array([f"note {i // 2}" for i in range(rows)]),
        }
    )


def plan(**change: object) -> Plan:
    asked: dict = {
        "columns": {"name": "identifier", "age": "quasi", "sex": "quasi", "score": "other",
                    "disease": "sensitive", "note": "other"},
        "models": [{"name": "k-anonymity", "k": 2},
                   {"name": "distinct-l-diversity", "column": "disease", "l": 2}],
        "missing_values": ["", "NA", "?"],
    }  # fmt: skip
    return Plan(**asked | change)


@pytest.fixture(params=["postgresql", "sqlite", pytest.param("duckdb", marks=pytest.mark.slow)])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "postgresql":
        address = request.getfixturevalue("empty_server").address()
    else:
        address = f"{request.param}:///{tmp_path}/a.{request.param}"
    target = Database(address, "people")
    write_to(target, Frame(odd_people()), False, lambda _: None)
    return target


def test_the_numbers_are_those_of_memory(base: Database) -> None:
    expected = shoal.audit(odd_people(), plan()).as_dict()
    found = shoal.audit(base, plan())
    assert found.as_dict() == expected
    assert found.published.weight is not None, "the database has not counted"


def compared(audit: shoal.Audit) -> dict:
    """The numbers of an audit; analyses of other columns need rows, which a database counts."""
    return {k: v for k, v in rounded(audit.as_dict()).items() if k != "utility"}


def unmatched(audit: shoal.Audit, asked: Plan) -> dict:
    """The same if the attack dependency does not know whose record is whose."""
    found = compared(audit)
    release = rounded(shoal.audit(released()[0].frame, asked).as_dict())
    known = release["attacks"]["dependency"]
    assert known["reading"] == "release"
    return found | {"attacks": found["attacks"] | {"dependency": known}}


@cache
def released() -> tuple[shoal.Release, shoal.Audit]:
    """A release, and its audit in memory."""
    asked = plan(models=[{"name": "k-anonymity", "k": 2}], seed=3)
    release = shoal.anonymize(odd_people(), asked)
    return release, shoal.audit(release.frame, asked, original=odd_people())


def test_an_original_in_the_database(base: Database) -> None:
    """The release is in memory or next to its original; what is counted cannot be matched."""
    asked = plan(models=[{"name": "k-anonymity", "k": 2}], seed=3)
    release, audit = released()
    expected = unmatched(audit, asked)
    assert compared(shoal.audit(release.frame, asked, original=base)) == expected
    target = Database(base.address, "release")
    release.save(target)
    assert compared(shoal.audit(target, asked, original=base)) == expected
    assert compared(shoal.audit(target, asked, original=odd_people())) == expected


def test_only_combinations_of_the_columns_that_matter_are_transferred(
    base: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = Database(base.address, query="SELECT name, age, sex FROM people")
    seen: list[Frame] = []
    count = Database.count

    def counted(self: Database, wanted) -> Frame:
        seen.append(count(self, wanted))
        return seen[-1]

    monkeypatch.setattr(Database, "count", counted)
    asked = plan(columns={"name": "identifier", "age": "quasi", "sex": "quasi"},
                 models=[{"name": "k-anonymity", "k": 2}])  # fmt: skip
    assert shoal.audit(narrow, asked).rows == 400
    (found,) = seen
    assert found.names == ["age", "sex"]
    assert found.height <= 6 * 9
    assert found.weight is not None
    assert found.weight.sum() == 400


def test_people_and_single_records_are_read_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as con, con:
        con.execute("CREATE TABLE people (person INTEGER, age INTEGER)")
        con.executemany(
            "INSERT INTO people VALUES (?, ?)", [(i // 2, 20 + i % 3) for i in range(40)]
        )
    base = Database(path, "people")
    asked = Plan(columns={"person": "person", "age": "quasi"},
                 models=[{"name": "ir-k-anonymity", "k": 2}])  # fmt: skip
    assert shoal.audit(base, asked).as_dict() == shoal.audit(base.read(), asked).as_dict()
    alone = Plan(columns={"person": "identifier", "age": "quasi"})
    population = shoal.audit(base, alone, population=base)
    assert population.as_dict() == shoal.audit(base.read(), alone, population=base.read()).as_dict()


def test_a_column_that_the_plan_does_not_mention(base: Database) -> None:
    asked = plan(columns={"age": "quasi", "sex": "quasi"}, models=[])
    with pytest.raises(shoal.BadTable, match="does not mention the columns 'name', 'score'"):
        shoal.audit(base, asked)
