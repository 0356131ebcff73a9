"""`-`: tables from standard input, releases to standard output."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest

from shoal.io.frames import read, write
from tests.io.tables import values

PLAN = ("--plan", "plan.toml")


@pytest.fixture
def piped(run, monkeypatch, tmp_path):
    """Run a command with these bytes on standard input; nothing stays in the temporary folder."""
    temp = tmp_path / "temp"
    temp.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temp))

    def call(content, *words):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        found = run(*words)
        assert list(temp.iterdir()) == []
        return found

    return call


def test_from_a_pipe_into_a_pipe(people, piped):
    content = (people / "people.csv").read_bytes()
    seed = ("--seed", "3")
    assert piped(b"", "anonymize", "people.csv", *PLAN, *seed, "--out", "release.csv")[0] == 0
    status, out, err = piped(content, "anonymize", "-", *PLAN, *seed, "--out", "-")
    assert status == 0
    assert out == (people / "release.csv").read_text(encoding="utf-8")
    assert "k-anonymity" in err
    assert "written" not in err
    status, out, _ = piped(out.encode(), "audit", "-", *PLAN, "--json", "-")
    assert status == 0
    assert json.loads(out)["holds"]
    words = ("audit", "release.csv", *PLAN, "--original", "-", "--json", "-")
    assert "losses" in json.loads(piped(content, *words)[1])
    assert piped(content, "draft", "-", "-o", "drafted.toml")[0] == 0
    assert (people / "drafted.toml").exists()
    status, _, err = piped(content, "setup", "-", "-o", "asked.toml")
    assert (status, "--answers" in err) == (2, True), err
    assert not (people / "asked.toml").exists()
    (people / "answers.toml").write_text("", encoding="utf-8")
    assert piped(content, "setup", "-", "-o", "asked.toml", "--answers", "answers.toml")[0] == 0


def test_the_report_has_the_checksum_of_what_was_piped(people, piped):
    content = (people / "people.csv").read_bytes()
    report = ("--report", "report.html")
    status, out, _ = piped(content, "anonymize", "-", *PLAN, *report, "--out", "-")
    assert status == 0
    page = (people / "report.html").read_text(encoding="utf-8")
    assert page.count(sha256(out.encode()).hexdigest()) == 2
    assert "SHA-256 of what went to standard output" in page
    assert "shoal-" not in page  # the temporary folder


def test_the_recoding_of_a_release(people, piped):
    content = (people / "people.csv").read_bytes()
    files = ("--recoding", "recoding.json")
    assert piped(content, "anonymize", "-", *PLAN, *files, "--out", "-")[0] == 0
    status, out, _ = piped(content, "apply", "-", *files, "--out", "-")
    assert status == 0
    assert len(out.splitlines()) > 50


def test_other_formats(people, piped, monkeypatch):
    write(read(people / "people.csv"), people / "people.parquet")
    content = (people / "people.parquet").read_bytes()
    form = ("--format", "parquet")
    assert piped(content, "anonymize", "-", *PLAN, *form, "--out", "release.csv")[0] == 0
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    assert piped(content, "anonymize", "-", *PLAN, *form, "--out", "-")[0] == 0
    (people / "back.parquet").write_bytes(out.buffer.getvalue())
    found = [sorted(values(read(people / name))["age"]) for name in ("back.parquet", "release.csv")]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--out", "-", "--json", "-"), "- can be given once only"),
        (("--out", "-", "--format", "parket"), "no format 'parket'; did you mean 'parquet'?"),
    ],
)
def test_what_is_refused(people, piped, words, message):
    status, out, err = piped(b"a,b\n", "anonymize", "-", *PLAN, *words)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    "words",
    [
        ("draft", "people.csv", "-o", "-"),
        ("setup", "people.csv", "-o", "-"),
        ("anonymize", "people.csv", *PLAN, "--out", "release.csv", "--report", "-"),
        ("anonymize", "people.csv", *PLAN, "--out", "release.csv", "--codebook", "-"),
    ],
)
def test_no_file_is_called_like_standard_output(people, piped, words):
    status, _, err = piped(b"", *words)
    assert status == 2
    assert "only a release (--out -) and JSON (--json -) go to standard output" in err
    assert not (people / "-").exists()


def test_nothing_is_passed_on_unless_it_is_verified(people, piped):
    status, out, err = piped(b"age\n1\n", "anonymize", "-", *PLAN, "--out", "-")
    assert (status, out) == (2, "")
    assert "shoal: " in err
    assert "the file is empty" in piped(b"", "anonymize", "-", *PLAN, "--out", "-")[2]
    few = b"".join((people / "people.csv").read_bytes().splitlines(keepends=True)[:2])
    status, out, _ = piped(few, "anonymize", "-", *PLAN, "--out", "-")
    assert (status, out) == (1, "")


def test_a_terminal_is_no_table(people, run, monkeypatch):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO()))
    assert "it is a terminal" in run("audit", "-", *PLAN)[2]


def test_files_are_private(people, piped, monkeypatch):
    seen = []

    def look(path, *_, **__):
        seen.append(Path(path).parent.stat().st_mode & 0o777)
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.flow.draft.table_rows.open_frame", look)
    assert piped(b"a\n1\n", "draft", "-", "-o", "x.toml")[0] == 130
    assert seen == [0o700]


def test_messages_say_standard_input_and_not_where_it_is_kept(people, piped):
    content = (people / "people.csv").read_bytes()
    words = ("anonymize", "-", *PLAN, "--out", "r.csv", "--format", "parquet")
    status, _, err = piped(content, *words)
    assert status == 2
    assert "cannot read standard input: " in err
    assert "not of the format that --format names" in err
    status, _, err = piped(b"age,age\n1,2\n", "draft", "-", "-o", "drafted.toml")
    assert err.startswith("shoal: standard input has several columns of the same name: 'age'")
