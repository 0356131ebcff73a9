"""How a table is read: shown as understood, corrected with a look at the first rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.studio.served import Answer, Served

ROWS = ["größe;born;seen;job", *(
    f"{150 + i % 40},{i % 10};{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i % 30};"
    f"0{1 + i % 9}/0{1 + i % 8}/2024;{('cook', 'nurse', '?')[i % 5 % 3]}"
    for i in range(200)
)]  # fmt: skip
PARTS = {"x-studio": "1"}


@pytest.fixture(scope="module")
def people(studio: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A project with a table that can be read in several ways."""
    path = tmp_path_factory.mktemp("table") / "people.csv"
    path.write_bytes("\n".join(ROWS).encode("latin-1"))
    project = studio.opened(f"data={quote(str(path))}")
    yield project
    studio.ask("POST", f"{project}/remove", "")


def form(**fields: str) -> str:
    given = {"encoding": "latin-1", "delimiter": ";", "header": "yes", "words": "?", **fields}
    return "&".join(f"{key}={quote(value)}" for key, value in given.items())


def ask(studio: Served, project: str, parts: bool = True, **fields: str) -> Answer:
    headers = PARTS if parts else {}
    return studio.ask("POST", f"{project}/reading", form(**fields), headers)


def read(studio: Served, project: str, pattern: str) -> Answer:
    """Wait until the table was read again."""
    return studio.until(f"{project}/columns", pattern)


def test_what_was_understood_is_shown(studio: Served, people: str) -> None:
    columns = studio.get(f"{people}/columns").text
    assert "latin-1" in columns
    assert "semicolon ;" in columns
    assert "1 column can be read in several ways" in columns
    page = studio.get(f"{people}/reading").text
    assert 'value="latin-1"' in page
    assert re.search(r'<option value=";" selected>', page)
    assert "= 1950-01-01" in page  # what is read, below what is written
    assert page.count("<tr>") <= 14  # never the whole table


def test_a_preview_changes_nothing(studio: Served, people: str) -> None:
    plan = studio.get(f"{people}/plan.toml").text
    parts = ask(studio, people, encoding="cp850")
    assert parts.status == 200
    assert 'id="peek"' in parts.text
    assert "<form id=" not in parts.text  # fields in which somebody types stay
    assert "gr÷▀e" in parts.text
    wrong = ask(studio, people, delimiter=",")
    assert "line 2 has 3" in wrong.text or "fields" in wrong.text
    header = ask(studio, people, header="no")
    assert "column_4" in header.text
    assert studio.get(f"{people}/plan.toml").text == plan


def test_mistakes_are_shown_and_not_read(studio: Served, people: str) -> None:
    answer = ask(studio, people, encoding="klingon", apply="1")
    assert answer.status == 422
    assert "no encoding &#39;klingon&#39;" in answer.text
    plain = ask(studio, people, parts=False, encoding="klingon", apply="1")
    assert plain.status == 422
    assert 'value="klingon"' not in plain.text or "klingon" in plain.text
    bad = ask(studio, people, **{"name-0": "born", "form-0": "d|%m/%d/%Y"})
    assert "cannot be read this way" in bad.text


def test_a_doubt_shows_both_readings_and_one_is_chosen(studio: Served, people: str) -> None:
    page = studio.get(f"{people}/columns").text
    ways = re.findall(r"<q>([^<]+)</q> = (\d{4}-\d\d-\d\d)</button>", page)
    assert len(ways) == 2
    assert ways[0][0] == ways[1][0]
    assert ways[0][1] != ways[1][1]
    answer = studio.ask("POST", f"{people}/columns/2/way", "way=0", PARTS)
    assert 'id="rereading"' in answer.text
    read(studio, people, "seen.*dates")
    studio.until(f"{people}/plan.toml", r'seen = .*date_format = "%d/%m/%Y"')
    assert "column can be read in several ways" not in studio.get(f"{people}/columns").text
    assert studio.ask("POST", f"{people}/columns/2/way", "way=7").status == 404
    studio.ask("POST", f"{people}/undo", "step=columns")  # the table is read as before
    read(studio, people, "1 column can be read in several ways")
    assert "date_format" not in plan_line(studio, people, "seen")


def plan_line(studio: Served, project: str, column: str) -> str:
    text = studio.get(f"{project}/plan.toml").text
    return next(line for line in text.splitlines() if line.startswith(column))


def test_a_correction_is_one_step_and_keeps_decisions(studio: Served, people: str) -> None:
    studio.ask("POST", f"{people}/columns/3/role", "role=sensitive")
    before = studio.get(f"{people}/plan.toml").text
    answer = ask(studio, people, words="?\ncook", apply="1")
    assert f'data-go="{people}/columns"' in answer.text
    studio.until(f"{people}/plan.toml", r'missing_values = \["", "\?", "cook"\]')
    assert 'role = "sensitive"' in plan_line(studio, people, "job")
    studio.ask("POST", f"{people}/undo", "step=columns")
    studio.until(f"{people}/columns", 'class="columns"')
    assert studio.get(f"{people}/plan.toml").text == before
    studio.ask("POST", f"{people}/undo", "step=columns")


def test_a_correction_that_fails_says_why_and_changes_nothing(studio: Served, people: str) -> None:
    before = studio.get(f"{people}/plan.toml").text
    answer = ask(studio, people, parts=False, encoding="utf-8", apply="1")
    assert answer.status == 303
    page = read(studio, people, 'role="alert"').text
    assert "is not in UTF-8" in page
    assert "Nothing was changed" in page
    assert 'class="columns"' in page
    assert studio.get(f"{people}/plan.toml").text == before
    form_again = studio.get(f"{people}/reading").text
    assert 'value="utf-8"' in form_again  # what was tried
    assert ask(studio, people, apply="1").status == 200
    studio.until(f"{people}/columns", '(?s)id="rereading"[^>]*>\\s*</div>')


def test_a_form_of_another_tab_reads_nothing(studio: Served, people: str) -> None:
    answer = ask(studio, people, parts=False, apply="1", version="0-old")
    assert answer.status == 409
    assert "another tab" in answer.text


def test_a_table_that_cannot_be_read_shows_the_way_out(studio: Served, tmp_path: Path) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("# made, by hand\nage;sex\n" + "31;f\n47;m\n" * 40, encoding="utf-8")
    project = studio.opened(f"data={quote(str(path))}")
    page = studio.get(f"{project}/columns").text
    assert 'role="alert"' in page
    assert f'data-load="{project}/reading"' in page
    parts = studio.ask("GET", f"{project}/reading", headers=PARTS).text
    assert "# made, by hand" in parts  # as it is in the file
    answer = ask(studio, project, parts=False, encoding="", comment="#", apply="1")
    assert answer.status == 303
    assert "80" in read(studio, project, 'class="columns"').text
    assert 'comment = "#"' in studio.get(f"{project}/plan.toml").text


def test_a_sheet_is_chosen(studio: Served, tmp_path: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("About", "People & co"):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["age", "sex"])
            for i in range(60):
                sheet.write_row(1 + i, 0, [20 + i % 30, "fm"[i % 2]])
    answer = studio.ask("POST", "/open", f"data={quote(str(path))}")
    project = answer.headers["location"].rpartition("/")[0]
    page = studio.until(f"{project}/columns", "Choose the one with the table").text
    assert 'role="alert"' not in page
    parts = studio.ask("GET", f"{project}/reading", headers=PARTS).text
    assert "<option>People &amp; co</option>" in parts
    studio.ask("POST", f"{project}/reading", f"sheet={quote('People & co')}&apply=1")
    read(studio, project, 'class="columns"')
    assert 'sheet = "People & co"' in studio.get(f"{project}/plan.toml").text


def test_reading_can_be_stopped_and_begun_again(studio: Served, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "31,f\n47,m\n" * 40, encoding="utf-8")
    answer = studio.ask("POST", "/open", f"data={quote(str(path))}")
    project = answer.headers["location"].rpartition("/")[0]
    studio.ask("POST", f"{project}/opening/stop", "")
    page = studio.until(f"{project}/columns", 'Reading was stopped|class="columns"').text
    if "Reading was stopped" in page:
        studio.ask("POST", f"{project}/opening/again", "")
    read(studio, project, 'class="columns"')


def test_a_file_that_vanished(studio: Served, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "31,f\n47,m\n" * 40, encoding="utf-8")
    project = studio.opened(f"data={quote(str(path))}")
    path.unlink()
    studio.ask("POST", f"{project}/opening/again", "")
    page = read(studio, project, 'role="alert"').text
    assert "no such file" in page
    assert studio.get(f"{project}/reading").status == 200
