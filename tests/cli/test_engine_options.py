"""`shoal anonymize --engine`: the same files as in memory, by options or by the plan."""

from __future__ import annotations

import json
import shutil


def test_engine_options(run, people):
    words = ["anonymize", "people.csv", "--plan", "plan.toml", "--seed", "1"]
    status, _, err = run(*words, "--out", "memory.csv", "--json", "memory.json",
                         "--engine", "memory")  # fmt: skip
    assert status == 0, err
    (people / "tmp").mkdir()
    status, _, err = run(
        *words, "--out", "duckdb.csv", "--json", "duckdb.json", "--report", "report.html",
        "--recoding", "recoding.json", "--engine", "duckdb", "--memory-limit", "500MB",
        "--temp-directory", "tmp",
    )  # fmt: skip
    assert status == 0, err
    lines = [sorted((people / f"{one}.csv").read_bytes().splitlines())
             for one in ("memory", "duckdb")]  # fmt: skip
    assert lines[0] == lines[1]
    found = [json.loads((people / f"{one}.json").read_text()) for one in ("memory", "duckdb")]
    assert [one["engine"] for one in found] == ["memory", "duckdb"]
    assert found[0]["checks"] == found[1]["checks"]
    assert found[0]["original_sha256"] == found[1]["original_sha256"]
    assert (people / "report.html").exists()
    assert not list((people / "tmp").iterdir())


def test_a_folder_is_one_table(run, people):
    (people / "in").mkdir()
    shutil.copy(people / "people.csv", people / "in" / "1.csv")
    shutil.copy(people / "people.csv", people / "in" / "2.csv")
    status, _, err = run("anonymize", "in", "--plan", "plan.toml", "--out", "out.csv",
                         "--json", "out.json")  # fmt: skip
    assert status == 0, err
    assert json.loads((people / "out.json").read_text())["rows"] == 120
    status, _, err = run("anonymize", "in", "--plan", "plan.toml", "--out", "again.csv",
                         "--codebook", "codebook.html")  # fmt: skip
    assert (status, "does not support a codebook" in err) == (2, True), err
    assert not (people / "again.csv").exists()  # the engine is known before the work
    status, _, err = run("anonymize", "in", "--plan", "plan.toml", "--out", "in/out.csv")
    assert status == 2
    assert "reads all files of in" in err


def test_the_advice_about_a_folder_is_true_for_the_command(run, people):
    """`audit` refuses DuckDB, and `draft` has no engines: neither may be advised to use one."""
    (people / "in").mkdir()
    shutil.copy(people / "people.csv", people / "in" / "1.csv")
    advice = "anonymize reads a folder with engine = 'duckdb' or 'spark', audit with 'spark'"
    for command in (
        ["audit", "in", "--plan", "plan.toml"],
        ["audit", "people.csv", "--plan", "plan.toml", "--original", "in"],
        ["draft", "in", "-o", "drafted.toml"],
        ["compare", "in", "--plan", "plan.toml", "--k", "2", "--algorithms", "gaa"],
        ["anonymize", "in", "--plan", "plan.toml", "--out", "out.csv", "--engine", "memory"],
    ):
        status, _, err = run(*command)
        assert (status, advice in err) == (2, True), err


def test_bad_options(run, people):
    words = ["anonymize", "people.csv", "--plan", "plan.toml", "--out", "out.csv"]
    for more, said in (
        (["--engine", "duckbd"], "duckdb"),
        (["--memory-limit", "many"], "a number and a unit"),
        (["--engine", "duckdb", "--temp-directory", "nowhere"], "no directory"),
        (["--engine", "duckdb", "--keep-order"], "keep_order"),
    ):
        status, _, err = run(*words, *more)
        assert (status, said in err) == (2, True), err
    assert not (people / "out.csv").exists()
