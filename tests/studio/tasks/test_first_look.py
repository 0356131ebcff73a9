"""The first look at a large table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from shoal import Plan
from shoal.base.progress import silent
from shoal.flow.draft.spellings import Stated
from shoal.io.frames import Frame
from shoal.io.reading import Reading
from shoal.studio.tasks import _first_look as looking
from shoal.studio.tasks._first_look import BLOCK, PLACES, FirstLook, first_look
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import run

MANY = 40_000


def people(rows: int) -> Frame:
    return Frame(
        pa.table(
            {
                "name": [f"Person {i}" for i in range(rows)],
                "age": [18 + i * i % 70 for i in range(rows)],
                "sex": [("f", "m")[i // 3 % 2] for i in range(rows)],
                "disease": [("flu", "cold", "asthma")[3 * i // rows] for i in range(rows)],
            }
        )
    )


def looked(frame: Frame, plan: Plan | None = None) -> FirstLook | None:
    return first_look(frame, Reading(), None, Stated(), plan)


def test_a_small_table_needs_none() -> None:
    assert looked(people(1_000)) is None
    wide = Frame(pa.table({f"c{i}": list(range(100)) for i in range(6_000)}))
    assert looked(wide) is None  # a look at it would take as long as everything


def test_it_sees_all_parts_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LARGE", 4 * MANY)
    found = looked(people(MANY))
    assert found is not None
    assert (found.rows, found.seen) == (MANY, PLACES * BLOCK)
    assert found.roles == {
        "name": "identifier", "age": "quasi", "sex": "quasi", "disease": "sensitive"
    }  # fmt: skip
    disease = next(one for one in found.columns if one.name == "disease")
    # The table is sorted by it: its first records have one value only.
    assert dict(zip(disease.spread.labels, disease.spread.counts, strict=True)).keys() == {
        "flu", "cold", "asthma"
    }  # fmt: skip
    assert sum(disease.spread.counts) == found.seen


@pytest.mark.parametrize("rows", [1, BLOCK, BLOCK + 1, PLACES * BLOCK - 1, PLACES * BLOCK + 7])
def test_records_are_taken_once_and_none_is_made_up(rows: int) -> None:
    taken = looking._some(pa.table({"i": list(range(rows))}))["i"].to_pylist()
    assert len(set(taken)) == len(taken) <= PLACES * BLOCK
    assert taken == sorted(taken)
    assert set(taken) <= set(range(rows))
    if rows >= BLOCK:
        assert taken[0] == 0
        assert len(taken) >= min(rows, PLACES * BLOCK) - BLOCK


def test_roles_of_a_plan_are_shown_and_not_proposed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LARGE", 4 * MANY)
    plan = Plan(columns={"age": {"role": "sensitive"}, "gone": {"role": "quasi"}})
    found = looked(people(MANY), plan)
    assert found is not None
    assert found.roles["age"] == "sensitive"
    assert found.roles["sex"] == "quasi"
    assert "gone" not in found.roles


def test_it_comes_before_the_overview(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "is_large", lambda _: True)
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "".join(f"{18 + i % 70},{'fm'[i % 2]}\n" for i in range(900)))
    held, shown = Held(), []
    held.early = shown.append
    overview = run(held, silent, source={"kind": "file", "path": str(path)}, reading={})
    assert [one.rows for one in shown] == [900]
    assert overview.rows == 900
    assert "first" not in held  # nothing of it is kept
