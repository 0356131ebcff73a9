"""The command line: what it writes, what it says, and its exit status."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from shoal import Plan
from shoal.algorithms._shared.parts import cuts
from shoal.io.frames import check_writable
from tests.command_line import HEADER, PLAN, left


def test_anonymize(run, people):
    status, out, _ = run(
        "anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv", "--json", "r.json"
    )
    assert status == 0
    assert "satisfied" in out
    assert "written: r.csv" in out
    release = pa_csv.read_csv(people / "r.csv")
    assert release.column_names == ["age", "sex", "disease"]
    assert release.num_rows == 60
    numbers = json.loads((people / "r.json").read_text())
    assert set(numbers) >= {
        "rows", "published", "suppressed", "classes", "smallest_class", "average_class_size",
        "discernibility", "generalized_percent", "root_percent", "losses", "checks", "seconds",
        "seed", "version",
    }  # fmt: skip
    steps = {"read", "encode", "recode", "decode", "verify", "attack"}
    assert set(numbers["seconds"]) == steps
    assert numbers["checks"] == [
        {"model": "k-anonymity", "column": None, "required": 3,
         "reached": numbers["smallest_class"], "holds": True,
         "direction": "at least", "options": {"k": 3}}
    ]  # fmt: skip
    assert numbers["smallest_class"] >= 3
    assert numbers["seed"] == 3
    assert "Person 1" not in json.dumps(numbers) + out
    assert left(people) == ["people.csv", "plan.toml", "r.csv", "r.json"]


def test_json_on_standard_output_and_nothing_else(run, people):
    status, out, err = run(
        "anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv", "--json", "-"
    )
    assert status == 0
    assert json.loads(out)["rows"] == 60
    assert "satisfied" in err
    status, out, _ = run("audit", "r.csv", "--plan", "plan.toml", "--json", "-")
    assert status == 0
    assert set(json.loads(out)) >= {
        "rows", "people", "classes", "smallest_class", "levels", "risks", "attacks",
    }  # fmt: skip


def test_the_number_of_parts_is_an_option(run, people, monkeypatch):
    monkeypatch.setattr(cuts, "FEWEST", 1)
    command = ("anonymize", "people.csv", "--plan", "plan.toml", "--seed", "11", "--out")
    found = {}
    for parts in "auto", "1", "3":
        status, out, _ = run(*command, f"{parts}.csv", "--parts", parts, "--json", "r.json")
        assert status == 0
        assert ("cut into 3 parts" in " ".join(out.split())) == (parts == "3")
        found[parts] = json.loads((people / "r.json").read_text())["parts"]
    assert found == {"auto": 1, "1": 1, "3": 3}
    assert (people / "1.csv").read_bytes() == (people / "auto.csv").read_bytes()
    for wrong in "0", "-1", "two", "1.5":
        status, _, err = run(*command, "r.csv", "--parts", wrong)
        assert status == 2
        assert "parts" in err
        assert (f"got parts={wrong}" in err) == (wrong in ("0", "-1"))
    assert not (people / "r.csv").exists()


def test_the_number_of_threads_changes_nothing(run, people):
    command = ("anonymize", "people.csv", "--plan", "plan.toml", "--seed", "11", "--out")
    for threads in "1", "3":
        files = ("--json", f"{threads}.json", "--recoding", f"{threads}.recoding")
        assert run(*command, f"{threads}.csv", "--threads", threads, *files)[0] == 0
    assert (people / "1.csv").read_bytes() == (people / "3.csv").read_bytes()
    assert (people / "1.recoding").read_bytes() == (people / "3.recoding").read_bytes()
    one, three = (json.loads((people / f"{threads}.json").read_text()) for threads in "13")
    assert {key for key in one if one[key] != three[key]} <= {"seconds", "made"}
    for wrong in "0", "-1", "two", "1.5":
        status, _, err = run(*command, "r.csv", "--threads", wrong)
        assert status == 2
        assert "threads" in err
    assert not (people / "r.csv").exists()
    audit = ("audit", "1.csv", "--plan", "plan.toml", "--threads")
    assert run(*audit, "2")[0] == 0
    assert run(*audit, "0")[0] == 2


def test_the_same_seed_gives_the_same_bytes(run, people):
    for name in ("a.csv", "b.csv"):
        run("anonymize", "people.csv", "--plan", "plan.toml", "--out", name, "--seed", "11")
    run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "c.csv", "--seed", "12")
    assert (people / "a.csv").read_bytes() == (people / "b.csv").read_bytes()
    assert (people / "a.csv").read_bytes() != (people / "c.csv").read_bytes()


def test_nothing_that_is_read_is_overwritten(run, people):
    before = (people / "people.csv").read_bytes()
    words = ["anonymize", "people.csv", "--plan", "plan.toml"]
    for targets in (
        ["--out", "people.csv"],
        ["--out", "r.csv", "--json", "people.csv"],
        ["--out", "r.csv", "--json", "plan.toml"],
        ["--out", "r.csv", "--json", "r.csv"],
        ["--out", "r.csv", "--report", "plan.toml"],
    ):
        status, _, err = run(*words, *targets)
        assert status == 2, targets
        assert "choose another name" in err
    assert run("draft", "people.csv", "-o", "people.csv", "--force")[0] == 2
    assert (people / "people.csv").read_bytes() == before
    assert left(people) == ["people.csv", "plan.toml"]


def test_item_16_the_message_says_why_a_file_cannot_be_written(run, people):
    words = ["anonymize", "people.csv", "--plan", "plan.toml", "--out"]
    err = run(*words, "people.csv")[2]
    assert "cannot write people.csv: this command reads that file, or writes something" in err
    assert "is also" not in err
    (people / "link.csv").symlink_to("people.csv")
    assert "to it, as people.csv; choose another name" in run(*words, "link.csv")[2]


def test_item_16_names_of_files_cannot_move_the_screen(run, people):
    status, _, err = run("draft", "\x1b[2J\u202ex.csv", "-o", "new.toml")
    assert status == 2
    assert "\x1b" not in err
    assert "\u202e" not in err
    assert "\\x1b[2J\\u202ex.csv" in err


def test_report(run, people):
    words = ["anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv"]
    assert run(*words, "--report", "report.html")[0] == 0
    page = (people / "report.html").read_text(encoding="utf-8")
    assert "k-anonymity" in page
    assert "Person 1" not in page


def test_keep_order(run, people):
    run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv", "--keep-order")
    diseases = pa_csv.read_csv(people / "r.csv")["disease"].to_pylist()
    assert diseases == [f"d{i % 5}" for i in range(60)]


@pytest.mark.parametrize("name", ["r.tsv", "r.csv.gz", "r.csv.xz", "r.csv.zst", "r.parquet"])
def test_formats(run, people, name):
    assert run("anonymize", "people.csv", "--plan", "plan.toml", "--out", name)[0] == 0
    status, out, _ = run("audit", name, "--plan", "plan.toml", "--original", "people.csv")
    assert status == 0
    assert "information loss" in out


def test_audit_of_a_table_that_violates_a_requirement(run, people):
    status, out, _ = run("audit", "people.csv", "--plan", "plan.toml")
    assert status == 1
    assert "violated" in out


def test_draft_then_anonymize(run, people):
    status, out, _ = run("draft", "people.csv", "-o", "new.toml")
    assert status == 0
    assert "guesses" in out
    plan = Plan.load(people / "new.toml")
    assert plan.columns["name"].role == "identifier"
    assert plan.columns["age"].role == "quasi"
    assert plan.columns["disease"].role == "sensitive"
    assert run("anonymize", "people.csv", "--plan", "new.toml", "--out", "r.csv")[0] == 0
    status, _, err = run("draft", "people.csv", "-o", "new.toml")
    assert status == 2
    assert "--force" in err


def test_list(run):
    status, out, _ = run("list")
    assert status == 0
    for word in (
        "k-anonymity",
        "nllm",
        "gaa",
        "linkage",
        "(size | unit; default: size)",
        "free_ranges",
        ".parquet",
    ):
        assert word in " ".join(out.split())
    assert "nllm" not in run("list", "models")[1]


def test_list_suggests_the_kind_that_was_meant(run):
    status, _, err = run("list", "model")
    assert status == 2
    assert err.startswith("shoal: cannot list 'model'; did you mean 'models'? There are models, ")
    assert "Value error" not in err


RUNS = {
    "anonymize": ["people.csv", "--plan", "plan.toml", "--out", "r.csv"],
    "audit": ["people.csv", "--plan", "plan.toml", "--json", "r.json"],
    "compare": ["people.csv", "--plan", "plan.toml", "--csv", "r.csv"],
    "draft": ["people.csv", "-o", "new.toml"],
    "demo": ["--out", "d"],
    "apply": ["people.csv", "--recoding", "recoding.json", "--out", "r.csv"],
}


@pytest.mark.parametrize("command", RUNS)
def test_a_folder_that_cannot_be_written_to_is_noticed_before_the_work(
    command, run, people, monkeypatch
):
    """Permissions seem fine, and yet no file can be created, as on a full or frozen disk."""
    assert run("anonymize", *RUNS["anonymize"], "--recoding", "recoding.json")[0] == 0
    (people / "r.csv").unlink()
    before = left(people)

    def refused(path):
        raise OSError(errno.EROFS, "Read-only file system")

    def too_early(*args, **options):
        raise AssertionError("the table was read first")

    monkeypatch.setattr("shoal.io.atomic._create", refused)
    monkeypatch.setattr("shoal.cli.demo.hospital", too_early)
    for module in ("extra_rows.open_records", "draft.table_rows"):  # of all commands
        monkeypatch.setattr(f"shoal.flow.{module}.open_frame", too_early)
    status, _, err = run(command, *RUNS[command])
    assert status == 2
    assert "Read-only file system" in err
    assert left(people) in (before, sorted([*before, "d"]))


def test_the_probe_of_a_folder_leaves_nothing(tmp_path):
    check_writable(tmp_path / "release.csv")
    assert left(tmp_path) == []


def test_demo(run, tmp_path):
    status, out, _ = run("demo", "--out", "d", "--rows", "300")
    assert status == 0
    assert "Before and after" in out
    written = ["hospital.csv", "plan.toml", "release.csv", "release.json", "report.html"]
    assert left(tmp_path / "d") == written
    assert run("audit", "d/release.csv", "--plan", "d/plan.toml")[0] == 0


def test_an_interrupted_demo_says_what_it_wrote(run, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.flow.release.Release.report", stop)
    status, _, err = run("demo", "--out", "d", "--rows", "300")
    assert status == 130
    assert left(tmp_path / "d") == ["hospital.csv", "plan.toml", "release.csv", "release.json"]
    assert "nothing was written" not in err
    assert "written in d: hospital.csv, plan.toml, release.csv, release.json" in err
    assert "not written: report.html" in err


# ── Bad input gets a clear error and leaves nothing behind ──


def bad(run, people, *, status=2, plan=None, data=None, name="people.csv", out="r.csv"):
    if plan is not None:
        (people / "plan.toml").write_text(plan, encoding="utf-8")
    if data is not None:
        (people / name).write_bytes(data)
    before = left(people)
    code, printed, err = run("anonymize", name, "--plan", "plan.toml", "--out", out)
    assert code == status, err
    assert left(people) == before
    assert err.startswith("shoal: ")
    assert "Traceback" not in err
    assert printed == ""
    return err


def test_a_plan_that_names_a_column_the_table_lacks(run, people):
    err = bad(run, people, plan=PLAN.replace("sex =", "sexx ="))
    assert "'sexx'" in err
    assert "did you mean 'sex'" in err


def test_a_plan_that_lacks_a_column_of_the_table(run, people):
    err = bad(run, people, plan=PLAN.replace('sex = { role = "quasi" }\n', ""))
    assert "not mention the columns 'sex'" in err


def test_a_hierarchy_that_misses_values(run, people):
    (people / "sex.csv").write_text("f;*\n")
    role = 'sex = { role = "quasi" '
    err = bad(run, people, plan=PLAN.replace(role, role + ', hierarchy = "sex.csv" '))
    assert "column 'sex'" in err
    assert "'m' (row 2)" in err


@pytest.mark.parametrize("k", [1, 0, -3])
def test_k_below_two(run, people, k):
    assert f"needs k of 2 or more, got k={k}" in bad(
        run, people, plan=PLAN.replace("k = 3", f"k = {k}")
    )


def test_k_above_the_rows(run, people):
    err = bad(run, people, plan=PLAN.replace("k = 3", "k = 61"), status=1)
    assert "the best k possible is 60" in err


def test_an_empty_table(run, people):
    assert "no rows" in bad(run, people, data=HEADER.encode())
    assert "empty" in bad(run, people, data=b"")


def test_no_csv(run, people):
    assert bad(run, people, data=b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0")
    assert bad(run, people, data=b"PAR1 not really", name="people.parquet")


def test_invalid_encoding(run, people):
    good = (HEADER + "Zoë,30,f,flu\n").encode()
    err = bad(run, people, data=good + "Zoë,30,f,flu\n".encode("latin-1"))
    assert "UTF-8" in err
    assert "line 3" in err


def test_ragged_rows(run, people):
    err = bad(run, people, data=(HEADER + "Secret Person,30,f,flu\nSecret Person,31\n").encode())
    assert "3" in err
    assert "Secret" not in err


def test_duplicate_headers(run, people):
    assert "'age'" in bad(run, people, data=b"name,age,age,disease\na,1,2,flu\n")


def test_a_target_that_cannot_be_written(run, people):
    assert "no directory" in bad(run, people, out="nowhere/r.csv")
    (people / "file").write_text("")
    assert bad(run, people, out="file/r.csv")
    (people / "dir.csv").mkdir()
    assert bad(run, people, out="dir.csv")
    assert "format" in bad(run, people, out="r.docx")


def test_a_json_target_that_cannot_be_written(run, people):
    words = ["anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv"]
    status, _, err = run(*words, "--json", "nowhere/r.json")
    assert status == 2
    assert "no directory" in err
    assert not (people / "r.csv").exists()


def test_no_such_file_or_plan(run, people):
    assert "no such file" in bad(run, people, name="peple.csv", data=None)
    status, _, err = run("anonymize", "people.csv", "--plan", "none.toml", "--out", "r.csv")
    assert status == 2
    assert "shoal draft" in err


def test_usage(run, people):
    assert run("anonymize", "people.csv")[0] == 2
    assert run("anonimize")[0] == 2


def test_a_defect_shows_no_data(run, people, monkeypatch):
    def crash(*args, **kwargs):
        raise RuntimeError("Person 17 aged 37")

    monkeypatch.setattr(sys.modules["shoal.flow.anonymize"], "encode", crash)
    status, _, err = run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")
    assert status == 70
    assert "RuntimeError" in err
    assert "Person" not in err
    assert not (people / "r.csv").exists()


@pytest.mark.parametrize("moment", ["recode", "save"])
def test_an_interrupted_run_leaves_nothing(run, people, monkeypatch, moment):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    place = {
        "recode": "shoal.algorithms.peel.Peel.recode",
        "save": "shoal.flow.saving.verified.read_published",
    }[moment]
    monkeypatch.setattr(place, interrupt)
    before = left(people)
    status, _, err = run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")
    assert status == 130
    assert "nothing was written" in err
    assert left(people) == before


def test_a_real_interrupt_leaves_nothing(tmp_path):
    """Ctrl-C in the middle of a long run, in a process of its own."""
    from shoal.datasets import hospital

    table = hospital(150_000, seed=1)
    pa_csv.write_csv(table, tmp_path / "h.csv")
    columns = dict.fromkeys(table.column_names, "other")
    columns |= dict.fromkeys(("birth date", "postcode", "job", "admission", "sex"), "quasi")
    Plan(columns=columns, models=[{"name": "k-anonymity", "k": 50}]).save(tmp_path / "plan.toml")
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", "anonymize", "h.csv", "--plan", "plan.toml",
         "--out", "r.csv", "--json", "r.json"],
        cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONFAULTHANDLER": "1"},
    )  # fmt: skip
    assert process.stderr.readline()  # it is under way once it tells how far it is
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert left(tmp_path) == ["h.csv", "plan.toml"]
    assert process.returncode == 130


def test_help_is_quick_to_load_and_names_every_command(run):
    status, out, _ = run("--help")
    assert status == 0
    for command in ("anonymize", "audit", "compare", "draft", "list", "demo", "reproduce", "setup"):
        assert command in out


def test_strange_column_names(run, tmp_path):
    names = ["a b", r"\[/x]", 'q"uote', "[red]bold[/]", "ünï", "a.b", "x=y", "new\nline", "💥"]
    table = pa.table({name: [f"v{i % 3}" for i in range(12)] for name in names})
    pa_csv.write_csv(table, tmp_path / "odd.csv")
    Plan(columns=dict.fromkeys(names, "quasi"), models=[{"name": "k-anonymity", "k": 2}]).save(
        tmp_path / "plan.toml"
    )
    status, out, err = run("anonymize", "odd.csv", "--plan", "plan.toml", "--out", "r.csv")
    assert status == 0, err
    assert "[red]bold[/]" in out
    assert run("draft", "odd.csv", "-o", "d.toml")[0] == 0
    assert list(Plan.load(tmp_path / "d.toml").columns) == names


def test_the_risk_of_each_row_on_request(run, people):
    assert run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")[0] == 0
    words = ("audit", "r.csv", "--plan", "plan.toml", "--record-risks")
    assert run(*words, "risks.csv")[0] == 0
    lines = (people / "risks.csv").read_text().splitlines()
    assert lines[0] == "row,risk"
    assert len(lines) == 61
    assert max(float(line.split(",")[1]) for line in lines[1:]) <= 1 / 3
    status, _, err = run(*words, "r.csv")
    assert status == 2
    assert "r.csv" in err


@pytest.mark.parametrize("file", ["people.csv", "plan.toml"])
def test_a_link_to_itself_is_bad_input(run, people, file):
    """Found by the campaign: it ended with 70, as Path.resolve fails on such a link."""
    (people / file).unlink(missing_ok=True)
    (people / file).symlink_to(file)
    before = left(people)
    status, _, err = run("anonymize", "people.csv", "--plan", "plan.toml", "--out", "r.csv")
    assert status == 2, err
    assert file in err
    assert left(people) == before


def test_help_shows_brackets():
    """Help texts are markup: `[limits]` would be read as a style, and vanish."""
    from rich.text import Text
    from typer.main import get_command

    from shoal.cli.app import app

    texts = [
        getattr(one, "help", None) or ""
        for command in get_command(app).commands.values()
        for one in (command, *command.params)
    ]
    assert len(texts) > 50
    for text in texts:
        assert Text.from_markup(text).plain == text.replace("\\[", "["), text


@pytest.mark.parametrize(
    "twice",
    [("--report", "a.html", "--report", "b.pdf"), ("--out", "a.csv", "-o", "b.csv"),
     ("--report=a.html", "--report=b.html")],
)  # fmt: skip
def test_an_option_that_is_given_twice_is_refused(run, people, twice, tmp_path):
    """Only the last one would count, and nothing would say so."""
    before = set(tmp_path.iterdir())
    words = ["--plan", "plan.toml", *([] if "-o" in twice else ["--out", "out.csv"]), *twice]
    status, out, err = run("anonymize", "people.csv", *words)
    assert (status, out) == (2, "")
    assert "is given twice" in err
    assert set(tmp_path.iterdir()) == before


def test_a_value_may_look_like_an_option(run, people):
    status, _, err = run("anonymize", "people.csv", "--plan", "--out", "--out", "--out")
    assert status == 2
    assert "given twice" not in err
