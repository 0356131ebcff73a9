"""A draft states how the table is written, and its plan runs as it stands."""

from __future__ import annotations

from random import Random

import pytest

import shoal
from shoal import Plan

RANDOM = Random(5)


def record():
    some = RANDOM.randrange
    return (
        f"{150 + some(40)},{some(10)}",
        f"{1 + some(28):02}.{1 + some(12):02}.{1950 + some(5)}",
        f"{1 + some(3)}.{100 + some(900)},50",
        f"0{1 + some(9)}/0{1 + some(9)}/2024",
    )


ROWS = [("größe", "born", "rent", "seen"), *(record() for _ in range(200))]


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes("\n".join(map(";".join, ROWS)).encode("latin-1"))
    return path


def test_a_draft_states_what_it_found(people, tmp_path):
    plan = shoal.draft(people)
    assert plan.read.stated() == {"encoding": "latin-1", "delimiter": ";"}
    assert plan.columns["größe"].decimal == ","
    assert plan.columns["born"].date_format == "%d.%m.%Y"
    assert plan.columns["born"].hierarchy.setting() == {
        "dates": ["month", "year", "5 years", "decade"]
    }
    assert (plan.columns["rent"].decimal, plan.columns["rent"].thousands) == (",", ".")
    assert plan.columns["seen"].spelling is None
    assert "in doubt: '0" in plan.notes["seen"]
    assert "(date_format = '%d/%m/%Y') or 2024-" in plan.notes["seen"]
    plan.save(tmp_path / "plan.toml")
    again = Plan.load(tmp_path / "plan.toml").with_seed(1)
    release = shoal.anonymize(people, again)
    release.save(tmp_path / "release.csv")
    found = shoal.audit(tmp_path / "release.csv", again, original=people)
    assert found.holds
    assert found.quality.losses == release.losses
