"""The page of a hierarchy by its forms, as a browser without scripts sends them."""

from __future__ import annotations

import re
import tomllib
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

import shoal
from tests.studio.served import Answer, Served

AGE, JOB, DAY, ZIP = range(4)
JOBS = ["baker", "cook", "doctor", "nurse", "<b>pope</b>"]


class Columns:
    """The hierarchies of one project."""

    def __init__(self, served: Served, table: Path) -> None:
        self.served, self.table = served, table
        self.project = served.opened(f"data={table}")
        for place in range(4):
            served.ask("POST", f"{self.project}/columns/{place}/role", "role=quasi")

    def address(self, place: int) -> str:
        return f"{self.project}/columns/{place}/hierarchy"

    def page(self, place: int, **query: str) -> str:
        answer = self.served.get(f"{self.address(place)}?{urlencode(query)}")
        assert answer.status == 200, answer.text
        return unescape(answer.text)

    def version(self, place: int) -> str:
        found = re.search(r'name="version" value="([^"]+)"', self.page(place))
        assert found is not None
        return found[1]

    def post(self, place: int, what: str, *pairs: tuple[str, str], **fields: str) -> Answer:
        body = urlencode([("version", self.version(place)), *pairs, *fields.items()])
        return self.served.ask("POST", f"{self.address(place)}/{what}", body)

    def kind(self, place: int, *pairs: tuple[str, str], **fields: str) -> Answer:
        return self.post(place, "kind", *pairs, **fields)

    def setting(self, name: str) -> object:
        plan = tomllib.loads(self.served.get(f"{self.project}/plan.toml").text)
        return plan["columns"][name].get("hierarchy")

    def node(self, place: int, label: str) -> str:
        """The number of the node with a label, as its checkbox has it."""
        found = re.search(rf'value="(\d+)" id="pick-\d+" aria-label="Select {re.escape(label)}"',
                          self.page(place))  # fmt: skip
        assert found is not None, label
        return found[1]

    def group(self, step: str, *labels: str, **fields: str) -> Answer:
        picks = [("pick", self.node(JOB, label)) for label in labels]
        return self.post(JOB, "groups", *picks, step=step, **fields)


@pytest.fixture(scope="module")
def columns(studio: Served, tmp_path_factory: pytest.TempPathFactory) -> Columns:
    table = tmp_path_factory.mktemp("hierarchy") / "people.csv"
    rows = [
        f"{20 + i % 60},{JOBS[i % 5]},{1980 + i % 30}-0{1 + i % 9}-11,{47600 + i % 40}"
        for i in range(300)
    ]
    table.write_text("\n".join(["age,job,born,zip", *rows]) + "\n", encoding="utf-8")
    return Columns(studio, table)


@pytest.mark.parametrize(
    ("place", "name", "fields", "setting"),
    [
        (AGE, "age", {"kind": "ranges", "widths": "5, 10 20", "start": "3"},
         {"ranges": [5, 10, 20], "start": 3}),
        (AGE, "age", {"kind": "free_ranges", "low": "0", "high": ""},
         {"free_ranges": True, "low": 0}),
        (ZIP, "zip", {"kind": "prefixes", "keep": "3; 1"}, {"prefixes": [3, 1]}),
        (ZIP, "zip", {"kind": "prefixes", "keep": ""}, {"prefixes": True}),
        (JOB, "job", {"kind": "free_sets"}, {"free_sets": True}),
        (JOB, "job", {"kind": "flat"}, {"flat": True}),
    ],
)  # fmt: skip
def test_each_kind_is_saved_in_the_plan(
    columns: Columns, place: int, name: str, fields: dict, setting: dict
) -> None:
    assert columns.kind(place, **fields).status == 303
    assert columns.setting(name) == setting
    assert "in use" in columns.page(place)


def test_borders_and_calendar_steps(columns: Columns) -> None:
    levels = [("level", "65, 30, 45"), ("level", "45"), ("level", "")]
    assert columns.kind(AGE, *levels, kind="borders").status == 303
    assert columns.setting("age") == {"borders": [[30, 45, 65], [45]]}
    page = columns.page(AGE, value="50")
    way = re.findall(r'<li><span class="label">([^<]+)', page.split('class="way"')[1])[:4]
    assert way == ["50", "[45, 65)", ">=45", "*"]
    steps = [("step", "year"), ("step", "month"), ("years", "3")]
    assert columns.kind(DAY, *steps, kind="dates").status == 303
    assert columns.setting("born") == {"dates": ["month", "year", "3 years"]}
    assert columns.kind(DAY, ("level", "1990-01-01, 2000-01-01"), kind="borders").status == 303
    assert columns.setting("born") == {"borders": [["1990-01-01", "2000-01-01"]]}


@pytest.mark.parametrize(
    ("place", "fields", "said"),
    [
        (JOB, {"kind": "ranges", "widths": "5"}, "ranges need numbers, but the column has"),
        (AGE, {"kind": "ranges", "widths": "five"}, "'five' is not a number"),
        (AGE, {"kind": "ranges", "widths": "5, 7"}, "7 is not a multiple of 5"),
        (AGE, {"kind": "ranges", "widths": ""}, "widths above 0"),
        (AGE, {"kind": "borders", "level": ""}, "one list of numbers or dates per level"),
        (AGE, {"kind": "borders", "level": "1990-01-01"}, "not dates"),
        (JOB, {"kind": "dates"}, "at least one step"),
        (JOB, {"kind": "king"}, "choose one of the kinds"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    columns: Columns, place: int, fields: dict, said: str
) -> None:
    before = columns.served.get(f"{columns.project}/plan.toml").text
    answer = columns.kind(place, **fields)
    assert answer.status == 409
    assert said in unescape(answer.text)
    assert columns.served.get(f"{columns.project}/plan.toml").text == before


def test_groups_are_made_nested_renamed_and_dissolved(columns: Columns) -> None:
    columns.kind(JOB, kind="flat")
    assert columns.post(JOB, "groups", step="start").status == 303
    assert "5 values in no group" in columns.page(JOB)
    assert columns.group("together", "nurse", "doctor", name="health").status == 303
    assert columns.group("together", "cook", "baker", name="food").status == 303
    assert columns.group("together", "health", "food", name="services").status == 303
    assert columns.group("into", "<b>pope</b>", into=columns.node(JOB, "services")).status == 303
    pope = "<b>pope</b>"
    assert columns.setting("job") == {
        "tree": {"*": {"services": {pope: [], "food": ["baker", "cook"],
                                    "health": ["doctor", "nurse"]}}}
    }  # fmt: skip
    assert columns.group("rename", "food", name="kitchen").status == 303
    assert columns.group("apart", "services").status == 303
    assert columns.group("out", "cook").status == 303
    assert columns.setting("job") == {
        "tree": {"*": {pope: [], "kitchen": ["baker"], "cook": [], "health": ["doctor", "nurse"]}}
    }
    refused = columns.group("together", "cook", name="nurse")
    assert refused.status == 409
    assert "'nurse' is there already" in unescape(refused.text)
    refused = columns.post(JOB, "groups", step="together", name="x")
    assert "select at least one value" in refused.text


def test_all_that_match_a_text(columns: Columns) -> None:
    columns.kind(JOB, kind="flat")
    columns.post(JOB, "groups", step="start")
    page = columns.page(JOB, q="OO")
    assert "1 match" in page
    columns.post(JOB, "groups", step="together", name="with o", q="o", all="1")
    assert columns.setting("job") == {
        "tree": {"*": {"with o": ["<b>pope</b>", "cook", "doctor"], "baker": [], "nurse": []}}
    }
    assert "only values in no group" in columns.page(JOB, show="ungrouped")


def test_every_step_can_be_undone_and_redone(columns: Columns) -> None:
    columns.kind(AGE, kind="ranges", widths="5")
    columns.kind(AGE, ("level", "30"), kind="borders")
    here = f"columns/{AGE}/hierarchy"
    answer = columns.served.ask("POST", f"{columns.project}/undo", f"step={here}")
    assert answer.headers["location"] == columns.address(AGE)
    assert columns.setting("age") == {"ranges": [5]}
    columns.served.ask("POST", f"{columns.project}/redo", f"step={here}")
    assert columns.setting("age") == {"borders": [[30]]}


def test_a_form_of_another_tab_changes_nothing(columns: Columns) -> None:
    old = columns.version(AGE)
    columns.kind(AGE, kind="ranges", widths="7")
    body = urlencode({"version": old, "kind": "flat"})
    late = columns.served.ask("POST", f"{columns.address(AGE)}/kind", body)
    assert late.status == 409
    assert "another tab" in late.text
    assert columns.setting("age") == {"ranges": [7]}


def test_values_are_data_and_never_markup(columns: Columns) -> None:
    columns.kind(JOB, kind="flat")
    answer = columns.served.get(columns.address(JOB))
    assert "&lt;b&gt;pope&lt;/b&gt;" in answer.text
    assert "<b>pope" not in answer.text


def test_level_tables_go_in_and_out(columns: Columns) -> None:
    lines = "\n".join(f"{job};{'food' if job in ('cook', 'baker') else 'other'};*" for job in JOBS)
    assert columns.post(JOB, "levels", table=lines).status == 303
    answer = columns.served.get(f"{columns.address(JOB)}/levels.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = sorted(answer.text.splitlines())
    assert rows == sorted(lines.splitlines())
    lacking = columns.post(JOB, "levels", table="cook;food;*")
    assert lacking.status == 409
    assert "the hierarchy lacks values of the table: 'baker' (row 1)" in unescape(lacking.text)
    assert columns.post(JOB, "levels", table="cook;food;*", fill="1").status == 303
    assert columns.setting("job") == {
        "tree": {"*": {"food": ["cook"], "<b>pope</b>": [], "baker": [], "doctor": [], "nurse": []}}
    }


def test_files_with_level_tables(columns: Columns) -> None:
    def put(content: bytes, **query: str) -> Answer:
        asked = urlencode({"version": columns.version(JOB), "title": "mine.csv", **query})
        return columns.served.ask("PUT", f"{columns.address(JOB)}/levels?{asked}", content)

    twice = put(b"cook;food;*\ncook;drink;*\n")
    assert twice.status == 409
    assert "mine.csv: a value may have only one parent" in unescape(twice.text)
    assert "mine.csv is not UTF-8" in put("Zoë;*".encode("latin-1")).text
    assert put(b"cook;food;*\n", fill="1").status in (200, 303)
    assert (
        columns.served.ask("PUT", f"{columns.address(JOB)}/levels", b"x" * 20_000_001).status > 400
    )


def test_only_columns_that_are_generalized_have_one(columns: Columns) -> None:
    assert columns.served.get(columns.address(99)).status == 404
    columns.served.ask("POST", f"{columns.project}/columns/{ZIP}/role", "role=other")
    answer = columns.served.get(columns.address(ZIP))
    assert answer.status == 404
    assert "quasi-identifier" in answer.text
    columns.served.ask("POST", f"{columns.project}/columns/{ZIP}/role", "role=quasi")


def test_the_command_line_runs_the_plan_to_the_same_bytes(columns: Columns, tmp_path: Path) -> None:
    served, project = columns.served, columns.project
    columns.kind(AGE, ("level", "30, 50"), ("level", "50"), kind="borders")
    columns.kind(DAY, ("step", "year"), kind="dates")
    columns.kind(JOB, kind="flat")
    columns.post(JOB, "groups", step="start")
    columns.group("together", "nurse", "doctor", name="health")
    served.ask("POST", f"{project}/run/start", "")
    page = served.until(f"{project}/run", "report.html|role=.alert")
    link = re.search(r'href="([^"]+)/report.html"', page.text)
    assert link is not None, page.text
    plan = tmp_path / "plan.toml"
    plan.write_bytes(served.get(f"{project}/plan.toml").content)
    again = shoal.anonymize(columns.table, plan)
    again.save(tmp_path / "again.csv")
    release = served.get(f"{link[1]}/release.csv").content
    lines = (tmp_path / "again.csv").read_bytes().splitlines()
    assert sorted(release.splitlines()) == sorted(lines)


def test_ten_thousand_values_are_shown_page_by_page(studio: Served, tmp_path: Path) -> None:
    table = tmp_path / "many.csv"
    rows = [f"value {i % 10_000:05},{i % 50}" for i in range(20_000)]
    table.write_text("\n".join(["what,age", *rows]) + "\n", encoding="utf-8")
    many = Columns.__new__(Columns)
    many.served, many.table, many.project = studio, table, studio.opened(f"data={table}")
    studio.ask("POST", f"{many.project}/columns/0/role", "role=quasi")
    many.kind(0, kind="flat")
    first = many.page(0)
    assert first.count('class="node"') == 50
    assert "1 to 50 of 10,000" in first
    assert len(first) < 100_000
    after = re.search(r'id="after-0" data-tree href="([^"]+)"', first)
    assert after is not None
    second = studio.get(unescape(after[1])).text
    assert "51 to 100 of 10,000" in second
    assert "value 00051" in second
    assert many.page(0, q="09999").count('class="node"') == 1
    assert many.post(0, "groups", step="start").status == 303
    assert many.post(0, "groups", step="together", q="value 00", all="1", name="low").status == 303
    page = many.page(0)
    assert "9,000 values in no group" in page
    assert "1,000 values" in page
