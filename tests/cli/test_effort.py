"""`--effort` and `--seconds` on the command line, and a real Ctrl-C during the improvement."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from random import Random
from time import sleep

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import shoal
from shoal import Plan
from shoal.datasets import hospital
from tests.command_line import left

COMMAND = ("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv", "--json", "r.json")


def test_effort_and_seconds_are_options_of_the_algorithm(run, people):
    assert run(*COMMAND, "--effort", "high", "--seconds", "0.2")[0] == 0
    found = json.loads((people / "r.json").read_text())
    assert any("limited to 0.2 seconds; another run may find" in one for one in found["notes"])


@pytest.mark.parametrize(
    ("options", "algorithm", "why"),
    [
        (("--seconds", "0"), "peel", "peel needs seconds above 0 and finite, got seconds=0.0"),
        (("--seconds", "-1"), "peel", "peel needs seconds above 0 and finite, got seconds=-1.0"),
        (("--seconds", "inf"), "peel", "peel needs seconds above 0 and finite, got seconds=inf"),
        (("--seconds", "nan"), "peel", "peel needs seconds above 0 and finite, got seconds=nan"),
        (("--effort", "hihg"), "peel", "'quick', 'normal' or 'high'; did you mean 'high'?"),
        (("--seconds", "5"), "gaa", "gaa has no option 'seconds'; remove --seconds, or use"),
    ],
)
def test_what_cannot_be_done_is_an_error(run, people, options, algorithm, why):
    plan = (people / "plan.toml").read_text()
    (people / "plan.toml").write_text(f"algorithm = '{algorithm}'\n{plan}")
    before = left(people)
    status, _, err = run(*COMMAND, *options)
    assert status == 2
    assert why in " ".join(err.split())
    assert left(people) == before


def test_a_real_interrupt_keeps_the_best_release(tmp_path):
    """Ctrl-C while classes are improved, in a process of its own, at a random moment."""
    table = hospital(1_500, seed=1)
    pa_csv.write_csv(table, tmp_path / "people.csv")
    columns = dict.fromkeys(table.column_names, "drop")
    columns |= dict.fromkeys(("birth date", "postcode", "job", "sex"), "quasi")
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 5}])
    plan.save(tmp_path / "plan.toml")
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", *COMMAND, "--seconds", "600"],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONFAULTHANDLER": "1"},
    )  # fmt: skip
    for line in process.stderr:
        if "improving groups further" in line:
            break
    sleep(1 + Random().random())
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 130, err
    assert " ".join(err.split()).count("Ctrl-C: the best that was found so far is verified") == 1
    assert left(tmp_path) == ["people.csv", "plan.toml", "r.csv", "r.json"], err
    found = json.loads((tmp_path / "r.json").read_text())
    assert any("was interrupted after" in note for note in found["notes"])
    published = pa_csv.read_csv(tmp_path / "r.csv")
    names = ["birth date", "postcode", "job", "sex"]
    sizes = published.group_by(names).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert min(sizes) >= 5
    assert sum(sizes) == 1_500


def test_a_real_interrupt_keeps_the_bound_that_is_proven(tmp_path):
    """Ctrl-C during the linear program: the release is published, with the bound so far."""
    table = hospital(1_500, seed=1)
    pa_csv.write_csv(table, tmp_path / "people.csv")
    columns = dict.fromkeys(table.column_names, "drop")
    columns |= dict.fromkeys(("birth date", "postcode", "job", "sex"), "quasi")
    models = [{"name": "k-anonymity", "k": 5}]
    Plan(columns=columns, models=models).save(tmp_path / "plan.toml")
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)
    run = [sys.executable, "interrupted.py", *COMMAND, "--effort", "high", "--seconds", "0.1"]
    process = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert process.returncode == 130, process.stderr
    said = " ".join(process.stderr.split())
    assert said.count("The release is written. Ctrl-C now ends only the proof of a lower") == 1
    before = float((tmp_path / "before").read_text())
    for name in ("interrupted.py", "before"):
        (tmp_path / name).unlink()
    assert left(tmp_path) == ["people.csv", "plan.toml", "r.csv", "r.json"], process.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    assert before - 1e-9 <= found["bound"]["value"] <= found["losses"]["nllm"]
    assert pa_csv.read_csv(tmp_path / "r.csv").num_rows == 1_500


INTERRUPTED = """
import os, signal, sys
from shoal.__main__ import main
from shoal.measures.bounds import relaxed_caps

rounds = []

class Interrupted(relaxed_caps.Relaxation):
    def improve(self, budget, report):
        rounds.append(1)
        if len(rounds) == 3:
            whole = int((self.pricing.lattice.own[:, -1] * self.pricing.size).sum())
            open('before', 'w').write(str(100 * (1 - self.bound / whole)))
            os.kill(os.getpid(), signal.SIGINT)
        return super().improve(budget, report)

relaxed_caps.Relaxation = Interrupted
sys.argv[0] = "shoal"
main()
"""


def test_a_report_of_a_timed_search_does_not_promise_the_same_release(tmp_path):
    """Even with a seed: the clock ended the search."""
    rng = np.random.default_rng(1)
    rows = pa.table({name: rng.integers(0, 9, 60) for name in "abc"})
    plan = {
        "columns": dict.fromkeys("abc", "quasi"),
        "models": [{"name": "k-anonymity", "k": 3}],
        "algorithm": {"name": "peel", "effort": "high"},
        "seed": 7,
    }
    for seconds, said in ((0.05, "ended by the clock"), (None, "exactly the same release again")):
        algorithm = {**plan["algorithm"], "seconds": seconds}
        shoal.anonymize(rows, {**plan, "algorithm": algorithm}).report(tmp_path / "report.html")
        report = (tmp_path / "report.html").read_text()
        assert said in report
        assert ("may give another release" in report) == (seconds is not None)
