"""A spreadsheet with several sheets, from the draft to the audit."""

from __future__ import annotations

import pytest
import xlsxwriter

import shoal
from shoal.cli import main as cli
from shoal.io.frames import read
from shoal.io.reading import Reading


def run(monkeypatch, *words) -> int:
    monkeypatch.setattr("sys.argv", ["shoal", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        book.add_worksheet("About").write_string(0, 0, "made up")
        sheet = book.add_worksheet("People")
        sheet.write_row(0, 0, ["age", "sex", "zip"])
        for i in range(40):
            sheet.write_row(1 + i, 0, [20 + i % 7, "fm"[i % 2], f"0130{i % 2}"])
    return path


def test_the_sheet_is_named_once_and_stays_in_the_plan(data, tmp_path, monkeypatch, capsys):
    plan, out = tmp_path / "plan.toml", tmp_path / "release.xlsx"
    assert run(monkeypatch, "draft", data, "-o", plan) == 2
    assert "2 sheets: 'About', 'People'" in capsys.readouterr().err
    assert run(monkeypatch, "draft", data, "-o", plan, "--sheet", "People") == 0
    assert shoal.Plan.load(plan).read == Reading(sheet="People")
    shoal.Plan.load(plan).changed(models=[{"name": "k-anonymity", "k": 2}], seed=1).save(plan)
    assert run(monkeypatch, "anonymize", data, "--plan", plan, "--out", out) == 0
    assert read(out, None, Reading(sheet="People")).height == 40
    assert run(monkeypatch, "audit", out, "--plan", plan) == 0


def test_a_sheet_on_the_command_line_replaces_that_of_the_plan(data, tmp_path, monkeypatch, capsys):
    plan = tmp_path / "plan.toml"
    assert run(monkeypatch, "draft", data, "-o", plan, "--sheet", "People") == 0
    words = ("anonymize", data, "--plan", plan, "--out", tmp_path / "r.csv", "--sheet", "Abuot")
    assert run(monkeypatch, *words) == 2
    assert "no sheet 'Abuot'; did you mean 'About'?" in capsys.readouterr().err
