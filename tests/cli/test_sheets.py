"""A spreadsheet with several sheets, from the draft to the audit."""

from __future__ import annotations

import pytest
import xlsxwriter

import shoal
from shoal.base.errors import BadFile
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


def test_every_command_takes_a_sheet(data, tmp_path, monkeypatch, capsys):
    """A plan without one: the table, the original and the population are in sheets of one file."""
    plan, out, recoding = tmp_path / "plan.toml", tmp_path / "release.xlsx", tmp_path / "r.json"
    drafted = shoal.draft(data, read={"sheet": "People"}).changed(
        read={}, models=[{"name": "k-anonymity", "k": 2}], seed=1
    )
    drafted.save(plan)
    sheet = ("--sheet", "People")
    words = ("anonymize", data, "--plan", plan, "--out", out, "--recoding", recoding)
    assert run(monkeypatch, *words) == 2
    assert "name the one to read" in capsys.readouterr().err
    assert run(monkeypatch, *words, *sheet) == 0
    words = ("audit", data, "--plan", plan, "--original", data, "--population", data)
    assert run(monkeypatch, *words, *sheet, "--original-sheet", "People") == 2
    assert "name the one to read" in capsys.readouterr().err
    more = ("--original-sheet", "People", "--population-sheet", "People")
    assert run(monkeypatch, *words, *more) == 2
    assert run(monkeypatch, *words, *sheet, *more) in (0, 1)
    words = ("apply", data, "--recoding", recoding, "--out", tmp_path / "new.csv", *sheet)
    assert run(monkeypatch, *words) == 0
    for words in (
        ("compare", data, "--plan", plan, "--algorithms", "mondrian", "--k", "2"),
        ("frontier", data, "--plan", plan, "--k", "2,3"),
    ):
        assert run(monkeypatch, *words) == 2
        assert run(monkeypatch, *words, *sheet) == 0


def test_the_rows_of_a_table_between_titles_and_notes(tmp_path, monkeypatch, capsys):
    """They are found, or given if there are two tables; the plan states them, with a comment."""
    path, plan = tmp_path / "office.xlsx", tmp_path / "plan.toml"
    people = [[20 + i % 7, "fm"[i % 2], f"0130{i % 2}"] for i in range(40)]
    rows = [["Table 1: people"], [], ["age", "sex", "zip"], *people, [], ["Source: register"]]
    second = [[], ["year", "people", "share"], [2024, 40, 1]]
    for more, given in (([], ()), (second, ("--header-row", "3", "--last-row", "43"))):
        with xlsxwriter.Workbook(str(path)) as book:
            sheet = book.add_worksheet()
            for number, row in enumerate([*rows, *more]):
                sheet.write_row(number, 0, row)
        if more:
            assert run(monkeypatch, "draft", path, "-o", plan, "--force") == 2
            assert "or state the row of the names as header_row" in capsys.readouterr().err
        assert run(monkeypatch, "draft", path, "-o", plan, "--force", *given) == 0
        assert shoal.Plan.load(plan).read == Reading(header_row=3, last_row=43)
        assert "# the names of the columns are in row 3" in plan.read_text(encoding="utf-8")
        assert run(monkeypatch, "anonymize", path, "--plan", plan, "--out", tmp_path / "r.csv") == 0


def test_sheets_in_python(data, tmp_path):
    """The release of one sheet against its original in another one, and new records."""
    plan = shoal.draft(data, read={"sheet": "People"}).changed(
        models=[{"name": "k-anonymity", "k": 2}], seed=1
    )
    release = shoal.anonymize(data, plan.changed(read={}), read={"sheet": "People"})
    release.save(tmp_path / "release.xlsx")
    assert read(tmp_path / "release.xlsx", None, Reading(sheet="People")).height == 40
    asked = plan.changed(read={"sheet": "Elsewhere"})
    found = shoal.audit(
        tmp_path / "release.xlsx",
        asked,
        read={"sheet": "People"},
        original=data,
        original_read={"sheet": "People"},
        population=data,
        population_read=Reading(sheet="People"),
    )
    assert found.holds
    again = release.recoding.apply(data, read={"sheet": "People"}, seed=1)
    assert again.frame.num_rows == 40
    with pytest.raises(BadFile, match="has no sheet 'Elsewhere'"):
        shoal.compare(data, asked, algorithms=["mondrian"], apart=False)
    found = shoal.frontier(data, asked, read={"sheet": "People"}, k=[2, 3])
    assert found.rows == 40


def test_a_sheet_on_the_command_line_replaces_that_of_the_plan(data, tmp_path, monkeypatch, capsys):
    plan = tmp_path / "plan.toml"
    assert run(monkeypatch, "draft", data, "-o", plan, "--sheet", "People") == 0
    words = ("anonymize", data, "--plan", plan, "--out", tmp_path / "r.csv", "--sheet", "Abuot")
    assert run(monkeypatch, *words) == 2
    assert "no sheet 'Abuot'; did you mean 'About'?" in capsys.readouterr().err
