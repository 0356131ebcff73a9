"""Previews: where the whole sample takes long, a part of it comes first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shoal import Plan
from shoal.base.errors import CannotReach
from shoal.base.progress import silent
from shoal.studio.tasks import preview
from shoal.studio.tasks._serving import Held

ROWS = 2_400


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A sample, and a plan for it."""
    folder = tmp_path_factory.mktemp("sample")
    ages, sexes = [20 + i * 7 % 60 for i in range(ROWS)], ["f", "m"] * (ROWS // 2)
    table = pa.table({"age": ages, "sex": sexes})
    with pa.ipc.new_file(str(folder / "sample.arrow"), table.schema) as writer:
        writer.write_table(table)
    plan = Plan(
        columns={"age": {"role": "quasi", "hierarchy": {"ranges": [5, 10]}}, "sex": "quasi"},
        models=[{"name": "k-anonymity", "k": 5}],
        seed=1,
    )
    plan.save(folder / "plan.toml")
    return {
        "sample": str(folder / "sample.arrow"), "plan": str(folder / "plan.toml"), "rows": 10_000,
    }  # fmt: skip


def took(asked: dict[str, Any], held: Held, seconds: float) -> None:
    """The last preview of this kind took so long."""
    plan = preview.plain(Plan.load(Path(asked["plan"]))).changed(seed=1)
    held["took"] = {preview._kind(plan): seconds}


@pytest.mark.parametrize(
    ("seconds", "rows"), [(0.3, ROWS), (1.5, preview.QUICK), (4.0, preview.QUICKER)]
)
def test_the_first_estimate_is_on_as_many_records_as_a_second_allows(
    asked: dict[str, Any], seconds: float, rows: int
) -> None:
    held = Held()
    preview.run(held, silent, **asked, full=True)
    took(asked, held, seconds)
    facts = preview.run(held, silent, **asked)
    assert (facts.rows, facts.extra["more"]) == (rows, ROWS - rows)
    assert facts.sampled
    whole = preview.run(held, silent, **asked, full=True)
    assert (whole.rows, whole.extra["more"]) == (ROWS, 0)


def test_the_very_first_one_is_on_a_part_as_everything_has_to_be_loaded(
    asked: dict[str, Any],
) -> None:
    held = Held()
    assert preview.run(held, silent, **asked).rows == preview.QUICK
    assert preview.run(held, silent, **asked, full=True).rows == ROWS
    assert preview.run(held, silent, **asked).rows == ROWS  # from now on it is quick


@pytest.mark.parametrize(("rows", "quick"), [(10_000, True), (ROWS, False)])
def test_algorithms_try_less_on_a_sample_only(
    asked: dict[str, Any], rows: int, quick: bool
) -> None:
    held = Held()
    preview.run(held, silent, **{**asked, "rows": rows}, full=True)
    assert held["estimators"][ROWS]._quick is quick


def asking(asked: dict[str, Any], folder: Path, k: int) -> dict[str, Any]:
    """The same for a plan with another k."""
    Plan.load(asked["plan"]).changed(models=[{"name": "k-anonymity", "k": k}]).save(
        folder / "plan.toml"
    )
    return {**asked, "plan": str(folder / "plan.toml")}


def test_what_a_part_of_the_sample_cannot_satisfy_is_tried_on_the_whole_sample(
    asked: dict[str, Any], tmp_path: Path
) -> None:
    larger, held = asking(asked, tmp_path, preview.QUICK + 100), Held()
    preview.run(held, silent, **asked, full=True)
    took(asked, held, 1.5)
    facts = preview.run(held, silent, **larger)
    assert (facts.rows, facts.extra["more"]) == (ROWS, 0)


def test_what_the_sample_cannot_satisfy_is_not_said_of_the_table(
    asked: dict[str, Any], tmp_path: Path
) -> None:
    larger = asking(asked, tmp_path, ROWS + 1)
    with pytest.raises(CannotReach) as refused:
        preview.run(Held(), silent, **larger)
    assert str(refused.value) == (
        "k-anonymity cannot be reached on the sample of 2,400 records, so that there is no "
        "estimate; compute it on all 10,000 records, or relax it"
    )
    assert [way.action for way in refused.value.ways] == ["remove"]
    with pytest.raises(CannotReach, match="the table has 2400 people"):  # it is the table
        preview.run(Held(), silent, **{**larger, "rows": ROWS})
