"""Runs: what the page of a run says about its release."""

from __future__ import annotations

from pathlib import Path

from pyarrow.csv import write_csv

from shoal.base.progress import silent
from shoal.studio.requirements.words import limit_words
from shoal.studio.tasks import run
from shoal.studio.tasks._serving import Held
from shoal.studio.wording import Wording
from tests.algorithms.test_concealment import people
from tests.algorithms.test_concealment import plan as concealed


def test_limits_on_a_release_without_classes_do_not_speak_of_classes(tmp_path: Path) -> None:
    write_csv(people(60), tmp_path / "people.csv")
    asked = concealed(limits={"highest_risk": 1.0}, seed=1)
    asked.save(tmp_path / "plan.toml")
    (tmp_path / "run").mkdir()
    source = {"kind": "file", "path": str(tmp_path / "people.csv")}
    done = run.run(
        Held(), silent, source, str(tmp_path / "plan.toml"), str(tmp_path / "run"), "release.csv"
    )
    (limit,) = done["facts"]["limits"]
    said = limit_words(Wording("en"), limit)
    assert said.startswith("Highest re-identification risk: ")
    assert "class" not in said
