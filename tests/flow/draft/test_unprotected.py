"""Sensitive columns that no requirement is about: said once, with a model that works."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.cli.plan_table import show_roles
from shoal.flow.draft.draft import examine
from shoal.flow.setup.answers import Answers, plan_of
from shoal.report.plan_facts import plan_file
from tests.cli.test_console import printed

ROWS = 60
TABLE = pa.table(
    {
        "patient": [f"p{i // 2}" for i in range(ROWS)],
        "age": [20 + i // 3 for i in range(ROWS)],
        "test result": ["positive", "negative"] * 30,
        "disease": ["flu", "cold", "asthma", "gout", "angina pectoris", "diabetes"] * 10,
    }
)
ALONE = TABLE.drop_columns(["patient"])
MODELS = [
    ("eir-l-diversity", TABLE, "docs/people.md"),
    ("distinct-l-diversity", ALONE, "models.md"),
]


@pytest.mark.parametrize(("model", "table", "page"), MODELS)
def test_it_is_said_once(model, table, page):
    plan = shoal.draft(table)
    assert plan.notes["disease"] == "names of diseases"
    (remark,) = plan.remarks
    assert remark.startswith("no requirement protects 'test result', 'disease' yet: ")
    assert model in remark
    assert page in remark
    assert printed(show_roles, plan).count("no requirement protects") == 1
    assert "#" not in plan_file(plan).toml  # comments are for those who edit the plan


@pytest.mark.parametrize(("model", "table", "page"), MODELS)
def test_the_model_of_the_plan_file_works(model, table, page, tmp_path):
    path = tmp_path / "plan.toml"
    shoal.draft(table).save(path)
    lines = path.read_text().splitlines()
    begin = lines.index("# [[models]]")
    end = lines.index("#", begin)  # the block ends with an empty comment
    lines[begin:end] = [line.removeprefix("# ") for line in lines[begin:end]]
    path.write_text("\n".join(lines))
    plan = Plan.load(path)
    assert plan.models[1].setting() == {"name": model, "column": "disease", "l": 3}
    assert all(check.holds for check in shoal.anonymize(table, plan.with_seed(1)).checks)


def test_two_values_can_be_required_of_two(tmp_path):
    plan = shoal.draft(ALONE.select(["age", "test result"]))
    assert "l = 2" in plan.comments


def test_columns_that_are_protected_are_not_named():
    examined = examine(ALONE)
    some = plan_of(examined, Answers(diversity={"disease": 2})).plan
    assert some.remarks[0].startswith("no requirement protects 'test result' yet")
    assert 'column = "test result"' in some.comments
    both = plan_of(examined, Answers(diversity={"disease": 2, "test result": 2})).plan
    assert not both.remarks
    assert "[[models]]" not in both.comments
    assert not shoal.draft(ALONE.select(["age"])).remarks
