"""Sampling fractions: stated once, or the same everywhere."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.base.errors import BadPlan
from shoal.plan.ways_out import resolved

PEOPLE = pa.table({"age": [20 + i % 3 for i in range(60)]})
K = {"name": "k-anonymity", "k": 5}
K_MAP = {"name": "k-map", "k": 5, "sampling_fraction": 0.5}
UNIQUE = {"name": "population-uniqueness", "u": 0.05}


def plan_of(*models, **given):
    return Plan(columns={"age": "quasi"}, models=list(models), seed=1, **given)


@pytest.mark.parametrize("run", [shoal.anonymize, shoal.audit])
@pytest.mark.parametrize(
    ("plan", "places"),
    [
        (plan_of(K_MAP, {**UNIQUE, "sampling_fraction": 0.01}),
         ["k-map has sampling_fraction = 0.5", "uniqueness has sampling_fraction = 0.01"]),
        (plan_of(K_MAP, population={"fraction": 0.1}),
         ["[population] has fraction = 0.1", "k-map has sampling_fraction = 0.5"]),
        (plan_of(K_MAP, {**UNIQUE, "sampling_fraction": 0.01}, population={"fraction": 0.1}),
         ["[population] has fraction = 0.1", "k-map has sampling_fraction = 0.5"]),
        (plan_of({**UNIQUE, "sampling_fraction": 0.2}, {**UNIQUE, "sampling_fraction": 0.3}),
         ["population-uniqueness has sampling_fraction = 0.2", "sampling_fraction = 0.3"]),
    ],
)  # fmt: skip
def test_fractions_that_differ_are_refused(plan, places, run):
    with pytest.raises(BadPlan, match="has one sampling fraction") as caught:
        run(PEOPLE, plan)
    assert all(place in str(caught.value) for place in places)
    for way in caught.value.ways:  # each settles one of the models
        settled(resolved(plan, way))


def settled(plan):
    """The plan, when the first way out of each further error is followed."""
    for _ in range(3):
        try:
            plan.check_served()
        except BadPlan as error:
            plan = resolved(plan, error.ways[0])
    plan.check_served()


def test_fractions_that_agree_are_not():
    same = plan_of(K_MAP, {**UNIQUE, "sampling_fraction": 0.5}, K, population={"fraction": 0.5})
    assert all(check.holds for check in shoal.anonymize(PEOPLE, same).checks)


def test_a_stated_fraction_is_the_default_of_a_model_that_needs_one(tmp_path):
    plan = plan_of(UNIQUE, population={"fraction": 0.25})
    assert plan.models[0].sampling_fraction == 0.25
    plan.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").models == plan.models
    own = plan_of({**UNIQUE, "sampling_fraction": 0.25}, population={"fraction": 0.25})
    assert own.models == plan.models
    with pytest.raises(
        BadPlan,
        match=r"needs sampling_fraction, the share .* or as fraction under \[population\]\. .*"
        r"by size, or by the sum of the weights \(shoal audit shows it\)",
    ):
        plan_of(UNIQUE)
    with pytest.raises(BadPlan, match=r"size = 6,000 under \[population\] is no fraction"):
        plan_of(UNIQUE, population={"size": 6000})
    with pytest.raises(BadPlan, match="population-uniqueness needs u"):
        plan_of({"name": "population-uniqueness"}, population={"fraction": 0.25})


def test_k_map_has_to_state_that_it_is_estimated():
    """It counts people of a table unless it says so; the error names what does not count for it."""
    plan = plan_of({"name": "k-map", "k": 5}, population={"fraction": 0.5})
    with pytest.raises(
        BadPlan, match=r"fraction = 0.5 under \[population\] does not count"
    ) as error:
        shoal.anonymize(PEOPLE, plan)
    [estimated] = [way for way in error.value.ways if way.action == "set"]
    assert resolved(plan, estimated).models[0].sampling_fraction == 0.5
    shoal.anonymize(PEOPLE, resolved(plan, estimated))
    plan = plan_of({"name": "k-map", "k": 5}, population={"size": 6000})
    with pytest.raises(BadPlan, match=r"size = 6,000 under \[population\] does not count"):
        shoal.anonymize(PEOPLE, plan)
    plan = plan_of({"name": "delta-presence", "high": 0.5}, population={"fraction": 0.5})
    with pytest.raises(BadPlan, match=r"fraction = 0.5 under \[population\] does not") as error:
        shoal.anonymize(PEOPLE, plan)
    assert [way.action for way in error.value.ways] == ["remove"]


@pytest.mark.parametrize("stated", ["weights", "size"])
def test_a_model_that_assumes_another_fraction_than_the_table_has_is_noted(stated, tmp_path):
    """60 people of 600, and a model that takes them for half of the population."""
    table = PEOPLE.append_column("w", pa.array([10.0] * 60))
    columns = {"age": "quasi", "w": "weight" if stated == "weights" else "drop"}
    population = {"size": 600} if stated == "size" else {}
    plan = Plan(columns=columns, models=[K_MAP], population=population, seed=1)
    words = r"k-map assumes a sampling fraction of 50"
    for notes in (shoal.anonymize(table, plan).notes, shoal.audit(table, plan).notes):
        [note] = [one for one in notes if words in one]
        assert "the sum of the weights" in note or "size" in note
    page = tmp_path / "report.html"
    shoal.anonymize(table, plan).report(page)
    said = " ".join(re.sub(r"<[^>]*>", " ", page.read_text()).split())
    assert "▲ The requirement is satisfied. What a requirement assumes" in said
    assert "▲ in doubt Each person is estimated to look like at least" in said
    assert said.count("one of them is wrong. If it is the one in the requirement") == 1
    right = plan.changed(models=[{**K_MAP, "sampling_fraction": 0.1}])
    assert not any("assumes a sampling" in one for one in shoal.audit(table, right).notes)
