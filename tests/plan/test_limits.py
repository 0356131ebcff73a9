"""[limits] and [about] of a plan: what is accepted, kept in its file, and refused."""

from __future__ import annotations

import tomllib

import pytest

from shoal import Plan, compare
from shoal.base.errors import BadPlan
from shoal.plan.limits import PRESETS, Limits
from tests.measures.verdicts.test_verdict import people
from tests.measures.verdicts.test_verdict import plan as hospital

WHOLE = """
[about]
title = "Stays & visits"
owner = "Clinic"
purpose = "Research"
recipient = "University"
contact = "dpo@example.org"
date = 2026-03-01
signers = ["Dr. Ann Lee", "Bo Ek"]

[limits]
preset = "public"
average_risk = 0.05
share_at_risk = { share = 0.05, threshold = 0.2 }
loss = 30
suppressed = 0.02

[limits.attacks]
homogeneity = 0
skewness = 0.1

[columns]
age = "quasi"
"""


def plan(**more):
    return Plan(columns={"age": "quasi"}, **more)


def test_a_plan_file_keeps_them(tmp_path):
    (tmp_path / "plan.toml").write_text(WHOLE)
    one = Plan.load(tmp_path / "plan.toml")
    assert one.about.date == "2026-03-01"
    assert one.about.signers == ["Dr. Ann Lee", "Bo Ek"]
    assert one.limits.limit("highest_risk") == 0.09
    assert one.limits.attacks == {"homogeneity": 0.0, "skewness": 0.1}
    one.save(tmp_path / "again.toml")
    again = Plan.load(tmp_path / "again.toml")
    assert (again.about, again.limits) == (one.about, one.limits)
    assert again.to_toml() == one.to_toml()
    content = tomllib.loads(one.to_toml())
    assert content["limits"]["preset"] == "public"
    assert "highest_risk" not in content["limits"]  # it stays what the preset says


def test_nothing_is_written_where_nothing_is_set():
    assert "about" not in plan().to_toml()
    assert "limits" not in plan().to_toml()
    assert not plan().limits
    assert plan(limits={"loss": 5}).limits


def test_values_override_the_preset():
    assert Limits(preset="public", highest_risk=0.05).limit("highest_risk") == 0.05
    assert Limits(preset="cells-20").limit("highest_risk") == 1 / 20
    assert Limits().limit("highest_risk") is None
    assert set(PRESETS) >= {"public", "non-public", *(f"cells-{n}" for n in (3, 5, 10, 11, 20))}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"preset": "publik"}, "no preset 'publik'; did you mean 'public'"),
        ({"preset": "gdpr"}, "no preset 'gdpr'; there are public, non-public"),
        ({"highest_risk": 0}, "needs highest_risk above 0 and at most 1, got highest_risk=0"),
        ({"highest_risk": 1.01}, "needs highest_risk above 0 and at most 1"),
        ({"average_risk": -0.1}, "needs average_risk above 0 and at most 1"),
        ({"average_risk": float("nan")}, "needs average_risk above 0 and at most 1"),
        ({"suppressed": 2}, "needs suppressed from 0 to 1, got suppressed=2"),
        ({"loss": 101}, "needs loss from 0 to 100, got loss=101"),
        ({"loss": "5"}, "needs loss as a number, got loss='5'"),
        ({"attacks": {"homogenity": 0}}, "no attack 'homogenity'; did you mean 'homogeneity'"),
        ({"attacks": {"homogeneity": 5}}, "needs attacks.homogeneity from 0 to 1, got 5"),
        ({"attacks": {"homogeneity": None}}, "needs attacks.homogeneity from 0 to 1, got None"),
        ({"attacks": 0.1}, "needs attacks = { homogeneity = 0.0 }"),
        ({"share_at_risk": 0.1}, "needs share_at_risk = { share = 0.05, threshold = 0.2 }"),
        (
            {"share_at_risk": {"share": 0.1}},
            "share-at-risk needs threshold (risk, as 1 / class size, that is acceptable)",
        ),
        ({"share_at_risk": {"share": 3, "threshold": 0.1}}, "needs share from 0 to 1"),
        ({"higest_risk": 0.1}, "no option 'higest_risk'; did you mean 'highest_risk'"),
    ],
)
def test_bad_limits(given, said):
    with pytest.raises(BadPlan) as raised:
        plan(limits=given)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"titel": "x"}, "[about] has no option 'titel'; did you mean 'title'"),
        ({"title": 3}, "needs title as text in quotes, got title=3"),
        ({"owner": "  "}, "has an empty text"),
        ({"purpose": "x" * 1001}, "has a text of 1,001 characters"),
        ({"signers": [1]}, "needs signers as a list of texts"),
        ({"signers": ["x"] * 7}, "has 7 signers, and the page to sign has room for 6"),
    ],
)
def test_bad_words_about_a_release(given, said):
    with pytest.raises(BadPlan) as raised:
        plan(about=given)
    assert said in str(raised.value)


@pytest.mark.parametrize("table", ["about", "limits"])
def test_not_a_table(table):
    with pytest.raises(BadPlan, match=rf"\[{table}\] is a table"):
        plan(**{table: "public"})


def test_compare_measures_runs_beyond_a_limit():
    """Whoever compares wants to see what the others lose."""
    found = compare(
        people(), hospital(limits={"loss": 0.0}), k=[3], algorithms=["mondrian"], apart=False
    )
    assert found.lines[0].loss is not None
