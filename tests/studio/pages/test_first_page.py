"""The first page: files of this machine, databases, recent tables."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.studio.served import Served, serving


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the studio is started, with tables below it."""
    top = tmp_path_factory.mktemp("machine") / "start"
    (top / "sub <b>").mkdir(parents=True)
    rows = "".join(
        f"{20 + i % 40},{'fm'[i % 2]},{('flu', 'gout')[i % 3 % 2]}\n" for i in range(120)
    )
    (top / "people.csv").write_text("age,sex,disease\n" + rows, encoding="utf-8")
    (top / "sub <b>" / "more.csv").write_text("age,sex\n" + "31,f\n" * 30, encoding="utf-8")
    (top.parent / "secret.csv").write_text("a\n1\n", encoding="utf-8")
    with closing(sqlite3.connect(top / "clinic.db")) as base:
        base.execute("CREATE TABLE people (age INTEGER, sex TEXT)")
        base.executemany(
            "INSERT INTO people VALUES (?, ?)", [(20 + i % 40, "fm"[i % 2]) for i in range(90)]
        )
        base.execute("CREATE TABLE visits (day TEXT)")
        base.commit()
    with closing(sqlite3.connect(top / "one.db")) as base:
        base.execute("CREATE TABLE visits (age INTEGER, sex TEXT)")
        base.executemany(
            "INSERT INTO visits VALUES (?, ?)", [(20 + i % 40, "fm"[i % 2]) for i in range(90)]
        )
        base.commit()
    return top


@pytest.fixture(scope="module")
def machine(folder: Path) -> Iterator[Served]:
    with serving(folder.parent / "kept", cwd=folder) as served:
        yield served


def form(**fields: str) -> str:
    return "&".join(f"{key}={quote(value)}" for key, value in fields.items())


def test_folders_are_shown_and_no_way_leads_out(machine: Served) -> None:
    first = machine.get("/").text
    assert "people.csv" in first
    assert "clinic.db" in first
    assert "secret" not in first
    assert "sub &lt;b&gt;" in first
    inside = machine.get(f"/?folder={quote('sub <b>')}").text
    assert "more.csv" in inside
    for path in ("..", "../", "sub%20%3Cb%3E/../..", "/etc", "%2e%2e", "a%00b"):
        answer = machine.get(f"/?folder={path}")
        assert answer.status == 404
        assert "secret.csv" not in answer.text
        parts = machine.ask("GET", f"/browse?folder={path}", headers={"x-studio": "1"})
        assert parts.status == 422


def test_a_file_is_opened_where_it_is(machine: Served, folder: Path) -> None:
    project = machine.opened(form(data="sub <b>/more.csv"))
    assert "more.csv" in machine.get(f"{project}/columns").text
    assert list((folder.parent / "kept" / "uploads").iterdir()) == []
    assert machine.opened(form(data=str(folder / "people.csv"))) != project
    assert machine.opened(form(data="sub <b>/more.csv")) == project  # it is there already


def test_paths_that_are_no_tables(machine: Served) -> None:
    for path in ("", "nothing.csv", "/etc/passwd", "sub <b>", "a\0b", "x" * 5000):
        answer = machine.ask("POST", "/open", form(data=path))
        assert answer.status == 422
        assert 'role="alert"' in answer.text


def test_a_database_with_one_table(machine: Served) -> None:
    page = machine.get(f"{machine.opened(form(data='one.db'))}/columns").text
    assert 'class="columns"' in page
    assert "visits" in page


def test_tables_are_listed_and_one_is_chosen(machine: Served) -> None:
    listed = machine.ask("POST", "/database", form(data="sqlite:///clinic.db", list="1"))
    assert listed.status == 200
    assert "<option>people</option>" in listed.text
    project = machine.ask("POST", "/database", form(data="sqlite:///clinic.db", table="people"))
    assert project.status == 303
    page = machine.until(project.headers["location"], 'class="columns"|role="alert"').text
    assert "90" in page
    parts = machine.ask("POST", "/database", form(data="sqlite:///clinic.db", table="people"),
                        headers={"x-studio": "1"})  # fmt: skip
    assert f'data-go="{project.headers["location"]}"' in parts.text


def test_a_query_is_opened(machine: Served) -> None:
    query = "SELECT age, sex FROM people WHERE age > 30"
    answer = machine.ask("POST", "/database", form(data="clinic.db", query=query))
    page = machine.until(answer.headers["location"], 'class="columns"|role="alert"').text
    assert re.search(r"<dt>Records</dt><dd>\d\d</dd>", page)


@pytest.mark.parametrize(
    "address",
    ["postgresql://ann:marker-secret@127.0.0.1/clinic", "postgresql://a@h/b?password=marker-secret",
     "host=a user=b password=marker-secret", "jdbc:postgresql://a/b?password=marker-secret"],
)  # fmt: skip
def test_a_password_is_refused_and_never_repeated(machine: Served, address: str) -> None:
    for path in ("/database", "/open"):
        for more in ({"list": "1"}, {"table": "people"}):
            answer = machine.ask("POST", path, form(data=address, **more))
            assert answer.status == 422
            assert "marker-secret" not in answer.text
    assert "marker-secret" not in machine.get("/").text
    kept = list(machine.folder.rglob("*.json"))
    assert not any("marker-secret" in one.read_text() for one in kept)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"data": "sqlite:///clinic.db", "table": "poeple"}, "did you mean"),
        ({"data": "sqlite:///nothing.db", "list": "1"}, "there is no file"),
        ({"data": "mysql://a/b", "list": "1"}, "cannot read addresses"),
        ({"data": "clinic.db", "table": "a", "query": "b"}, "either a table or a query"),
        ({"data": "postgresql://a@127.0.0.1:1/b", "list": "1"}, "PostgreSQL"),
        ({"data": "", "list": "1"}, "no address of a database"),
    ],
)
def test_mistakes_about_databases_are_said(machine: Served, fields: dict, said: str) -> None:
    answer = machine.ask("POST", "/database", form(**fields))
    if answer.status == 303:  # the name of a table is checked when it is read
        answer = machine.until(answer.headers["location"], 'role="alert"')
    else:
        assert answer.status == 422
    assert said in answer.text


def test_recent_tables_are_listed_and_can_be_removed(machine: Served) -> None:
    project = machine.opened(form(data="people.csv"))
    first = machine.get("/").text
    assert f'href="{project}/columns"' in first
    recent = first[first.index("Recently opened") :]
    assert recent.index(project) < recent.index("more.csv")  # the newest one is on top
    machine.ask("POST", f"{project}/remove", "")
    assert project not in machine.get("/").text
    assert machine.get(f"{project}/columns").status == 404


def test_the_command_opens_a_table_of_a_database(folder: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "kept", "sqlite:///clinic.db", "--table", "people", cwd=folder) as one:
        page = one.get("/")
        assert page.status == 303
        assert 'class="columns"' in one.until(page.headers["location"], 'class="columns"').text
        assert one.get("/").status == 200  # once only


def test_the_same_table_again_goes_on_with_its_plan(folder: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "kept", "people.csv", cwd=folder) as one:
        project = one.get("/").headers["location"].rpartition("/")[0]
        one.until(f"{project}/columns", 'class="columns"')
        one.ask("POST", f"{project}/columns/1/role", "role=other")
        one.interrupt()
    with serving(tmp_path / "kept", "people.csv", cwd=folder) as one:
        assert one.get("/").headers["location"] == f"{project}/columns"
        one.until(f"{project}/columns", 'class="columns"')
        assert 'sex = {role = "other"}' in one.get(f"{project}/plan.toml").text.replace(
            "{ ", "{"
        ).replace(" }", "}")
