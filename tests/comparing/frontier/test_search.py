"""The frontier: settings on a sample and on the table, and what it recommends."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, Plan
from shoal.comparing.frontier.points import UnfinishedFrontier
from shoal.comparing.frontier.settings import TriedSetting, tried_plans

COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
    "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
    "ill": {"role": "sensitive"},
}
PLAN = Plan(
    columns=COLUMNS,
    models=[
        {"name": "k-anonymity", "k": 3},
        {"name": "t-closeness", "column": "ill", "t": 0.4, "distance": "equal"},
    ],
    seed=1,
)


def people(rows=400):
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "age": rng.integers(20, 70, rows),
            "zip": [str(x) for x in rng.integers(10000, 10060, rows)],
            "ill": rng.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2]),
        }
    )


def test_each_setting_is_what_anonymize_finds():
    table = people()
    found = shoal.frontier(table, PLAN, k=[3, 6, 12], t=[0.4, 0.2])
    assert len(found.on_table) == 6
    assert found.sample_rows == 0
    for point in found.on_table:
        k, t = point.setting.value("k"), point.setting.value("t")
        models = [
            {"name": "k-anonymity", "k": k},
            {"name": "t-closeness", "column": "ill", "t": t, "distance": "equal"},
        ]
        release = shoal.anonymize(table, PLAN.changed(models=models))
        assert point.lost == release.losses["nllm"]
        assert point.average == release.risks.average
        assert point.highest == release.risks.prosecutor
    best = found.best
    for one in found.on_table:
        better = [
            o
            for o in found.on_table
            if o.average <= one.average
            and o.lost <= one.lost
            and (o.average, o.lost) != (one.average, one.lost)
        ]
        assert (one in best) <= (not better)
    assert found.is_own(next(one for one in found.points if one.setting.label == "k = 3, t = 0.4"))


def test_a_large_table_is_sampled_first():
    found = shoal.frontier(people(900), PLAN, k=[3, 5, 8, 12, 20], sample=150, runs=2)
    sampled = [one for one in found.points if one.on == "sample"]
    assert len(sampled) == 5
    assert found.sample_rows == 150
    assert 1 < len(found.on_table) < 5
    assert any(found.is_own(one) for one in found.on_table)
    assert "on a sample of 150 people" in found.notes[0]


def test_a_sample_of_people_has_all_of_their_records():
    table = people(900)
    who = np.random.default_rng(2).integers(0, 400, table.num_rows)
    table = table.append_column("who", pa.array(who))
    plan = PLAN.changed(columns={**PLAN.columns, "who": "person"})
    found = shoal.frontier(table, plan, k=[3, 5], sample=100)
    assert found.sample_rows > 150  # 100 people have about 2.5 records each
    assert "on a sample of 100 people" in found.notes[0]


def test_inference_is_the_largest_share_of_people_on_whom_an_attack_succeeds():
    """Of people, not of records, if there is a person column."""
    table = people(300)
    who = pa.array(np.random.default_rng(3).integers(0, 150, 300) ** 2 // 150)  # unevenly
    asked = PLAN.changed(columns={**PLAN.columns, "who": "person"})
    for frame, plan in ((table, PLAN), (table.append_column("who", who), asked)):
        (point,) = shoal.frontier(frame, plan, k=[3], risk="inference").points
        release = shoal.anonymize(frame, plan)
        key = "people_percent" if plan is asked else "percent"
        shares = [
            release.attacks[name]["ill"][key]
            for name in ("homogeneity", "background-knowledge", "skewness")
        ]
        assert point.inference == pytest.approx(max(shares) / 100)
        assert 0 < point.inference < 1


def test_by_default_each_option_is_varied_alone():
    plans = tried_plans(PLAN, 400, {})
    assert next(iter(plans)) == TriedSetting((("k", 3), ("t", 0.4)))
    varied = [
        sum(dict(one.options)[name] != value for name, value in (("k", 3), ("t", 0.4)))
        for one in plans
    ]
    assert max(varied) == 1
    ks = {one.value("k") for one in plans}
    assert 30 in ks
    assert 50 not in ks  # there is no room for ten classes


def test_models_are_tried_in_addition():
    extra = {"name": "distinct-l-diversity", "column": "ill", "l": 2}
    found = shoal.frontier(people(), PLAN, k=[3], models=[extra])
    assert [one.setting.added for one in found.points] == [
        (),
        ("distinct-l-diversity[ill] (l = 2)",),
    ]


def test_a_setting_without_a_release_says_why():
    found = shoal.frontier(people(60), PLAN, k=[3, 61])
    failed = next(one for one in found.points if one.lost is None)
    assert "cannot be reached" in failed.reason
    assert any("k = 61" in note for note in found.notes)


def test_if_only_t_is_varied_the_risk_is_inference():
    assert shoal.frontier(people(), PLAN, t=[0.4, 0.1]).by == "inference"
    assert shoal.frontier(people(), PLAN, k=[3, 5]).by == "average"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"l": [2]}, "no model of the plan has the option 'l'"),
        ({"k": []}, "give at least one k"),
        ({"k": ["5"]}, "k must be numbers"),
        ({"k": [1]}, "k-anonymity needs k of 2 or more"),
        ({"risk": "mean"}, "risk is one of average, highest, inference"),
        ({"runs": 0}, "1 or more"),
    ],
)
def test_wrong_settings(given, message):
    with pytest.raises(BadPlan, match=message):
        shoal.frontier(people(20), PLAN, **given)


def test_an_interrupt_keeps_what_is_done():
    seen = []

    def stop(stage, share):
        seen.append(stage)
        if stage.startswith("table: k = 12"):
            raise KeyboardInterrupt

    with pytest.raises(UnfinishedFrontier) as stopped:
        shoal.frontier(people(), PLAN, k=[3, 6, 12], progress=stop)
    assert not stopped.value.frontier.finished
    assert len(stopped.value.frontier.on_table) == 2
    with pytest.raises(KeyboardInterrupt):
        shoal.frontier(people(), PLAN, k=[12], progress=stop)
