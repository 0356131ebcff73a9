"""The command `shoal apply`: what it writes, and its exit status."""

from __future__ import annotations

import json

import pyarrow.csv as pa_csv
import pytest

from tests.command_line import PLAN, left, write_people


@pytest.fixture
def people(tmp_path):
    """A table to fit, another to apply the recoding to, and the plan."""
    write_people(tmp_path / "train.csv", range(90))
    write_people(tmp_path / "test.csv", range(100, 190))
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


def test_fit_and_apply_on_the_command_line(run, people):
    fit = ["anonymize", "train.csv", "--plan", "plan.toml", "--out", "r.csv"]
    status, out, err = run(*fit, "--recoding", "fit.json")
    assert status == 0, err
    assert "written: fit.json" in out
    words = ["apply", "test.csv", "--recoding", "fit.json", "--out", "new.csv"]
    status, out, err = run(*words, "--json", "new.json", "--report", "new.html")
    assert status == 0, err
    assert "satisfied" in out
    numbers = json.loads((people / "new.json").read_text())
    assert numbers["rows"] == 90
    assert set(numbers["applied"]) == {
        "rows", "unknown", "unknown_rows", "no_class", "broken", "moved", "classes", "dropped",
        "most_left_out", "left_out",
    }  # fmt: skip
    assert pa_csv.read_csv(people / "new.csv").num_rows == numbers["published"]
    assert "Person 101" not in (people / "new.html").read_text(encoding="utf-8") + out
    assert run("audit", "new.csv", "--plan", "plan.toml", "--original", "test.csv")[0] == 0
    for name in ("a.csv", "b.csv"):
        assert run(*words[:-1], name, "--seed", "4")[0] == 0
    assert (people / "a.csv").read_bytes() == (people / "b.csv").read_bytes()
    status, out, _ = run(*words, "--json", "-")
    assert json.loads(out)["rows"] == 90


def test_the_command_writes_nothing_where_it_fails(run, people):
    fit = ["anonymize", "train.csv", "--plan", "plan.toml", "--out", "r.csv"]
    assert run(*fit, "--recoding", "fit.json")[0] == 0
    words = ["apply", "test.csv", "--out", "new.csv"]
    (people / "few.csv").write_text("name,age,sex,disease\nZoe,21,m,d1\nYva,41,m,d2\n")
    (people / "strange.csv").write_text("name,age,disease\nZoe,21,d1\n")
    (people / "more.csv").write_text("name,age,sex,disease,x\n" + "Zoe,21,f,d1,1\n" * 4)
    (people / "broken.json").write_text((people / "fit.json").read_text()[:200])
    before = left(people)
    for status, call in (
        (1, ["apply", "few.csv", "--recoding", "fit.json", "--out", "new.csv"]),
        (2, ["apply", "strange.csv", "--recoding", "fit.json", "--out", "new.csv"]),
        (2, ["apply", "more.csv", "--recoding", "fit.json", "--out", "new.csv"]),
        (1, [*words, "--recoding", "fit.json", "--most-left-out", "0"]),
        (2, [*words, "--recoding", "fit.json", "--most-left-out", "5"]),
        (2, [*words, "--recoding", "broken.json"]),
        (2, [*words, "--recoding", "none.json"]),
        (2, [*words, "--recoding", "plan.toml"]),
        (2, ["apply", "test.csv", "--recoding", "fit.json", "--out", "fit.json"]),
        (2, ["apply", "test.csv", "--recoding", "fit.json", "--out", "test.csv"]),
        (2, [*words, "--recoding", "fit.json", "--report", "new.csv"]),
        (2, [*fit, "--recoding", "plan.toml"]),
        (2, [*fit, "--recoding", "r.csv"]),
        (2, [*fit, "--recoding", "nowhere/fit.json"]),
    ):
        code, _, err = run(*call)
        assert code == status, (call, err)
        assert err.startswith("shoal: ")
        assert "Zoe" not in err
        assert left(people) == before
