"""Runs: what the page of a run says about its release."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event

from pyarrow.csv import write_csv

from shoal import draft
from shoal.base.progress import silent
from shoal.datasets.hospital import hospital
from shoal.studio.requirements.words import limit_words
from shoal.studio.tasks import run
from shoal.studio.tasks._serving import Held, done
from shoal.studio.tasks.exports import details
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


def test_the_lower_bound_can_be_skipped_and_the_report_says_so(tmp_path: Path) -> None:
    write_csv(hospital(200, 1), tmp_path / "people.csv")
    draft(tmp_path / "people.csv").changed(seed=1).save(tmp_path / "plan.toml")
    (tmp_path / "run").mkdir()
    source = {"kind": "file", "path": str(tmp_path / "people.csv")}
    held, withdrawn, seen = Held(), Event(), []

    def send(*message: object) -> None:
        seen.append(message[1])
        held.skip.set()  # as early as somebody can press the button: nothing else is skipped

    given = {
        "source": source, "plan": str(tmp_path / "plan.toml"), "folder": str(tmp_path / "run"),
        "name": "release.csv",
    }  # fmt: skip
    kind, result = done(held, "run", given, send, withdrawn)
    assert kind == "done", result
    assert "recode" in seen
    assert "analyzing" in seen
    assert held["release"].bound.percent is None
    numbers = json.loads((tmp_path / "run" / "release.json").read_text(encoding="utf-8"))
    assert "it was skipped on request" in json.dumps(numbers)
    details.run(held, silent, str(tmp_path / "run"))
    report = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "The lower bound on the loss is not known: it was skipped on request." in report
