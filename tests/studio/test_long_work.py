"""Work in the background by its forms: the whole table, the frontier and a comparison."""

from __future__ import annotations

import re
from pathlib import Path
from time import monotonic
from urllib.parse import urlencode

import pytest

from shoal import Plan
from tests.studio.served import Served


@pytest.fixture(scope="module")
def people(studio: Served, tmp_path_factory: pytest.TempPathFactory) -> str:
    rows = [f"{20 + i % 40},{'fm'[i % 2]},{('flu', 'gout', 'cold')[i % 3]}" for i in range(300)]
    path = tmp_path_factory.mktemp("people") / "people.csv"
    path.write_text("\n".join(["age,sex,disease", *rows]) + "\n", encoding="utf-8")
    project = studio.opened(urlencode({"data": str(path)}))
    for place, role in ((0, "quasi"), (1, "quasi"), (2, "sensitive")):
        studio.ask("POST", f"{project}/columns/{place}/role", f"role={role}")
    return project


def plan_of(studio: Served, project: str, folder: Path) -> Plan:
    path = folder / "plan.toml"
    path.write_bytes(studio.get(f"{project}/plan.toml").content)
    return Plan.load(path)


def test_the_whole_table_on_request(studio: Served, people: str) -> None:
    assert studio.ask("POST", f"{people}/whole/start", "").status == 303
    done = studio.until(f"{people}/whole", "whole-facts|role=.alert")
    assert 'role="alert"' not in done.text
    assert "Computed on all 300 records" in done.text
    studio.ask("POST", f"{people}/requirements/models/0", "k=6")
    assert "before the plan changed" in studio.get(f"{people}/whole").text


def test_a_frontier_whose_points_can_be_chosen(studio: Served, people: str, tmp_path: Path) -> None:
    assert studio.ask("POST", f"{people}/frontier/start", "k=2,5,12&risk=highest").status == 303
    done = studio.until(f"{people}/frontier", 'class="frontier"|role=.alert').text
    assert done.count("data-choose=") >= 3
    assert 'class="advice"' in done
    row = re.search(r'id="setting-(\d+)"[^>]*>\s*<th scope="row">k = 12', done)
    assert row is not None
    answer = studio.ask("POST", f"{people}/frontier/choose", f"setting={row[1]}")
    assert answer.status == 303
    assert plan_of(studio, people, tmp_path).models[0].options()["k"] == 12
    again = studio.get(f"{people}/frontier").text
    assert re.search(r"k = 12 <small>the plan", again)  # it is marked in the old picture
    for setting in ("99", "-1", "x"):
        assert studio.ask("POST", f"{people}/frontier/choose", f"setting={setting}").status == 409


def test_wishes_for_a_frontier_that_cannot_be(studio: Served, people: str) -> None:
    wrong = studio.ask("POST", f"{people}/frontier/start", "k=two")
    assert wrong.status == 409
    assert "list of numbers" in wrong.text


def test_a_comparison_of_which_one_is_chosen(studio: Served, people: str, tmp_path: Path) -> None:
    form = [("algorithm", "mondrian"), ("algorithm", "gaa"), ("k", "3"), ("on", "table")]
    assert studio.ask("POST", f"{people}/compare/start", urlencode(form)).status == 303
    page = studio.until(f"{people}/compare", "compare/choose|role=.alert").text
    assert 'role="alert"' not in page
    picture = studio.get(f"{people}/compare/plot.svg")
    assert picture.headers["content-type"].startswith("image/svg")
    lines = re.findall(r'<th scope="row">(\S+?)[ <].*?name="line" value="(\d+)"', page, re.S)
    assert sorted(name for name, _ in lines) == ["gaa", "mondrian"]
    place = dict(lines)["gaa"]
    assert studio.ask("POST", f"{people}/compare/choose", f"line={place}").status == 303
    plan = plan_of(studio, people, tmp_path)
    assert (plan.algorithm.name, plan.models[0].options()["k"]) == ("gaa", 3)


def test_wishes_for_a_comparison_that_cannot_be(studio: Served, people: str) -> None:
    for form, said in (("", "at least one algorithm"), ("algorithm=peel&k=x", "k is a number"),
                       ("algorithm=concealment", "does not support")):  # fmt: skip
        answer = studio.ask("POST", f"{people}/compare/start", form)
        assert answer.status == 409
        assert said in answer.text


def test_work_is_stopped_and_can_begin_again(studio: Served, project: str) -> None:
    """Stopping answers at once, and a new start does not wait for the old work."""
    assert studio.ask("POST", f"{project}/frontier/start", "").status == 303
    studio.until(f"{project}/frontier", "frontier-stop")
    began = monotonic()
    assert studio.ask("POST", f"{project}/frontier/stop", "").status == 303
    assert "frontier-stop" not in studio.get(f"{project}/frontier").text
    assert monotonic() - began < 5
    assert studio.ask("POST", f"{project}/frontier/start", "k=5").status == 303
    studio.until(f"{project}/frontier", 'class="frontier"')


def test_kept_runs_are_compared(studio: Served, people: str) -> None:
    studio.ask("POST", f"{people}/run/start", "")
    studio.until(f"{people}/run", "report.html|role=.alert")
    page = studio.get(f"{people}/compare").text
    kept = page[page.index('id="kept"') :]
    assert "Run 1" in kept
    assert "Information lost per column" in kept
    assert re.search(r'<th scope="row">age</th><td class="number">[\d.]+%', kept)
