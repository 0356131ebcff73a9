"""A draft states how the table is written, and its plan runs as it stands."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import shoal
from shoal import BadHierarchy, Plan
from shoal.io.raw_text.spelling import Spelling

RANDOM = Random(5)


def record():
    some = RANDOM.randrange
    return (
        f"{150 + some(40)},{some(10)}",
        f"{1 + some(28):02}.{1 + some(12):02}.{1950 + some(5)}",
        f"{1 + some(3)}.{100 + some(900)},50",
        f"0{1 + some(9)}/0{1 + some(9)}/2024",
    )


ROWS = [("größe", "born", "rent", "seen"), *(record() for _ in range(200))]


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes("\n".join(map(";".join, ROWS)).encode("latin-1"))
    return path


def test_a_draft_states_what_it_found(people, tmp_path):
    plan = shoal.draft(people)
    assert plan.read.stated() == {"encoding": "latin-1", "delimiter": ";"}
    assert plan.columns["größe"].decimal == ","
    assert plan.columns["born"].date_format == "%d.%m.%Y"
    assert plan.columns["born"].hierarchy.setting() == {"dates": ["month", "year"]}
    assert (plan.columns["rent"].decimal, plan.columns["rent"].thousands) == (",", ".")
    assert plan.columns["seen"].spelling is None
    assert "in doubt: '0" in plan.notes["seen"]
    assert "(date_format = '%d/%m/%Y') or 2024-" in plan.notes["seen"]
    plan.save(tmp_path / "plan.toml")
    again = Plan.load(tmp_path / "plan.toml").with_seed(1)
    release = shoal.anonymize(people, again)
    release.save(tmp_path / "release.csv")
    found = shoal.audit(tmp_path / "release.csv", again, original=people)
    assert found.holds
    assert found.quality.losses == release.losses


def dated(date_format):
    return Spelling(date_format=date_format)


@pytest.mark.parametrize(
    ("other", "doubtful", "spelling"),
    [
        (["1,5", "2,25"], ["2.174", "0"], Spelling(",", ".")),
        (["1.234,5", "2"], ["2.174", "0"], Spelling(",", ".")),
        (["1,5", "2,25"], ["2,174", "0"], Spelling(",")),
        (["1.5", "2.25"], ["2,174", "0"], Spelling(".", ",")),
        (["1.5", "2.25"], ["2.174", "0"], None),
        (["17.05.2024", "1.6.2024"], ["01.02.2024", "05.06.2024"], dated("%d.%m.%Y")),
        (["05/17/2024", "1/6/2024"], ["01/02/2024", "5/6/2024"], dated("%m/%d/%Y")),
    ],
)  # fmt: skip
def test_other_columns_settle_a_doubt(other, doubtful, spelling):
    plan = shoal.draft(pa.table({"a": other * 20, "b": doubtful * 20}))
    assert plan.columns["b"].spelling == spelling
    assert ("as in other columns" in plan.notes["b"]) == (spelling is not None)
    assert "in doubt" not in plan.notes["b"]
    alone = shoal.draft(pa.table({"b": doubtful * 20}))
    assert "in doubt" in alone.notes["b"]
    assert alone.columns["b"].spelling is None


@pytest.mark.parametrize(
    ("others", "doubtful"),
    [
        ([["1,5", "2"], ["1.5", "2"]], ["2.174", "0"]),  # two ways in one table
        ([["1 234", "17"]], ["2.174", "0"]),  # no decimals
        ([["17.05.2024", "1.6.2024"]], ["01/02/2024", "05/06/2024"]),  # another separator
    ],
)
def test_other_columns_that_settle_nothing(others, doubtful):
    columns = {f"a{i}": one * 20 for i, one in enumerate(others)}
    plan = shoal.draft(pa.table(columns | {"b": doubtful * 20}))
    assert "in doubt" in plan.notes["b"]
    assert plan.columns["b"].spelling is None


def test_dates_that_are_all_in_doubt_get_one_advice_that_works():
    """They need not be rewritten: what the note says to state is enough."""
    born = [f"{1 + i % 12:02}.{1 + i * 5 % 12:02}.{1990 + i % 9}" for i in range(200)]
    table = pa.table({"age": [20 + i % 9 for i in range(200)], "born": born})
    plan = shoal.draft(table).with_seed(1)
    why = plan.notes["born"]
    assert "in doubt: '" in why
    assert "rewrite" not in why
    assert "state which one in the plan" in why
    assert "(date_format = '%d.%m.%Y')" in why
    assert 'dates = ["month", "year"]' in why
    stated = {"role": "quasi", "date_format": "%d.%m.%Y", "hierarchy": {"dates": ["month", "year"]}}
    release = shoal.anonymize(table, plan.changed(columns=dict(plan.columns) | {"born": stated}))
    assert release.smallest_class >= 5


def test_dates_that_no_format_reads_are_to_be_rewritten():
    born = ["30/13/1990", "13/30/1991"] * 30
    plan = shoal.draft(pa.table({"age": [20 + i % 9 for i in range(60)], "birth_date": born}))
    assert plan.notes["birth_date"] == "birth dates, not written as 2024-05-17; rewrite them"


def test_words_for_missing_may_have_blanks_around_them(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a, b\n" + "1, x\n2, ?\n" * 20)
    plan = shoal.draft(path).with_seed(1)
    assert plan.missing_values == ["", " ?"]
    with pytest.raises(BadHierarchy, match="missing values in 20 rows"):
        shoal.anonymize(path, plan.changed(missing="error"))


def test_the_plan_of_a_text_file_says_how_to_write_types(people, tmp_path):
    path = tmp_path / "plan.toml"
    shoal.draft(people).save(path)
    lines = path.read_text().splitlines()
    begin = lines.index("# [write]")
    lines[begin : begin + 2] = [line.removeprefix("# ") for line in lines[begin : begin + 2]]
    path.write_text("\n".join(lines))
    assert Plan.load(path).write.types == "infer"
    typed = pa.table({"age": [30, 31] * 20, "town": ["a", "b"] * 20})
    assert "[write]" not in shoal.draft(typed).comments
    mixed = typed.append_column("zip", [["17", "18"] * 20])
    assert "[write]" in shoal.draft(mixed).comments
    texts = pa.table({"sex": ["f", "m"] * 20, "town": ["a", "b"] * 20})
    assert "[write]" not in shoal.draft(texts).comments
