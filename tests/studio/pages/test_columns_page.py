"""The page of the columns: lines, roles, settings, ranking, and many columns."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.studio.served import Answer, Served

PARTS = {"x-studio": "1"}
NAMES = ["patient", "age", "year", "zip", "<b>job", "disease"]


@pytest.fixture(scope="module")
def people(studio: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("table") / "people.csv"
    rows = [f"P{i // 2:04},{20 + i % 47},{2004 - i % 47},{1000 + i % 5},"
            f"{('cook', '<i>nurse', 'clerk')[i % 11 % 3]},{('flu', 'gout')[i % 7 % 2]}"
            for i in range(300)]  # fmt: skip
    path.write_text("\n".join([",".join(NAMES), *rows]), encoding="utf-8")
    project = studio.opened(f"data={quote(str(path))}")
    yield project
    studio.ask("POST", f"{project}/remove", "")


def send(studio: Served, project: str, path: str, parts: bool = True, **fields: str) -> Answer:
    body = "&".join(f"{key}={quote(value)}" for key, value in fields.items())
    return studio.ask("POST", f"{project}/columns/{path}", body, PARTS if parts else {})


def undo(studio: Served, project: str) -> None:
    studio.ask("POST", f"{project}/undo", "step=columns")


def roles(studio: Served, project: str) -> dict[str, str]:
    page = studio.get(f"{project}/columns").text
    found = re.findall(r'<tbody id="column-(\d+)"[^>]*data-role="(\w+)"', page)
    return {NAMES[int(place)]: role for place, role in found}


def version(studio: Served, project: str, place: int) -> str:
    page = studio.get(f"{project}/columns").text
    line = page[page.index(f'id="column-{place}"') :]
    found = re.search(r'name="column" value="(\w+)"', line)
    assert found is not None
    return found[1]


def test_every_column_has_a_line(studio: Served, people: str) -> None:
    page = studio.get(f"{people}/columns").text
    assert page.count('<tbody id="column-') == len(NAMES)
    assert "<b>job" not in page
    assert "&lt;b&gt;job" in page
    assert "<i>nurse" not in page
    assert page.count("<svg") >= 4
    assert f'href="{people}/columns/1/hierarchy"' in page
    assert "47 numbers, in ranges" in page  # why it is proposed
    assert "What do the roles mean?" in page
    assert roles(studio, people)["year"] == "drop"


def test_the_ranking_follows_the_roles(studio: Served, people: str) -> None:
    first = studio.ask("GET", f"{people}/columns/ranking", headers=PARTS).text
    assert "People who are unique" in first
    assert "same as age, written differently" not in first  # year is left out
    send(studio, people, "2/role", role="other")
    second = studio.ask("GET", f"{people}/columns/ranking", headers=PARTS).text
    assert "the same as age, written differently" in second
    assert "Published unchanged, it may give age back." in second
    send(studio, people, "1/role", role="drop")
    third = studio.ask("GET", f"{people}/columns/ranking", headers=PARTS).text
    unique = [re.search(r"unique</dt><dd>([\d,]+)", text)[1] for text in (first, third)]
    assert unique[0] != unique[1]
    assert "may give age back" not in third
    undo(studio, people)
    undo(studio, people)
    assert 'class="follows"' not in studio.get(f"{people}/columns?rank=1").text


def test_a_change_answers_with_its_line_only(studio: Served, people: str) -> None:
    answer = send(studio, people, "3/role", role="other", column=version(studio, people, 3))
    assert answer.status == 200
    assert re.findall(r'<tbody id="column-(\d+)"', answer.text) == ["3"]
    assert '<table class="parts">' in answer.text
    assert 'id="summary"' in answer.text
    assert 'id="history"' in answer.text
    undo(studio, people)


def test_another_tab_changes_other_columns_but_not_the_same(studio: Served, people: str) -> None:
    three, four = version(studio, people, 3), version(studio, people, 4)
    assert send(studio, people, "3/role", role="other", column=three).status == 200
    assert send(studio, people, "4/role", role="other", column=four).status == 200
    late = send(studio, people, "3/role", role="drop", column=three)
    assert late.status == 409
    assert "another tab" in late.text
    assert roles(studio, people)["zip"] == "other"
    undo(studio, people)
    undo(studio, people)


def test_settings_are_shown_on_demand(studio: Served, people: str) -> None:
    assert 'name="importance"' not in studio.get(f"{people}/columns").text
    more = studio.ask("GET", f"{people}/columns/1?open=1", headers=PARTS).text
    assert 'name="importance"' in more
    assert 'aria-expanded="true"' in more
    assert 'name="importance"' in studio.get(f"{people}/columns?more=1").text
    closed = studio.ask("GET", f"{people}/columns/1?open=0", headers=PARTS).text
    assert 'name="importance"' not in closed
    assert studio.get(f"{people}/columns/1").status == 303
    assert studio.get(f"{people}/columns/99").status == 404
    assert studio.get(f"{people}/columns?more=99999").status == 200


def test_importance_and_limits(studio: Served, people: str) -> None:
    answer = send(studio, people, "1/settings", importance="3", at_most="width", amount="10")
    assert answer.status == 200
    plan = studio.get(f"{people}/plan.toml").text
    assert "importance = 3, at_most = { width = 10 }" in plan
    assert "may be suppressed because of the limits on age" in answer.text
    assert send(studio, people, "suppression", suppression="2,5").status == 200
    assert "suppression = 0.025" in studio.get(f"{people}/plan.toml").text
    bad = send(studio, people, "suppression", suppression="200")
    assert bad.status == 409
    assert 'role="alert"' in bad.text
    for _ in range(2):
        undo(studio, people)


def test_numbers_stay_numbers(studio: Served, people: str) -> None:
    """The mean of each class of age; disease has no numbers, and neither has a person."""
    more = studio.ask("GET", f"{people}/columns/1?open=1", headers=PARTS).text
    assert 'name="microaggregate"' in more
    assert 'name="top"' in more
    answer = send(studio, people, "1/settings", microaggregate="mean", bottom="", top="", round="")
    assert answer.status == 200
    assert 'microaggregate = "mean"' in studio.get(f"{people}/plan.toml").text
    assert '<option value="mean" selected' in studio.get(f"{people}/columns?more=1").text
    refused = send(studio, people, "1/settings", open="1", round="5")
    assert refused.status == 409
    assert "has microaggregate and round" in html.unescape(refused.text)
    send(studio, people, "1/role", role="sensitive")  # where a class has no number to publish
    plan = studio.get(f"{people}/plan.toml").text
    assert "microaggregate" not in plan
    answer = send(studio, people, "1/settings", bottom="25", top="60,5", round="")
    assert answer.status == 200
    assert "top = 60.5, bottom = 25" in studio.get(f"{people}/plan.toml").text
    assert 'value="60.5"' in studio.get(f"{people}/columns?more=1").text
    assert send(studio, people, "1/settings", top="old").status == 409
    send(studio, people, "1/role", role="identifier")
    assert "top = " not in studio.get(f"{people}/plan.toml").text
    for place in (0, 5):
        assert (
            'name="top"'
            not in studio.ask("GET", f"{people}/columns/{place}?open=1", headers=PARTS).text
        )
    for _ in range(4):
        undo(studio, people)


@pytest.mark.parametrize(
    ("place", "fields", "said"),
    [
        (1, {"importance": "0"}, "importance"),
        (1, {"at_most": "level", "amount": "x"}, "the number of steps is a number"),
        (4, {"at_most": "width", "amount": "3"}, "use at_most = 'exact'"),
    ],
)
def test_a_mistake_is_shown_in_its_line(
    studio: Served, people: str, place: int, fields: dict[str, str], said: str
) -> None:
    before = studio.get(f"{people}/plan.toml").text
    answer = send(studio, people, f"{place}/settings", open="1", **fields)
    assert answer.status == 409
    line = answer.text[answer.text.index(f'<tbody id="column-{place}"') :]
    assert said in html.unescape(line)
    assert f'id="mistake-{place}"' in line
    assert 'aria-invalid="true"' in line
    assert 'name="importance"' in line  # the settings stay open
    assert studio.get(f"{people}/plan.toml").text == before
    plain = send(studio, people, f"{place}/settings", parts=False, **fields)
    assert plain.status == 409
    assert said in html.unescape(plain.text)


def test_a_column_that_reveals_is_accepted(studio: Served, people: str) -> None:
    send(studio, people, "2/role", role="other")
    more = studio.ask("GET", f"{people}/columns/2?open=1", headers=PARTS).text
    assert 'name="accept"' in more
    send(studio, people, "2/settings", accept="yes")
    assert 'accept = ["year"]' in studio.get(f"{people}/plan.toml").text
    undo(studio, people)
    undo(studio, people)


def test_people_may_only_be_counted(studio: Served, people: str) -> None:
    assert roles(studio, people)["patient"] == "person"
    send(studio, people, "0/settings", publish="no")
    assert "publish = false" in studio.get(f"{people}/plan.toml").text
    answer = send(studio, people, "3/role", role="person")
    assert "patient was the person column" in answer.text
    assert set(re.findall(r'<tbody id="column-(\d+)"', answer.text)) == {"0", "3"}
    undo(studio, people)
    undo(studio, people)


def test_values_that_mean_missing_are_read_again(studio: Served, people: str) -> None:
    answer = send(studio, people, "5/words", words="gout\r\n")
    assert 'id="rereading"' in answer.text
    studio.until(f"{people}/plan.toml", r'disease = .*missing_values = \["gout"\]')
    studio.until(f"{people}/columns", r"1 value, \d\d\.\d% missing")
    undo(studio, people)
    studio.until(f"{people}/columns", 'class="columns"')


def test_several_columns_get_a_role_at_once(studio: Served, people: str) -> None:
    before = roles(studio, people)
    answer = send(studio, people, "roles", role="other", places="1,3,4")
    assert answer.status == 200
    after = roles(studio, people)
    assert {name for name in NAMES if after[name] != before[name]} == {"age", "zip", "<b>job"}
    undo(studio, people)  # one step
    assert roles(studio, people) == before
    for places in ("", "99", "x"):
        assert send(studio, people, "roles", role="other", places=places).status == 409
    assert send(studio, people, "roles", role="person", places="1,3").status == 409
    stale = send(studio, people, "roles", role="other", places="1", version="0-old")
    assert stale.status == 409


def test_a_filter_without_scripts(studio: Served, people: str) -> None:
    def shown(query: str) -> list[str]:
        page = studio.get(f"{people}/columns?{query}").text
        lines = re.findall(r'<tbody id="column-(\d+)"[^>]*>', page)
        hidden = re.findall(r'<tbody id="column-(\d+)"[^>]* hidden>', page)
        return [NAMES[int(one)] for one in lines if one not in hidden]

    assert shown("q=AGE") == ["age"]
    assert shown("role=sensitive") == ["disease"]
    assert shown("role=changed") == []
    assert shown("") == NAMES


def test_without_a_quasi_identifier_a_note_says_so(studio: Served, people: str) -> None:
    answer = send(studio, people, "roles", role="drop", places="1,3,4")
    assert "No column is a quasi-identifier" in answer.text
    assert studio.ask("GET", f"{people}/columns/ranking", headers=PARTS).status == 200
    undo(studio, people)


def test_hundreds_of_columns_stay_usable(studio: Served, tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    names = [f"item_{i}" for i in range(200)]
    rows = [",".join(str((i * (j + 3)) % 5) for j in range(200)) for i in range(60)]
    path.write_text("\n".join([",".join(names), *rows]), encoding="utf-8")
    project = studio.opened(f"data={quote(str(path))}")
    page = studio.get(f"{project}/columns")
    assert page.text.count("<tbody id=") == 200
    assert len(page.content) < 1_500_000
    answer = send(studio, project, "7/role", role="other")
    assert len(answer.content) < 60_000  # a change does not send all of it again
    ranking = studio.ask("GET", f"{project}/columns/ranking", headers=PARTS).text
    assert "Without these, fewest people are unique" in ranking


def test_households_and_weights_have_settings(studio: Served, people: str) -> None:
    """What becomes of their numbers; the members of a household may be apart."""
    send(studio, people, "0/role", role="household")
    shown = studio.ask("GET", f"{people}/columns/0", headers=PARTS).text
    assert "a random number per household" in shown
    assert 'value="apart"' in shown
    send(studio, people, "0/settings", publish="apart")
    shown = studio.ask("GET", f"{people}/columns/0", headers=PARTS).text
    assert '<option value="apart" selected>' in shown
    asked = studio.get(f"{people}/requirements").text
    assert "household-k-anonymity" in asked
    undo(studio, people)
    undo(studio, people)
    send(studio, people, "1/role", role="weight")
    shown = studio.ask("GET", f"{people}/columns/1", headers=PARTS).text
    assert "only used for estimates" in shown
    assert 'value="apart"' not in shown
    undo(studio, people)
