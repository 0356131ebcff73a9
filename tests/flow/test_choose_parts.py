"""Parts of a plan: which it may have, what the release says, and that the memory requires them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, Plan
from shoal.algorithms._shared.parts import cuts
from shoal.engines.resources import Resources
from shoal.flow.choose_parts import parting_of
from shoal.io.frames import open_frame, write


def people(rows: int = 600) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "who": [f"p{i // 2}" for i in range(rows)],
            "age": rng.integers(18, 90, rows),
            "zip": rng.integers(0, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "gout", "none", "cold"], rows, p=[0.3, 0.1, 0.4, 0.2]),
        }
    )


def plan(**change: object) -> Plan:
    asked: dict = {
        "columns": {
            "who": "identifier",
            "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
            "zip": {"role": "quasi", "hierarchy": {"ranges": [10, 30]}},
            "sex": "quasi",
            "ill": "sensitive",
        },
        "models": [
            {"name": "k-anonymity", "k": 3},
            {"name": "t-closeness", "column": "ill", "t": 0.4},
        ],
        "seed": 5,
    }
    return Plan(**asked | change)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of small tables have enough people, too."""
    monkeypatch.setattr(cuts, "FEWEST", 4)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each tuple took so much memory that 200 of about 590 can be recoded at once."""
    monkeypatch.setattr(cuts, "PER_TUPLE", 850_000)
    monkeypatch.setattr(cuts, "HELD", 100_000)


LIMIT = "210MB"


def test_what_cannot_be_cut_is_refused() -> None:
    columns = {**plan().columns, "who": {"role": "person"}}
    with pytest.raises(BadPlan, match="parts = 3 is not possible with a person column \\('who'\\)"):
        shoal.anonymize(people(), plan(parts=3, columns=columns))
    with pytest.raises(BadPlan, match="parts = 3 is not possible with the algorithm full-domain"):
        shoal.anonymize(people(), plan(parts=3, algorithm="full-domain"))
    for parts in (1, "auto"):
        assert shoal.anonymize(people(), plan(parts=parts, columns=columns)).parts == 1
        assert shoal.anonymize(people(), plan(parts=parts, algorithm="full-domain")).parts == 1


def test_the_release_says_that_the_table_was_cut() -> None:
    release = shoal.anonymize(people(), plan(parts=3))
    assert release.parts == release.as_dict()["parts"] == 3
    assert any("cut into 3 parts" in note for note in release.notes)
    assert all(check.holds for check in release.checks)
    whole = shoal.anonymize(people(), plan(parts=1))
    assert whole.parts == whole.as_dict()["parts"] == 1
    assert not any("parts" in note for note in whole.notes)
    assert whole.csv_sha256() == shoal.anonymize(people(), plan()).csv_sha256()


def test_parts_are_explained_as_they_were_made() -> None:
    release = shoal.anonymize(people(), plan(parts=3))
    assert [reason.model for reason in release.reasons()] == ["k-anonymity", "t-closeness"]


def test_models_about_the_whole_table_are_satisfied_after_the_parts() -> None:
    models = [{"name": "k-anonymity", "k": 3}, {"name": "average-risk", "r": 0.12}]
    release = shoal.anonymize(people(), plan(parts=3, models=models))
    assert release.parts == 3
    assert all(check.holds for check in release.checks)


def test_auto_may_choose_among_algorithms_with_parts() -> None:
    asked = plan(parts=3, algorithm={"name": "auto", "seconds": 1}, models=plan().models[:1])
    release = shoal.anonymize(people(200), asked)
    works = shoal.catalog.algorithms[release.plan.algorithm.name].works_in_parts
    assert release.parts == (3 if works else 1)


@pytest.mark.usefixtures("narrow")
def test_the_memory_limit_cuts_the_table_in_every_engine(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    write(open_frame(people()), path)
    assert parting_of(plan(memory=LIMIT)).memory == Resources.of(LIMIT).memory
    memory = shoal.anonymize(path, plan(memory=LIMIT, engine="memory"))
    duckdb = shoal.anonymize(path, plan(memory=LIMIT, engine="duckdb"))
    assert memory.parts == duckdb.parts > 2
    assert memory.losses == pytest.approx(duckdb.losses)
    for release, name in ((memory, "memory.csv"), (duckdb, "duckdb.csv")):
        release.save(tmp_path / name)
    lines = [sorted((tmp_path / name).read_bytes().splitlines())
             for name in ("memory.csv", "duckdb.csv")]  # fmt: skip
    assert lines[0] == lines[1]


@pytest.mark.usefixtures("narrow")
def test_what_does_not_fit_says_what_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    write(open_frame(people()), path)
    with pytest.raises(BadPlan, match=r"parts = 'auto'") as error:
        shoal.anonymize(path, plan(memory=LIMIT, engine="duckdb", parts=1))
    assert "part by part" not in str(error.value)
    asked = plan(memory=LIMIT, engine="duckdb", algorithm="full-domain", models=plan().models[:1])
    with pytest.raises(BadPlan, match=r"need about 50\d MB"):
        shoal.anonymize(path, asked)
    with pytest.raises(BadPlan, match="even if they are recoded part by part"):
        shoal.anonymize(path, plan(memory=LIMIT, engine="duckdb", parts=2))
