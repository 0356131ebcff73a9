"""Limits on the command line: a limit that is exceeded is exit status 1, and nothing is written."""

from __future__ import annotations

import hashlib
import json
import pickle
import re

import pytest

import shoal
from shoal import NotHeld
from tests.command_line import PLAN, left
from tests.report.test_release_report import Seen, check_safe

LIMITS = "[limits]\nhighest_risk = {risk}\nloss = 90\nattacks = {{ homogeneity = 1 }}\n"


def limited(folder, risk):
    plan = PLAN.replace("[columns]", LIMITS.format(risk=risk) + "\n[columns]")
    (folder / "plan.toml").write_text(plan)


def test_a_release_within_its_limits(run, people):
    limited(people, 0.34)
    status, out, _ = run(
        "anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv", "--json", "r.json"
    )
    assert status == 0
    said = " ".join(out.split())
    assert "highest re-identification risk at most 34 % 33.3 % ▲ amber" in said
    assert "✔ green" in said
    found = json.loads((people / "r.json").read_text())["limits"]
    assert [one["name"] for one in found] == ["highest_risk", "attacks.homogeneity", "loss"]
    assert found[0] == {
        "name": "highest_risk", "limit": 0.34, "reached": 1 / 3, "verdict": "amber"
    }  # fmt: skip


def test_a_release_beyond_a_limit(run, people):
    limited(people, 0.09)
    command = ("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")
    status, _, err = run(*command, "--json", "r.json", "--report", "r.html", "--recoding", "r.rec")
    assert status == 1
    assert "highest_risk is 33.3 %, and the limit is 9 %" in " ".join(err.split())
    assert left(people) == ["people.csv", "plan.toml"]


@pytest.mark.parametrize(
    ("ending", "engine"), [("html", "memory"), ("html", "duckdb"), ("json", "memory")]
)
def test_why_it_was_refused_is_written_if_it_is_asked_for(run, people, ending, engine):
    """No release and nothing else; a page that says so on top, and no value of the table."""
    limited(people, 0.09)
    head, *rows = (people / "people.csv").read_text().splitlines()
    marked = [row.replace(",d", ",Diagnose").replace(",f,", ",Frau,") for row in rows]
    (people / "people.csv").write_text("\n".join([head, *marked]) + "\n")
    command = ("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")
    command = (*command, "--engine", engine)
    others = ("--json", "r.json", "--report", "r.html", "--recoding", "r.rec")
    status, _, err = run(*command, *others, "--refused-report", f"why.{ending}")
    assert status == 1
    assert f"no release is written; why it was refused is in why.{ending}" in " ".join(err.split())
    assert left(people) == ["people.csv", "plan.toml", f"why.{ending}"]
    text = (people / f"why.{ending}").read_text()
    assert not re.search("Diagnose|Frau|Person 1", text)
    assert "k-anonymity with k = 12 keeps to it" in text.replace("\xa0", " ")
    if ending == "json":
        found = json.loads(text)
        assert found["released"] is False
        assert [one["verdict"] for one in found["limits"]] == ["red", "green", "green"]
        assert found["limits"][0]["reached"] == pytest.approx(1 / 3)
        return
    first = Seen(text.partition("<section")[0]).text.replace("\xa0", " ")
    assert "Not released. ✖ The requirement is satisfied. Beyond 1 of 3 limits: 1 red" in first
    assert re.search("highest re-identification risk ?at most 9 % ?33.3 % ?✖ red", first)
    plan = hashlib.sha256((people / "plan.toml").read_bytes()).hexdigest()
    assert plan in first
    for word in ("Signature", "☐ publish", "Release report", "Made by", "Random seed"):
        assert word not in text
    check_safe(text)


def test_no_report_of_a_refusal_where_nothing_is_refused(run, people):
    limited(people, 0.34)
    command = ("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")
    assert run(*command, "--refused-report", "why.html")[0] == 0
    assert left(people) == ["people.csv", "plan.toml", "r.csv"]
    status, _, err = run(*command, "--refused-report", "plan.toml")
    assert status == 2
    assert "plan.toml" in err


def test_an_error_that_travels_takes_no_table_along(people):
    limited(people, 0.09)
    with pytest.raises(NotHeld) as error:
        shoal.anonymize(people / "people.csv", people / "plan.toml")
    assert error.value.refused is not None
    again = pickle.loads(pickle.dumps(error.value))
    assert again.refused is None
    assert str(again) == str(error.value)
    with pytest.raises(AttributeError):
        error.value.refused.save(people / "r.csv")


def test_a_recoding_keeps_the_limits(run, people):
    limited(people, 0.34)
    made = run(
        "anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv", "--recoding", "r.rec"
    )
    assert made[0] == 0
    (people / "r.csv").unlink()
    head, *rows = (people / "people.csv").read_text().splitlines()
    (people / "few.csv").write_text("\n".join([head, *rows[:40]]) + "\n")
    status, out, err = run("apply", "few.csv", "--recoding", "r.rec", "--out", "r.csv")
    assert status == 0, err
    assert "▲ amber" in out
    (people / "r.rec").unlink()


def test_a_recoding_is_not_applied_beyond_a_limit(run, people):
    """Records with a value that the recoding does not know are suppressed, and none may be."""
    (people / "plan.toml").write_text(PLAN + "\n[limits]\nsuppressed = 0.0\n")
    made = run(
        "anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv", "--recoding", "r.rec"
    )
    assert made[0] == 0, made[2]
    (people / "r.csv").unlink()
    with (people / "people.csv").open("a") as file:
        file.write("Person 60,30,x,d1\n")
    before = left(people)
    status, _, err = run(
        "apply", "people.csv", "--recoding", "r.rec", "--out", "r.csv", "--json", "r.json"
    )
    assert status == 1
    assert "suppressed is 1.6 %, and the limit is 0 %" in " ".join(err.split())
    assert left(people) == before
    status, _, err = run(
        "apply", "people.csv", "--recoding", "r.rec", "--out", "r.csv", "--refused-report", "w.html"
    )
    assert status == 1
    assert left(people) == sorted([*before, "w.html"])
    assert "Not released" in (people / "w.html").read_text()


def test_an_audit_reports_limits_and_fails(run, people):
    limited(people, 0.34)
    assert run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")[0] == 0
    status, out, _ = run("audit", "r.csv", "--plan", "plan.toml")
    assert status == 0
    assert "information loss (nllm) at most 90 % – ? unknown" in " ".join(out.split())
    limited(people, 0.09)
    status, out, _ = run("audit", "r.csv", "--plan", "plan.toml", "--json", "a.json")
    assert status == 1
    assert "✖ red" in out
    found = json.loads((people / "a.json").read_text())
    assert not found["holds"]
    assert found["limits"][0]["verdict"] == "red"
    assert found["checks"][0]["holds"]


def test_a_bad_limit_is_bad_input(run, people):
    limited(people, 9)
    status, _, err = run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")
    assert status == 2
    assert "needs highest_risk above 0 and at most 1, got highest_risk=9" in " ".join(err.split())
    assert left(people) == ["people.csv", "plan.toml"]
