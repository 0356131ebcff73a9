"""Attackers who know different columns: what a plan accepts."""

from __future__ import annotations

import pytest

from shoal import BadPlan, Plan

COLUMNS = {"age": "quasi", "sex": "quasi", "zip": "quasi", "ill": "sensitive"}
MODELS = [{"name": "k-anonymity", "k": 2}]
BOTH = [{"knows": ["age", "sex"], "who": "employer"}, {"knows": ["sex", "zip"]}]


def plan(attackers, **more):
    return Plan(**{"columns": COLUMNS, "models": MODELS, "attackers": attackers, **more})


def test_saved_and_loaded_again(tmp_path):
    plan(BOTH).save(tmp_path / "plan.toml")
    again = Plan.load(tmp_path / "plan.toml")
    assert again.to_toml() == plan(BOTH).to_toml()
    assert [one.title for one in again.attackers] == ["employer", "who knows sex and zip"]
    assert again.known == [["age", "sex"], ["sex", "zip"]]


@pytest.mark.parametrize(
    ("attackers", "message"),
    [
        ([{"knows": ["age", "ill"]}], "'ill', which has the role sensitive; a key set is made of"),
        ([{"knows": ["agee"]}], "'agee', which is no column of the plan; did you mean 'age'?"),
        ([{"knows": ["age", "sex"]}], "no attacker knows 'zip', but the role quasi says"),
        ([{"knows": []}], "at least one quasi-identifier"),
        ([{"knows": ["age", "age", "sex", "zip"]}], "names 'age' twice"),
        ([{}], "an attacker needs knows"),
        ([{"knows": "age"}], "knows='age'"),
        ([{"knows": ["age", "sex", "zip"], "who": " "}], "empty name"),
        ([{"know": ["age"]}], "has no option 'know'; did you mean 'knows'?"),
        ([*BOTH, {"knows": ["age"], "who": "employer"}], "two attackers are called 'employer'"),
        ("age", r"\[\[attackers\]\] are tables"),
        (["age"], r"\[\[attackers\]\] are tables"),
    ],
)
def test_wrong_key_sets(attackers, message):
    with pytest.raises(BadPlan, match=message):
        plan(attackers)


def test_models_about_all_columns_have_one_attacker():
    with pytest.raises(BadPlan, match="k-concealment is about an attacker who knows all"):
        plan(BOTH, models=[{"name": "k-concealment", "k": 2}], algorithm="concealment")
