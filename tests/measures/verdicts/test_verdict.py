"""Verdicts: each limit is recounted on the published frame by naive code."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal import Plan
from shoal.base.errors import BadPlan, NotHeld
from shoal.measures.verdicts.refusal import raise_beyond_limits
from shoal.measures.verdicts.verdict import CLOSE, Verdict
from shoal.plan.limits import PRESETS

QUASI = ["age", "city"]
LOOSE = {
    "highest_risk": 1.0,
    "average_risk": 1.0,
    "share_at_risk": {"share": 1.0, "threshold": 0.15},
    "attacks": {"linkage": 1.0, "homogeneity": 1.0, "skewness": 1.0},
    "loss": 100.0,
    "suppressed": 1.0,
}


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "who": [f"p{i}" for i in rng.integers(0, n // 2, n)],
            "age": rng.integers(20, 80, n),
            "city": rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "disease": rng.choice(["flu", "cold", "gout"], n, p=[0.7, 0.2, 0.1]),
        }
    )


def plan(role="identifier", k=3, **more):
    return Plan(
        columns={
            "who": role,
            "age": {"role": "quasi", "hierarchy": {"ranges": [10, 20]}},
            "city": "quasi",
            "disease": "sensitive",
        },
        models=[{"name": "k-anonymity", "k": k}],
        seed=1,
        **more,
    )


def recounted(frame, person, quasi=QUASI):
    """By definition, on lists: each person, their classes, and who else is in all of them."""
    rows = [
        (row[person] if person else i, tuple(row[name] for name in quasi), row["disease"])
        for i, row in enumerate(frame.to_dict("records"))
    ]
    classes = {}
    values = {}
    for who, where, value in rows:
        classes.setdefault(who, set()).add(where)
        values.setdefault(where, {}).setdefault(who, []).append(value)
    alike = {
        who: sum(1 for other in classes.values() if mine <= other) for who, mine in classes.items()
    }
    risk = {who: 1 / number for who, number in alike.items()}
    revealed = set()
    for members in values.values():
        every = [value for mine in members.values() for value in mine]
        common = set.intersection(*(set(mine) for mine in members.values()))
        if len(set(every)) == 1 or common:
            revealed |= set(members)
    return {
        "highest_risk": max(risk.values()),
        "average_risk": sum(risk.values()) / len(risk),
        "share_at_risk": sum(one > 0.15 + 1e-12 for one in risk.values()) / len(risk),
        "attacks.linkage": sum(number == 1 for number in alike.values()) / len(alike),
        "attacks.homogeneity": len(revealed) / len(classes),
    }


@pytest.mark.parametrize("role", ["identifier", "person"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_reached_is_what_naive_code_counts(role, seed):
    table = people(seed=seed)
    asked = plan(role, limits=LOOSE, algorithm={"name": "full-domain", "suppression": 0.1})
    if role == "person":
        asked = plan(role, limits=LOOSE)
    release = shoal.anonymize(table, asked)
    found = {one.name: one for one in release.limits}
    for name, value in recounted(release.frame, "who" if role == "person" else None).items():
        assert found[name].reached == pytest.approx(value), name
    assert found["loss"].reached == release.losses["nllm"]
    assert found["suppressed"].reached == (len(table) - len(release.frame)) / len(table)
    assert found["share_at_risk"].threshold == 0.15
    skew = release.attacks["skewness"]["disease"]
    assert found["attacks.skewness"].reached == pytest.approx(
        skew["people_percent" if role == "person" else "percent"] / 100
    )
    # An audit of the release against its original reaches the same.
    assert [one.as_dict() for one in audited(release, table, asked)] == [
        pytest.approx(one.as_dict()) for one in release.limits
    ]


def test_a_limit_holds_for_each_of_several_attackers():
    table = people()
    sets = [["age"], ["city"]]
    limits = {key: LOOSE[key] for key in LOOSE if key != "attacks"}
    limits["attacks"] = {"linkage": 1.0, "homogeneity": 1.0}
    release = shoal.anonymize(
        table, plan(limits=limits, attackers=[{"knows": names} for names in sets])
    )
    each = [recounted(release.frame, None, names) for names in sets]
    for one in release.limits:
        if one.name in each[0]:
            assert one.reached == pytest.approx(max(found[one.name] for found in each)), one.name
    assert len({found["average_risk"] for found in each}) == 2


def audited(release, table, asked):
    return shoal.audit(release.frame, asked, original=table).limits


@pytest.mark.parametrize(
    ("limit", "reached", "colour"),
    [
        (0.2, 0.16, "green"),
        (0.2, 0.16 * (1 + 1e-12), "green"),  # rounding is not closeness
        (0.2, 0.1601, "amber"),
        (0.2, 0.2, "amber"),
        (1 / 11, 1 / 11 * (1 + 1e-12), "amber"),
        (0.2, 0.2001, "red"),
        (0.0, 0.0, "green"),
        (0.0, 0.0001, "red"),
        (0.2, None, "unknown"),
    ],
)
def test_the_rule(limit, reached, colour):
    assert CLOSE == 0.8
    assert Verdict("highest_risk", limit, reached).verdict == colour


def test_a_red_limit_is_refused_and_a_looser_one_is_not():
    table = people()
    reached = {one.name: one.reached for one in shoal.anonymize(table, plan(limits=LOOSE)).limits}
    for name in ("highest_risk", "average_risk", "loss"):
        within = {name: reached[name]}
        (one,) = shoal.anonymize(table, plan(limits=within)).limits
        assert (one.reached, one.verdict) == (reached[name], "amber")
        with pytest.raises(NotHeld, match=f"beyond a limit: {name} is .* and the limit is"):
            shoal.anonymize(table, plan(limits={name: 0.99 * reached[name]}))
    with pytest.raises(NotHeld, match=r"attacks.skewness is .* \(on 'disease'\)"):
        shoal.anonymize(table, plan(limits={"attacks": {"skewness": 0.0}}))
    with pytest.raises(NotHeld, match=r"share_at_risk .* share-at-risk with share = 0 and"):
        shoal.anonymize(table, plan(limits={"share_at_risk": {"share": 0.0, "threshold": 0.1}}))
    suppressing = plan(algorithm={"name": "full-domain", "suppression": 0.2}, k=8)
    assert shoal.anonymize(table, suppressing).suppressed
    with pytest.raises(NotHeld, match=r"suppressed is .* and the limit is 0 %"):
        shoal.anonymize(table, suppressing.changed(limits={"suppressed": 0.0}))


def test_the_advice_of_a_refusal_works():
    table = people()
    with pytest.raises(NotHeld, match="k-anonymity with k = 12 keeps to it"):
        shoal.anonymize(table, plan(limits={"preset": "public"}))
    (one,) = shoal.anonymize(table, plan(k=12, limits={"preset": "public"})).limits
    assert one.reached <= 0.09
    with pytest.raises(NotHeld, match=r"9\.09091 %, and the limit is 9 %|9\.1 %"):
        shoal.anonymize(table, plan(k=11, limits={"preset": "public"}))
    average = [{"name": "average-risk", "r": 0.05}]
    with pytest.raises(NotHeld, match=r"average-risk with r = 0.05 keeps to it"):
        shoal.anonymize(table, plan(limits={"average_risk": 0.05}))
    shoal.anonymize(table, plan(limits={"average_risk": 0.05}).changed(models=average))


def test_limits_that_no_release_can_keep_are_said_to_be_so():
    table = people()
    with pytest.raises(NotHeld, match="which no table of 120 people can reach"):
        shoal.anonymize(table, plan(limits={"highest_risk": 1 / 121}))
    bound = shoal.anonymize(table, plan()).bound
    below = 0.9 * bound.percent
    with pytest.raises(NotHeld, match=r"proven that no release .* contradicts the requirements"):
        shoal.anonymize(table, plan(limits={"loss": below}))
    reached = shoal.anonymize(table, plan()).losses["nllm"]
    assert bound.percent < reached
    with pytest.raises(NotHeld) as raised:
        shoal.anonymize(table, plan(limits={"loss": (bound.percent + reached) / 2}))
    assert "proven" not in str(raised.value)
    with pytest.raises(NotHeld, match=r"in percent: 25 and not 0.25|contradicts"):
        shoal.anonymize(table, plan(limits={"loss": 0.25}))


def test_limits_that_contradict_each_other_are_said_to_do_so():
    """A risk needs larger classes than the plan asks for, and these lose more than they may."""
    table = people()
    needed = shoal.anonymize(table, plan(k=12))
    own = shoal.anonymize(table, plan())
    between = (own.losses["nllm"] + needed.bound.percent) / 2
    assert own.losses["nllm"] < between < needed.bound.percent
    words = r"k = 12 keeps to it.*at least 12 people .* highest_risk and loss contradict each other"
    with pytest.raises(NotHeld, match=words):
        shoal.anonymize(table, plan(limits={"highest_risk": 1 / 12, "loss": between}))
    with pytest.raises(NotHeld) as raised:
        shoal.anonymize(table, plan(limits={"highest_risk": 1 / 12, "loss": 100}))
    assert "contradict" not in str(raised.value)
    shoal.anonymize(table, plan(k=12, limits={"highest_risk": 1 / 12, "loss": 100}))


def test_what_cannot_be_judged_is_not_green():
    table = people()
    with pytest.raises(BadPlan, match=r"similarity under \[limits\] cannot be judged"):
        shoal.anonymize(table, plan(limits={"attacks": {"similarity": 1.0}}))
    with pytest.raises(BadPlan, match="matching, which is run on releases without classes only"):
        shoal.anonymize(table, plan(limits={"attacks": {"matching": 1.0}}))
    bare = plan(limits={"attacks": {"homogeneity": 1.0}})
    bare = bare.changed(columns={**bare.columns, "disease": "other"})
    with pytest.raises(BadPlan, match="the plan has no sensitive column"):
        shoal.anonymize(table, bare)
    # With two values, what the attack finds means nothing, and so does a limit on it.
    two = table.assign(disease=table["disease"].replace("gout", "cold"))
    with pytest.raises(BadPlan, match="fewer than 3 different values"):
        shoal.anonymize(two, plan(limits={"attacks": {"background-knowledge": 1.0}}))
    audit = shoal.audit(table, plan(limits={"loss": 10, "suppressed": 0.1, "highest_risk": 1.0}))
    assert [one.verdict for one in audit.limits] == ["amber", "unknown", "unknown"]


def test_an_audit_reports_a_red_limit_and_does_not_hold():
    table = people().drop(columns="who")
    asked = plan(k=2, limits={"highest_risk": 0.2})
    asked = asked.changed(
        columns={name: column for name, column in asked.columns.items() if name != "who"},
        models=[],
    )
    audit = shoal.audit(table, asked)
    assert not audit.holds
    assert audit.as_dict()["limits"] == [
        {"name": "highest_risk", "limit": 0.2, "reached": 1.0, "verdict": "red"}
    ]
    assert shoal.audit(table, asked.changed(limits={})).holds


def test_without_classes():
    from tests.algorithms.test_concealment import people as somebody
    from tests.algorithms.test_concealment import plan as concealed

    limits = {"highest_risk": 1.0, "average_risk": 1.0, "attacks": {"matching": 1.0, "graph": 1.0}}
    release = shoal.anonymize(somebody(60), concealed().changed(limits=limits))
    found = {one.name: one.reached for one in release.limits}
    assert found["highest_risk"] == release.risks.prosecutor
    assert found["attacks.matching"] == release.attacks["matching"]["percent"] / 100
    with pytest.raises(BadPlan, match=r"dependency, which rules out .* k-concealment forms no"):
        shoal.anonymize(somebody(60), concealed().changed(limits={"attacks": {"dependency": 0.1}}))
    with pytest.raises(BadPlan, match="share_at_risk, which is measured on classes"):
        shoal.anonymize(
            somebody(60),
            concealed().changed(limits={"share_at_risk": {"share": 0.1, "threshold": 0.2}}),
        )


def test_without_classes_limits_are_not_said_to_contradict_each_other():
    """The bound is for releases with classes, and this plan asks for one without them."""
    from tests.algorithms.test_concealment import people as somebody
    from tests.algorithms.test_concealment import plan as concealed

    limits = {"highest_risk": 0.02, "loss": 0.01}
    with pytest.raises(NotHeld, match=r"highest_risk is .* loss is ") as raised:
        shoal.anonymize(somebody(60), concealed().changed(limits=limits))
    assert "contradict" not in str(raised.value)


@pytest.mark.parametrize(
    ("verdict", "advice"),
    [
        (Verdict("attacks.skewness", 0.1, 0.2, "pay"), "model about 'pay', such as t-closeness"),
        (Verdict("attacks.homogeneity", 0, 0.2, "pay"), "l-diversity with l = 2 about 'pay' keeps"),
        (Verdict("attacks.linkage", 0.1, 0.2), "a larger k may lower it"),
        (Verdict("attacks.dependency", 0.1, 0.2), r"\(role quasi\), or drop them"),
        (Verdict("attacks.dependency", 0.1, None), "not be tried on this release. Remove"),
        (Verdict("attacks.similarity", 0.1, None, "pay"), "which values are similar, or remove"),
    ],
)
def test_the_advice_on_an_attack_is_about_that_attack(verdict, advice):
    with pytest.raises((NotHeld, BadPlan), match=advice):
        raise_beyond_limits([verdict], 100, None)


@pytest.mark.parametrize("persons", [False, True], ids=["records", "people"])
def test_the_advice_on_homogeneity_works(persons):
    """With the requirement that it names, the attack succeeds on nobody."""
    table, role = people(), "person" if persons else "identifier"
    name = "eir-l-diversity" if persons else "distinct-l-diversity"
    asked = plan(role, k=2, limits={"attacks": {"homogeneity": 0}})
    with pytest.raises(NotHeld, match=f"homogeneity is .*{name}"):
        shoal.anonymize(table, asked)
    more = [*asked.models, {"name": name, "column": "disease", "l": 2}]
    release = shoal.anonymize(table, asked.changed(models=more))
    assert release.limits[0].reached == 0


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_limit_that_a_larger_k_keeps(name):
    limit = PRESETS[name].values["highest_risk"]
    k = int(np.ceil(1 / limit - 1e-9))
    table = people(240)
    (one,) = shoal.anonymize(table, plan(k=k, limits={"preset": name})).limits
    assert one.limit == limit
    assert one.verdict in ("green", "amber")
    with pytest.raises(NotHeld):
        shoal.anonymize(table, plan(k=2, limits={"preset": name}))
