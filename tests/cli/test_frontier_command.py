"""The command `shoal frontier`."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.command_line import left

WORDS = ("frontier", "people.csv", "--plan", "plan.toml")


def test_the_command(run, people):
    targets = ("--json", "f.json", "--csv", "f.csv", "--plot", "f.svg")
    status, out, err = run(*WORDS, "--k", "3,6,12", *targets)
    assert status == 0, err
    assert "Loss against risk" in out
    assert "►" in out
    numbers = json.loads((people / "f.json").read_text())
    assert [one["setting"] for one in numbers["points"]] == ["k = 3", "k = 6", "k = 12"]
    rows = list(csv.DictReader(io.StringIO((people / "f.csv").read_text())))
    assert [row["k"] for row in rows] == ["3", "6", "12"]
    assert "k = 12" in (people / "f.svg").read_text()
    assert (people / "f.json").stat().st_mode & 0o077 == 0
    assert left(people) == ["f.csv", "f.json", "f.svg", "people.csv", "plan.toml"]
    assert "Person" not in (people / "f.csv").read_text() + out + json.dumps(numbers)


def test_the_knee_is_marked_and_a_setting_recommended(run, people):
    status, out, err = run(*WORDS, "--k", "2,3,4,6,10,20", "--json", "f.json", "--plot", "f.svg")
    assert status == 0, err
    numbers = json.loads((people / "f.json").read_text())
    (knee,) = [one["setting"] for one in numbers["points"] if one["knee"]]
    assert numbers["knee"] == knee
    shown = " ".join(out.split())
    assert f"► {numbers['advice'][0]}" in shown
    assert "points" in numbers["advice"][0] or "is the knee" in numbers["advice"][0]
    (row,) = [line for line in out.splitlines() if line.strip().startswith(f"{knee} ")]
    assert "knee" in row
    assert "knee" in (people / "f.svg").read_text()


@pytest.mark.parametrize(
    ("limits", "status", "said"),
    [
        ("highest_risk = 0.125", 0, "The setting that loses least within the limits is k ="),
        ("loss = 20", 0, "The safest setting within the limits is k ="),
        ("highest_risk = 0.1\nloss = 0.01", 1, "within all limits of the plan"),
    ],
)
def test_the_best_setting_within_limits(run, people, limits, status, said):
    text = (people / "plan.toml").read_text()
    (people / "plan.toml").write_text(f"{text}\n[limits]\n{limits}\n")
    found, out, err = run(*WORDS, "--k", "3,12", "--limits", "--json", "f.json")
    assert found == status, err
    assert said in " ".join(out.split())
    numbers = json.loads((people / "f.json").read_text())
    if status:
        assert numbers["chosen"] is None
        assert "no setting is within the limits of the plan" in err
        return
    (chosen,) = [one for one in numbers["points"] if one["setting"] == numbers["chosen"]]
    assert chosen["within"]
    assert chosen["highest"] <= 0.125 or chosen["lost"] <= 20
    (other,) = [one for one in numbers["points"] if one["k"] == (3 if "risk" in limits else 12)]
    assert not other["within"]
    assert 3 < chosen["k"] < 12


def test_another_model_in_addition(run, people):
    extra = "distinct-l-diversity:column=disease:l=2"
    status, out, err = run(*WORDS, "--k", "3", "--also", extra, "--json", "-")
    assert status == 0, err
    numbers = json.loads(out)
    assert numbers["points"][1]["setting"] == "k = 3, with distinct-l-diversity[disease] (l = 2)"


def test_wrong_words(run, people):
    status, _, err = run(*WORDS, "--risk", "averge")
    assert status == 2
    assert "did you mean 'average'?" in err
    status, _, err = run(*WORDS, "--k", "two")
    assert status == 2
    assert "--k is a list of numbers" in err
    status, _, err = run(*WORDS, "--plot", "f.pdf")
    assert status == 2


def test_a_setting_without_a_release_is_reported(run, people):
    status, out, err = run(*WORDS, "--k", "5000", "--csv", "f.csv")
    assert status == 0, err
    assert "k = 5,000: no release" in out
    rows = csv.DictReader(io.StringIO((people / "f.csv").read_text()))
    reasons = [row["reason"] for row in rows]
    assert reasons[0] == ""
    assert "cannot be reached" in reasons[1]
