"""Offers: every model of the catalog is offered, or there is a reason."""

from __future__ import annotations

from typing import Any

import pytest

from shoal import Plan, catalog
from shoal.base.errors import BadPlan
from shoal.studio.requirements.offers import made, most_of, offers
from shoal.studio.wording import LANGUAGES, texts

QUASI = {"age": "quasi", "sex": "quasi"}


def reasons(plan: Plan, **distinct: int) -> dict[str, str]:
    found = [one for some in offers(plan, distinct).values() for one in some]
    assert sorted(one.name for one in found) == sorted(catalog.models)
    return {one.name: one.reason for one in found}


def plan_of(columns: dict[str, Any], **given: Any) -> Plan:
    return Plan(columns=columns, **given)


def test_models_about_values_need_a_sensitive_column() -> None:
    alone = reasons(plan_of(QUASI))
    assert alone["k-anonymity"] == ""
    assert alone["t-closeness"] == "sensitive"
    with_one = reasons(plan_of({**QUASI, "disease": "sensitive"}), disease=5)
    assert with_one["t-closeness"] == ""
    assert with_one["eir-l-diversity"] == "person"
    assert reasons(plan_of({**QUASI, "ward": "sensitive"}), ward=1)["t-closeness"] == "sensitive"


def test_models_about_people_need_a_person_column_and_others_none() -> None:
    found = reasons(plan_of({**QUASI, "disease": "sensitive", "who": "person"}), disease=5)
    assert found["eir-l-diversity"] == ""
    assert found["k-concealment"] == "no-person"
    several = plan_of(QUASI, attackers=[{"knows": ["age"]}, {"knows": ["sex"]}])
    assert reasons(several)["k-concealment"] == "attackers"


def test_only_columns_that_fit_are_offered() -> None:
    plan = plan_of({**QUASI, "disease": "sensitive", "ward": "sensitive", "drug": "sensitive"})
    values = offers(plan, {"disease": 5, "ward": 1, "drug": 2})["values"]
    assert {one.columns for one in values} == {("disease", "drug")}


@pytest.mark.parametrize("name", catalog.models)
def test_each_can_be_added_and_has_a_title_in_every_language(name: str) -> None:
    model = made(name, "disease")
    assert catalog.models.make(model.setting()) == model
    for language in LANGUAGES:
        assert f"models.{name}" in texts(language)


def test_a_model_about_values_needs_its_column() -> None:
    with pytest.raises(BadPlan, match="choose one"):
        made("t-closeness")
    with pytest.raises(BadPlan, match="no model"):
        made("k-anonimity")


def test_sliders_end_where_the_table_does() -> None:
    assert most_of(made("k-anonymity"), 40, {}) == {"k": 40}
    assert most_of(made("p-sensitivity", "disease"), 40, {"disease": 3})["p"] == 3
