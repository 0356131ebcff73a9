"""What the form about reading says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal import Plan
from shoal.base.errors import BadPlan
from shoal.io.raw_text.spelling import Spelling
from shoal.studio.private_folder import PrivateFolder
from shoal.studio.project import Project
from shoal.studio.sources.corrections import (
    asked_by,
    correction_of,
    current,
    option_of,
    options,
    spelling_in,
)

PLAN = Plan(
    columns={
        "age": {"role": "quasi"},
        "rent": {"role": "quasi", "decimal": ",", "thousands": "."},
        "born": {"role": "other", "date_format": "%d.%m.%Y"},
    },
    read={"delimiter": ";"},
    missing_values=["", "?"],
)


def project(tmp_path: Path, name: str = "people.csv", plan: Plan | None = PLAN) -> Project:
    source = {"kind": "file", "path": str(tmp_path / name)}
    made = Project(PrivateFolder(tmp_path / "kept"), {"title": name, "source": source})
    if plan is not None:
        made.history.add(plan.to_toml())
        made.save()
    return made


def test_what_is_so_now_is_in_the_form(tmp_path: Path) -> None:
    asked = current(project(tmp_path))
    assert asked.reading == {"delimiter": ";"}
    assert asked.missing == ["", "?"]
    assert asked.spellings == {"rent": Spelling(",", "."), "born": Spelling(date_format="%d.%m.%Y")}


def sent(**fields: str) -> dict[str, str]:
    """The form as a browser sends it when nothing was changed."""
    return {
        "encoding": "", "delimiter": ";", "quote": "", "header": "yes", "comment": "",
        "empty": "yes", "words": "?\r\n",
        "name-0": "rent", "form-0": "n|,|.|", "own-0": "",
        "name-1": "born", "form-1": "d|%d.%m.%Y", "own-1": "",
        "name-x": "", "form-x": "plain", "own-x": "",
        **fields,
    }  # fmt: skip


def test_a_form_without_changes_changes_nothing(tmp_path: Path) -> None:
    made = project(tmp_path)
    asked = asked_by(sent(), made)
    assert asked == current(made)
    correction = correction_of(asked, made)
    assert (correction.reading, correction.missing, correction.columns) == (
        {"delimiter": ";"}, None, {}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "reading"),
    [
        ({"delimiter": "tab"}, {"delimiter": "\t"}),
        ({"delimiter": ""}, {}),
        ({"encoding": "latin-1"}, {"delimiter": ";", "encoding": "latin-1"}),
        ({"quote": "none"}, {"delimiter": ";", "quote": ""}),
        ({"quote": "'"}, {"delimiter": ";", "quote": "'"}),
        ({"header": "no"}, {"delimiter": ";", "header": False}),
        ({"comment": "//"}, {"delimiter": ";", "comment": "//"}),
    ],
)
def test_settings_of_a_text_file(tmp_path: Path, fields: Any, reading: dict[str, Any]) -> None:
    assert asked_by(sent(**fields), project(tmp_path)).reading == reading


@pytest.mark.parametrize(
    ("fields", "place", "said"),
    [
        ({"encoding": "klingon"}, "encoding", "no encoding 'klingon'"),
        ({"comment": ";x"}, "reading", "begins with ';'"),
        ({"form-0": "own", "own-0": ""}, "form-0", "write the format of the dates"),
        ({"form-0": "own", "own-0": "%d.%m"}, "form-0", "year, month and day"),
        ({"form-0": "n|,|,|"}, "form-0", "as decimal and as thousands"),
        ({"form-1": "x"}, "form-1", "no such form"),
        ({"form-1": "n|,"}, "form-1", "no such form"),
    ],
)
def test_mistakes_are_noted_where_they_are(
    tmp_path: Path, fields: Any, place: str, said: str
) -> None:
    asked = asked_by(sent(**fields), project(tmp_path))
    assert list(asked.mistakes) == [place]
    assert said in asked.mistakes[place]


@pytest.mark.parametrize(
    ("fields", "key", "value"),
    [
        ({"header_row": "3"}, "header_row", 3),
        ({"header_row": "3", "last_row": "9"}, "last_row", 9),
        ({"sheet": "People"}, "sheet", "People"),
    ],
)
def test_settings_of_a_sheet(tmp_path: Path, fields: Any, key: str, value: object) -> None:
    asked = asked_by(fields, project(tmp_path, "people.xlsx", None))
    assert not asked.mistakes
    assert asked.reading[key] == value
    for bad in ("x", "-1", "1.5", "9" * 12):
        assert "header_row" in asked_by({"header_row": bad}, project(tmp_path, "p.xlsx")).mistakes


def test_words_for_missing(tmp_path: Path) -> None:
    made = project(tmp_path)
    assert asked_by(sent(words=" ?\nNA\nNA\n\n"), made).missing == ["", " ?", "NA"]
    assert asked_by(sent(words="?", empty="no"), made).missing == ["?"]
    assert correction_of(asked_by(sent(words=""), made), made).missing == [""]


def test_columns_that_change_are_named_with_all_of_their_settings(tmp_path: Path) -> None:
    made = project(tmp_path)
    asked = asked_by(
        sent(**{"form-0": "plain", "form-1": "own", "own-1": "%m/%d/%Y", "name-x": "age",
                "form-x": "n|,||%"}),
        made,
    )  # fmt: skip
    none = {"decimal": None, "thousands": None, "percent": False, "date_format": None}
    assert correction_of(asked, made).columns == {
        "rent": none,
        "born": {**none, "date_format": "%m/%d/%Y"},
        "age": {**none, "decimal": ",", "percent": True},
    }


def test_every_option_stands_for_its_spelling() -> None:
    odd = Spelling(",", "_"), Spelling(date_format="%Y.%m.%d")
    numbers, dates = options(odd)
    assert set(odd) <= {*numbers, *dates}
    for one in (*numbers, *dates, Spelling()):
        assert spelling_in(option_of(one), "") == one
    with pytest.raises(BadPlan):
        spelling_in("n|;||", "")


def test_a_table_and_a_query_exclude_each_other(tmp_path: Path) -> None:
    made = project(tmp_path, plan=None)
    made.source = {"kind": "database", "address": "sqlite:///x.db", "table": None, "query": None}
    asked = asked_by({"table": "people", "query": ""}, made)
    assert asked.source(made)["table"] == "people"
    assert asked_by({"table": "people", "query": "SELECT 1"}, made).mistakes.keys() == {"query"}
