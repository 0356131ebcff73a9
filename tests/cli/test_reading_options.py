"""What a text file does not show is said once, to draft or setup, and stays in the plan."""

from __future__ import annotations

import pytest

import shoal
from shoal import BadPlan
from shoal.io.reading import Reading

ROWS = [f"{20 + i % 7}|{'fm'[i % 2]}|é{i % 2}" for i in range(40)]
STATED = Reading(encoding="cp850", delimiter="|", header=False, comment="%")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "people.txt"
    path.write_bytes("\n".join(["% made up", *ROWS, ""]).encode("cp850"))
    return path


def test_a_file_without_a_header_from_the_draft_to_the_audit(data, run, tmp_path):
    status, _, err = run("draft", data, "-o", "plan.toml", "--comment", "%")
    assert (status, "--no-header" in err) == (2, True), err
    words = ["--encoding", "cp850", "--delimiter", "|", "--no-header", "--comment", "%"]
    for command in (["draft"], ["setup", "--force", "--answers", "answers.toml"]):
        (tmp_path / "answers.toml").write_text("", encoding="utf-8")
        status, _, err = run(command[0], data, "-o", "plan.toml", *command[1:], *words)
        assert status == 0, err
        plan = shoal.Plan.load(tmp_path / "plan.toml")
        assert plan.read == STATED
        assert list(plan.columns) == ["column_1", "column_2", "column_3"]
    status, _, err = run("anonymize", data, "--plan", "plan.toml", "--out", "release.txt")
    assert status == 0, err
    lines = (tmp_path / "release.txt").read_bytes().decode("utf-8-sig").splitlines()
    assert len(lines) == len(ROWS)
    status, _, err = run("audit", "release.txt", "--plan", "plan.toml", "--original", data)
    assert status == 0, err


def test_in_python(data):
    assert shoal.draft(data, read=STATED.stated()).read == STATED
    assert shoal.draft(data, read=STATED).read == STATED
    with pytest.raises(BadPlan, match="delimiter"):
        shoal.draft(data, read={"delimiter": "||"})


def test_a_tab_has_a_name(run, tmp_path):
    rows = "\n".join(row.replace("|", "\t") for row in ROWS)
    (tmp_path / "people.txt").write_text(rows, encoding="utf-8")
    assert (
        run("draft", "people.txt", "-o", "plan.toml", "--no-header", "--delimiter", "tab")[0] == 0
    )
    assert shoal.Plan.load(tmp_path / "plan.toml").read == Reading(delimiter="\t", header=False)
