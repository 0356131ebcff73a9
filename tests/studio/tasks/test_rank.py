"""How much columns single people out, with the roles of the moment."""

from __future__ import annotations

import pyarrow as pa
import pytest

from shoal.base.progress import silent
from shoal.flow.draft.draft import examine
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.rank import Ranked, run

N = 240
TABLE = pa.table(
    {
        "who": [i // 2 for i in range(N)],
        "age": [20 + (i // 2) % 40 for i in range(N)],
        "zip": [1000 + (i // 2) % 7 for i in range(N)],
        "year": [2000 - (i // 2) % 40 for i in range(N)],
        "note": [f"n{(i // 2) % 60}" for i in range(N)],
    }
)


@pytest.fixture(scope="module")
def held() -> Held:
    return Held(examined=examine(TABLE))


def ranked(held: Held, **roles: str) -> Ranked:
    return run(held, silent, roles={**dict.fromkeys(TABLE.column_names, "drop"), **roles},
               missing={"who": [""]})  # fmt: skip


def test_people_are_counted_if_there_is_a_person_column(held: Held) -> None:
    found = ranked(held, who="person", age="quasi", zip="quasi")
    assert (found.people, found.counted, found.unique) == (120, 120, 120)
    without = ranked(held, age="quasi", zip="quasi")
    assert (without.people, without.unique) == (240, 0)  # each person has two records


def test_alone_and_together(held: Held) -> None:
    found = ranked(held, who="person", age="quasi", zip="quasi", note="other")
    assert found.columns["age"].alone == 0
    assert found.columns["who"].alone == 120
    assert found.columns["age"].without == found.columns["zip"].without == 0
    assert found.columns["note"].without is None
    less = ranked(held, who="person", age="quasi", note="other")
    assert less.unique == 0
    assert less.columns["note"].together == 120  # 40 ages and 60 notes: all pairs differ
    assert less.columns["year"].together is None  # it is not published


def test_columns_that_follow_from_others_by_their_roles(held: Held) -> None:
    found = ranked(held, age="quasi", year="other", zip="quasi")
    assert found.follows == {"year": [("age", True)]}
    assert ranked(held, age="quasi", zip="quasi").follows == {}


def test_without_quasi_identifiers(held: Held) -> None:
    found = ranked(held, who="person", note="other")
    assert (found.unique, found.counted) == (0, 120)
    assert found.columns["note"].without is None


def test_many_quasi_identifiers_get_advice() -> None:
    table = pa.table({f"c{i}": [(j * (i + 3)) % 11 for j in range(60)] for i in range(18)})
    held = Held(examined=examine(table))
    found = run(held, silent, roles=dict.fromkeys(table.column_names, "quasi"), missing={})
    assert len(found.leave) == 3
    assert set(found.leave) <= set(table.column_names)
