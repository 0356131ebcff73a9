"""Columns by which the release of a drafted plan would be refused: the draft finds them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import NotHeld
from shoal.flow.draft import draft as drafts
from shoal.flow.draft.draft import examine, propose
from shoal.flow.estimate import trial
from shoal.io.frames import open_frame, write

AREAS = 12
COUNTS = ("num_visits", "num_procedures", "num_medications")


def people(rows: int = 1500, told: tuple[str, ...] = ("num_visits",), seed: int = 1) -> pa.Table:
    """The area nearly follows from each count that tells it; two tell it only together."""
    rng = np.random.default_rng(seed)
    area, lock = rng.integers(0, AREAS, (2, rows))
    noise = rng.random(rows) < 0.01  # so that it is no exact dependency
    table = {
        "postcode": [f"{10100 + 900 * one}" for one in area],
        "age": rng.integers(20, 64, rows),
        "sex": rng.choice(["f", "m"], rows),
        "disease": rng.choice(["flu", "cold", "gout"], rows),
    }
    for name in COUNTS:
        shown = np.where(noise, rng.integers(0, AREAS, rows), area)
        table[name] = shown * 3 if name in told else rng.poisson(6, rows)
    if len(told) == 2:
        table[told[0]], table[told[1]] = lock, (lock + np.asarray(table[told[0]]) // 3) % AREAS
    return pa.table(table)


def untried(monkeypatch: pytest.MonkeyPatch, table: pa.Table) -> shoal.Plan:
    """What would be proposed without the trial."""
    with monkeypatch.context() as patch:
        patch.setattr(drafts, "_tried", lambda examined, _: examined)
        return shoal.draft(table).with_seed(1)


def roles(plan: shoal.Plan) -> dict[str, str]:
    return {name: plan.columns[name].role for name in COUNTS}


def test_a_column_that_nearly_determines_a_quasi_identifier_is_dropped(monkeypatch):
    table = people()
    before = untried(monkeypatch, table)
    assert set(roles(before).values()) == {"other"}
    with pytest.raises(NotHeld, match="'num_visits' reveals 'postcode'"):
        shoal.anonymize(table, before)
    plan = shoal.draft(table).with_seed(1)
    assert roles(plan) == {
        "num_visits": "drop",
        "num_procedures": "other",
        "num_medications": "other",
    }
    why = plan.notes["num_visits"]
    assert "it reveals postcode: fewer than 5 people are left for" in why
    assert "of 1,500 people, and the release would be refused" in why
    assert "the role quasi" in why
    assert 'accept = ["num_visits"]' in why
    assert any("with 'num_visits' the release would be refused" in one for one in plan.remarks)
    assert shoal.anonymize(table, plan).dependency.by_other == 0


def test_the_alternatives_that_are_named_work():
    table = people()
    plan = shoal.draft(table).with_seed(1)
    columns = dict(plan.columns)
    other = plan.changed(columns=columns | {"num_visits": "other"})
    assert shoal.anonymize(table, other.changed(accept=["num_visits"])).dependency.by_other > 0
    quasi = columns | {"num_visits": {"role": "quasi", "hierarchy": {"ranges": [3, 9, 18]}}}
    assert shoal.anonymize(table, plan.changed(columns=quasi)).dependency.by_other == 0


def test_of_two_columns_that_tell_it_together_one_is_dropped(monkeypatch):
    table = people(told=("num_visits", "num_procedures"))
    with pytest.raises(NotHeld, match="together reveal"):
        shoal.anonymize(table, untried(monkeypatch, table))
    plan = shoal.draft(table).with_seed(1)
    found = roles(plan)
    assert sorted(found.values()) == ["drop", "other", "other"]
    assert found["num_medications"] == "other"
    (gone,) = (name for name, role in found.items() if role == "drop")
    (stays,) = {"num_visits", "num_procedures"} - {gone}
    assert f"together with {stays}, it reveals postcode" in plan.notes[gone]
    assert shoal.anonymize(table, plan).dependency.by_other == 0


def test_nothing_is_dropped_where_counts_say_nothing():
    plan = propose(people(told=())).plan
    assert set(roles(plan).values()) == {"other"}
    assert not any("refused" in one for one in plan.remarks)


def test_a_role_of_the_dictionary_stays_and_gets_a_note(tmp_path: Path):
    (tmp_path / "dictionary.csv").write_text("column,role\nnum_visits,other\n", encoding="utf-8")
    plan = shoal.draft(people(), tmp_path / "dictionary.csv")
    assert plan.columns["num_visits"].role == "other"
    assert "it reveals postcode" in plan.notes["num_visits"]
    assert any(
        one.startswith("the release will be refused because of 'num_visits'")
        and 'accept = ["num_visits"]' in one
        for one in plan.remarks
    )
    assert roles(plan)["num_medications"] == "other"


def test_a_large_table_is_tried_on_a_sample(monkeypatch):
    table = people(4000)
    monkeypatch.setattr(trial, "WORK", (27 + 9) * 1000)
    found = examine(table).trial
    assert 500 < found.records < found.all_records == 4000
    assert [one.column for one in found.telling] == ["num_visits"]
    plan = shoal.draft(table).with_seed(1)
    assert "people of a sample" in plan.notes["num_visits"]
    assert any(f"a sample of {found.records:,} of 4,000 records" in one for one in plan.remarks)
    assert shoal.anonymize(table, plan).dependency.by_other == 0


def test_a_sample_has_all_records_of_its_people(monkeypatch):
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(1500), rng.integers(1, 4, 1500))
    table = people().take(pa.array(who)).append_column("patient_id", pa.array(who))
    assert shoal.draft(table).columns["patient_id"].role == "person"
    monkeypatch.setattr(trial, "WORK", (27 + 9) * 1000)
    taken = []
    sample = trial._sample
    monkeypatch.setattr(trial, "_sample", lambda *a: taken.append(sample(*a)) or taken[0])
    found = examine(table).trial
    assert [one.column for one in found.telling] == ["num_visits"]
    inside = np.isin(who, who[taken[0]])
    assert 0 < inside.sum() == len(taken[0]) < len(who)


def test_the_command_shows_the_reason_and_writes_it(run, tmp_path: Path):
    write(open_frame(people()), tmp_path / "people.csv")
    status, out, errors = run("draft", "people.csv", "-o", "plan.toml")
    assert status == 0, errors
    said = " ".join((out + errors).split())
    assert "with 'num_visits' the release would be refused" in said
    assert "fewer than 5 people are left" in (tmp_path / "plan.toml").read_text(encoding="utf-8")
    status, _, errors = run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "out.csv")
    assert status == 0, errors


def test_a_table_that_cannot_be_released_is_still_drafted():
    plan = shoal.draft(people(3, told=()))
    assert plan.columns["age"].role == "quasi"
