"""What the screen shows of analyses, and the option --target."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.cli.audit_tables import show_audit
from tests.cli.test_console import printed


def audit():
    rng = np.random.default_rng(0)
    n = 300
    age = rng.integers(20, 80, n)
    table = pa.table(
        {
            "age": age,
            "job": rng.choice(["nurse", "clerk", "cook"], n),
            "hours": age + rng.integers(0, 9, n),
            "disease": rng.choice(["flu", "gout"], n),
        }
    )
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [10, 40]}},
        "job": "quasi",
        "hours": "other",
        "disease": "sensitive",
    }
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 20}], seed=1)
    return shoal.audit(shoal.anonymize(table, plan).frame, plan, original=table)


def test_an_audit_shows_how_far_off_analyses_are():
    found = audit()
    lines = [" ".join(line.split()) for line in printed(show_audit, found, width=120).splitlines()]
    age, _ = found.analyses.numbers
    row = next(line for line in lines if line.startswith("age "))
    kept = next(one for one in found.analyses.kept if one.column == "age")
    assert f"at least {kept.percent:.1f} %" in row
    assert f"{age.mean.before.value:.2f} ±" in row
    assert f"{age.mean.after.value:.2f}" in row
    row = next(line for line in lines if line.startswith("hours "))
    assert row.startswith("hours 100 %")
    (correlation,) = found.analyses.correlations
    before, after = correlation.correlation.before, correlation.correlation.after
    row = next(line for line in lines if line.startswith("age and hours"))
    assert f"correlation {before.value:.3f} {before.low:.3f} to {before.high:.3f}" in row
    mark = "" if correlation.correlation.inside else " !"
    assert row.endswith(f"{after.value:.3f}{mark}")
    outside = any(one.inside is False for one in found.analyses.compared)
    assert outside == any("! marks an estimate" in line for line in lines)
    assert outside


def test_nothing_is_cut_on_a_narrow_screen():
    text = printed(show_audit, audit(), width=60)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 60


def test_target(run, people):
    pytest.importorskip("sklearn")
    words = ["--plan", "plan.toml", "--target", "disease"]
    status, out, _ = run(
        "anonymize",
        "people.csv",
        *words,
        "--out",
        "r.csv",
        "--json",
        "r.json",
        "--report",
        "r.html",
    )
    assert status == 0
    assert "Models that predict disease" in out
    assert "release: gradient boosting" in out
    learned = json.loads((people / "r.json").read_text())["utility"]["learning"]["disease"]
    assert learned["paired"]
    assert (learned["tested"], learned["trained"], learned["values"]) == (20, 40, 5)
    page = (people / "r.html").read_text()
    assert "Models that predict disease" in page
    original = ["--original", "people.csv", "--json", "-"]
    status, out, shown = run("audit", "r.csv", *words, *original)
    assert status == 0
    assert json.loads(out)["utility"]["learning"]["disease"]["paired"] is False
    assert "took one published record that could be its own" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["audit", "people.csv", "--target", "disease"], "give it (--original)"),
        (["anonymize", "people.csv", "--out", "r.csv", "--target", "age"], "is a quasi-identifier"),
        (["anonymize", "people.csv", "--out", "r.csv", "--target", "diseas"], "did you mean 'dise"),
    ],
)
def test_a_target_that_cannot_be_predicted_is_refused_before_the_work(run, people, words, message):
    status, _, error = run(*words, "--plan", "plan.toml")
    assert status == 2
    assert message in error
    assert not (people / "r.csv").exists()


def test_a_target_with_a_single_value_is_refused_before_anything_is_written(run, people):
    lines = (people / "people.csv").read_text(encoding="utf-8").splitlines()
    at = lines[0].split(",").index("disease")
    cells = [line.split(",") for line in lines[1:]]
    same = [",".join([*row[:at], "flu", *row[at + 1 :]]) for row in cells]
    (people / "same.csv").write_text("\n".join([lines[0], *same, ""]), encoding="utf-8")
    words = ["--plan", "plan.toml", "--out", "r.csv", "--target", "disease", "--report", "r.html"]
    status, _, error = run("anonymize", "same.csv", *words)
    assert status == 2
    assert "column 'disease' has a single value" in error
    assert "is written" not in error
    assert not (people / "r.csv").exists()
    assert not (people / "r.html").exists()
