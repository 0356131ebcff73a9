"""Opening a table, and reading it again in another way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal import Plan
from shoal.base.errors import BadFile, BadInput, BadTable
from shoal.base.progress import silent
from shoal.studio.tasks import open as opening
from shoal.studio.tasks._serving import Held
from shoal.studio.tasks.open import Correction, Overview, run

ROWS = ["größe;born;seen;job", *(
    f"{150 + i % 40},{i % 10};{1 + i % 28:02}.{1 + i % 12:02}.{1950 + i % 30};"
    f"0{1 + i % 9}/0{1 + i % 8}/2024;{('cook', 'nurse', '?')[i % 3]}"
    for i in range(200)
)]  # fmt: skip


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_bytes("\n".join(ROWS).encode("latin-1"))
    return path


class Opened:
    """A process, and the plan that a project keeps."""

    def __init__(self, path: Path) -> None:
        self.held = Held()
        self.source = {"kind": "file", "path": str(path)}
        self.plan = path.parent / "plan.toml"
        self.overview: Overview | None = None

    def ask(self, correction: Correction | None = None, **more: Any) -> Overview:
        self.overview = run(
            self.held,
            silent,
            **{
                "source": self.source,
                "reading": {},
                "plan": str(self.plan) if self.plan.exists() else None,
                "drafted": self.overview.drafted if self.overview else None,
                "correction": correction,
                **more,
            },
        )
        self.plan.write_text(self.overview.plan, encoding="utf-8")
        return self.overview

    def view(self, name: str) -> Any:
        assert self.overview is not None
        return next(one for one in self.overview.columns if one.name == name)

    def column(self, name: str) -> Any:
        return Plan.load(self.plan).columns[name]

    def change(self, name: str, **fields: Any) -> None:
        plan = Plan.load(self.plan)
        column = plan.columns[name].changed(**fields)
        self.plan.write_text(plan.changed(columns={**plan.columns, name: column}).to_toml())


def test_a_table_is_read_and_a_plan_is_proposed(table: Path) -> None:
    opened = Opened(table)
    overview = opened.ask()
    assert overview.rows == 200
    assert overview.reading == {"encoding": "latin-1", "delimiter": ";"}
    assert overview.missing == ("", "?")
    assert [one.kind for one in overview.columns] == ["numbers", "dates", "texts", "texts"]
    seen = opened.view("seen")
    assert [way.settings["date_format"] for way in seen.ways] == ["%d/%m/%Y", "%m/%d/%Y"]
    day, month = (way.read for way in seen.ways)
    assert (day[5:7], day[8:]) == (month[8:], month[5:7]) != (day[8:], day[5:7])
    assert opened.view("job").missing == 66
    assert opened.column("born").date_format == "%d.%m.%Y"
    assert not overview.changed


def test_the_same_plan_reads_it_as_before(table: Path) -> None:
    opened = Opened(table)
    first = opened.ask()
    opened.held = Held()  # another session
    again = opened.ask()
    assert again.columns == first.columns
    assert not again.changed
    assert again.plan.count("role") == first.plan.count("role")


def test_a_doubt_is_settled_and_decisions_are_kept(table: Path) -> None:
    opened = Opened(table)
    opened.ask()
    opened.change("job", role="sensitive")
    opened.ask(Correction(columns={"seen": {"date_format": "%d/%m/%Y"}}))
    assert opened.column("seen").date_format == "%d/%m/%Y"
    assert opened.view("seen").kind == "dates"
    assert not opened.view("seen").doubt
    assert opened.column("seen").hierarchy is not None  # nobody decided: the new proposal
    assert opened.column("job").role == "sensitive"
    assert opened.held["frame"].column("seen")[0].as_py() == "2024-01-01"


def test_words_for_missing_of_all_columns_and_of_one(table: Path) -> None:
    opened = Opened(table)
    opened.ask()
    opened.ask(Correction(missing=[""]))
    assert (opened.view("job").missing, opened.view("job").distinct) == (0, 3)
    assert Plan.load(opened.plan).missing_values == [""]
    opened.ask(Correction(columns={"job": {"missing_values": ["cook"]}}))
    assert opened.view("job").missing == 67
    assert opened.column("job").missing_values == ["cook"]
    opened.ask()  # as the plan states it
    assert opened.view("job").missing == 67


def test_other_names_of_columns_keep_what_fits(table: Path) -> None:
    opened = Opened(table)
    opened.ask()
    plan = Plan.load(opened.plan).changed(models=[{"name": "k-anonymity", "k": 17}])
    opened.plan.write_text(plan.to_toml())
    overview = opened.ask(Correction({"delimiter": ";", "encoding": "latin-1", "header": False}))
    assert [one.name for one in overview.columns] == [f"column_{i}" for i in range(1, 5)]
    assert overview.fit["lost"] == ["größe", "born", "seen", "job"]
    kept = Plan.load(opened.plan)
    assert list(kept.columns) == [one.name for one in overview.columns]
    assert kept.models[0].options()["k"] == 17


@pytest.mark.parametrize("small", [True, False])
def test_a_correction_that_fails_leaves_the_table(
    table: Path, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether there was memory for both, or the old one had to be read again."""
    if not small:
        monkeypatch.setattr(opening, "SMALL", 0)
    opened = Opened(table)
    before = opened.ask()
    text = opened.plan.read_text(encoding="utf-8")
    for wrong in (
        Correction({"encoding": "utf-16"}),
        Correction({"delimiter": ","}),
        Correction(columns={"born": {"date_format": "%Y/%m/%d"}}),
    ):
        with pytest.raises((BadFile, BadTable)):
            opened.ask(wrong)
        assert opened.held["examined"].frame.height == 200
        assert opened.held["examined"].frame.names == [one.name for one in before.columns]
    assert opened.plan.read_text(encoding="utf-8") == text
    assert opened.ask().columns == before.columns


def test_a_dictionary_gives_labels_and_roles(table: Path, tmp_path: Path) -> None:
    opened = Opened(table)
    opened.ask()
    opened.change("job", role="drop")
    words = tmp_path / "dictionary.csv"
    words.write_text("column,label,role,codes\njob,Occupation,quasi,cook=Koch\nborn,,,\n")
    opened.ask(Correction(described=True), dictionary=str(words))
    assert opened.column("job").role == "quasi"
    assert opened.view("job").label == "Occupation"
    assert opened.view("job").labels == (("cook", "Koch"),)
    opened.change("job", role="other")
    opened.ask(dictionary=str(words))  # read again: what was decided after it stays
    assert opened.column("job").role == "other"
    words.write_text("column,role\nnothing,quasi\n")
    with pytest.raises(BadInput, match="columns that the table lacks: 'nothing'"):
        opened.ask(Correction(described=True), dictionary=str(words))


def test_a_plan_for_another_table_is_fitted(table: Path) -> None:
    opened = Opened(table)
    opened.plan.write_text('[columns]\njob = "sensitive"\nage = "quasi"\n', encoding="utf-8")
    overview = opened.ask()
    assert overview.changed
    assert overview.fit["new"] == ["größe", "born", "seen"]
    assert overview.fit["lost"] == ["age"]
    assert opened.column("job").role == "sensitive"


def test_what_another_role_needs_is_known(table: Path) -> None:
    opened = Opened(table)
    opened.ask()
    view = opened.view("born")
    assert view.published == {"date_format": "%d.%m.%Y"}
    assert view.quasi["hierarchy"] == {"dates": ["month", "year", "5 years", "decade"]}
    assert opened.view("job").quasi == {}


def test_what_was_decided_stays_after_another_correction(table: Path) -> None:
    """Also if the bytes are read in another way: only what nobody decided is found out anew."""
    opened = Opened(table)
    opened.ask()
    opened.ask(Correction(missing=[""]))
    opened.ask(Correction(columns={"seen": {"date_format": "%m/%d/%Y"}}))
    assert Plan.load(opened.plan).missing_values == [""]
    again = {"delimiter": ";", "encoding": "windows-1252"}
    opened.ask(Correction(again))
    plan = Plan.load(opened.plan)
    assert plan.read.stated() == again
    assert plan.missing_values == [""]
    assert plan.columns["seen"].date_format == "%m/%d/%Y"
    assert plan.columns["born"].date_format == "%d.%m.%Y"
    assert opened.view("job").missing == 0
