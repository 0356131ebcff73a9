"""`shoal audit --row` and `--class`: what an attacker sees, on the screen and in the JSON."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def released(run, people):
    assert run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")[0] == 0
    return people


def test_a_row_and_a_class(run, released):
    words = ["audit", "r.csv", "--plan", "plan.toml", "--original", "people.csv"]
    status, out, _ = run(*words, "--row", "2", "--json", "a.json")
    assert status == 0
    flat = " ".join(out.split())
    assert "What an attacker sees of record 2" in flat
    view = json.loads((released / "a.json").read_text())["attacker_view"]
    row = (released / "r.csv").read_text().splitlines()[2]
    for value in view["published"].values():
        assert value in row
        assert value in flat
    assert view["row"] == 1  # as in Python, where the first is 0
    assert f"{view['people']} people look like this" in flat
    assert f"; required: {view['required']})" in flat
    assert "Person" not in out
    status, out, _ = run(*words, "--class", "1")
    assert status == 0
    assert "What an attacker sees of class 1 (1 is the smallest)" in " ".join(out.split())
    assert "of record" not in out
    lines = out.partition("published as")[2].splitlines()
    assert all(len(line) <= 80 for line in lines)  # broken between words, not by the terminal


def test_without_the_original(run, released):
    status, out, _ = run("audit", "r.csv", "--plan", "plan.toml", "--class", "1")
    assert status == 0
    flat = " ".join(out.split())
    assert "if the attacker also knew disease:" in flat
    assert "without the original it is not known" in flat


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--row", "1", "--class", "1"], "give --row or --class, not both"),
        (["--row", "0"], "--row counts from 1, got 0"),
        (["--class", "-3"], "--class counts from 1, got -3"),
        (["--row", "61"], "there is no row 61: the rows are 1 to 60"),
        (["--class", "1000"], "there is no class 1000: the classes are 1 to"),
    ],
)
def test_rows_and_classes_that_are_not_there(run, released, words, message):
    status, _, error = run("audit", "r.csv", "--plan", "plan.toml", *words)
    assert status == 2
    assert message in error


def test_values_cannot_move_the_cursor(run, people):
    rows = "".join(f"Person {i},20,\x1b[2Jf[red],d{i % 2}\n" for i in range(6))
    (people / "odd.csv").write_text("name,age,sex,disease\n" + rows)
    assert run("anonymize", "odd.csv", "--plan", "plan.toml", "--out", "r.csv")[0] == 0
    status, out, _ = run("audit", "r.csv", "--plan", "plan.toml", "--row", "1")
    assert status == 0
    assert "\x1b" not in out
    assert "?[2Jf[red]" in out
