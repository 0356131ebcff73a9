"""Ways out: what an error proposes resolves it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import Plan
from shoal.base.errors import BadPlan, ShoalError, WayOut
from shoal.plan.ways_out import resolved

PEOPLE = pa.table(
    {
        "age": [20 + i % 40 for i in range(120)],
        "sex": ["fm"[i % 2] for i in range(120)],
        "disease": [("flu", "gout", "cold")[i % 3] for i in range(120)],
        "person": list(range(120)),
    }
)
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [10, 20, 40]}},
    "sex": "quasi",
    "disease": "sensitive",
    "person": "drop",
}


def plan_of(**given: Any) -> Plan:
    asked: dict[str, Any] = {
        "columns": COLUMNS,
        "models": [{"name": "k-anonymity", "k": 5}],
        "seed": 1,
    }
    return Plan(**(asked | given))


K = {"name": "k-anonymity", "k": 5}
CASES: list[tuple[str, Plan, set[str]]] = [
    ("too many people asked for", plan_of(models=[{"name": "k-anonymity", "k": 500}]),
     {"set", "remove"}),
    ("more values than there are",
     plan_of(models=[K, {"name": "distinct-l-diversity", "column": "disease", "l": 4}]),
     {"set", "remove"}),
    ("a share that a value exceeds",
     plan_of(models=[{"name": "alpha-k-anonymity", "column": "disease", "alpha": 0.2, "k": 5}]),
     {"set", "remove"}),
    ("an algorithm that does not serve", plan_of(models=[{"name": "k-concealment", "k": 5}]),
     {"algorithm", "remove"}),
    ("no requirement", plan_of(models=[]), {"add"}),
    ("free values", plan_of(columns=COLUMNS | {"age": {
        "role": "quasi", "hierarchy": {"free_ranges": True}}}, algorithm="full-domain"),
     {"algorithm"}),
    ("a linkage model for people",
     plan_of(columns=COLUMNS | {"person": "person"}, algorithm="concealment",
             models=[{"name": "k-concealment", "k": 5}]),
     {"remove", "role"}),
    ("a limit on an attack that is not run", plan_of(limits={"attacks": {"graph": 0.1}}),
     {"limit"}),
]  # fmt: skip


def error_of(run: Callable[[], Any]) -> ShoalError:
    with pytest.raises(ShoalError) as caught:
        run()
    return caught.value


@pytest.mark.parametrize(("plan", "actions"), [one[1:] for one in CASES], ids=[c[0] for c in CASES])
def test_every_way_out_resolves_its_error(plan: Plan, actions: set[str]) -> None:
    error = error_of(lambda: shoal.anonymize(PEOPLE, plan))
    assert {way.action for way in error.ways} == actions
    assert pickle.loads(pickle.dumps(error.ways)) == error.ways
    for way in error.ways:
        seen = released(resolved(plan, way))
        assert str(error) not in seen


def released(plan: Plan) -> list[str]:
    """Follow the first way out until there is a release; the errors on the way."""
    seen: list[str] = []
    while len(seen) < 4:
        try:
            assert all(check.holds for check in shoal.anonymize(PEOPLE, plan).checks)
            return seen
        except ShoalError as left:
            seen.append(str(left))
            plan = resolved(plan, left.ways[0])
    pytest.fail(f"there is no end: {seen}")


def test_the_nearest_level_is_the_best_one() -> None:
    plan = plan_of(models=[K, {"name": "t-closeness", "column": "disease", "t": 0.0}])
    assert shoal.anonymize(PEOPLE, plan).checks[1].holds  # a whole table has a distance of 0
    plan = plan_of(models=[K, {"name": "entropy-l-diversity", "column": "disease", "l": 9.0}])
    error = error_of(lambda: shoal.anonymize(PEOPLE, plan))
    changed = resolved(plan, error.ways[0])
    assert 2.99 < changed.models[1].options()["l"] <= 3.0
    assert shoal.anonymize(PEOPLE, changed).checks[1].holds


def test_what_is_gone_cannot_be_changed() -> None:
    plan = plan_of()
    for way in (
        WayOut("remove", "t-closeness[disease]"),
        WayOut("set", "p-sensitivity", {"p": 3}),
        WayOut("role", "zip", "drop"),
    ):
        with pytest.raises(BadPlan, match="any more"):
            resolved(plan, way)


def test_limits_are_changed_one_by_one() -> None:
    plan = plan_of(limits={"preset": "public", "loss": 30.0, "attacks": {"linkage": 0.1}})
    assert resolved(plan, WayOut("limit", "loss")).limits.loss is None
    assert resolved(plan, WayOut("limit", "attacks.linkage")).limits.attacks == {}
    without = resolved(plan, WayOut("limit", "highest_risk"))  # it comes from the preset
    assert without.limits.limit("highest_risk") is None
    assert without.limits.loss == 30.0
    assert resolved(plan, WayOut("limit", "loss", 50.0)).limits.loss == 50.0


def test_without_a_limit_that_overrides_a_preset_there_is_none() -> None:
    plan = plan_of(limits={"preset": "public", "highest_risk": 0.05, "loss": 30.0})
    without = resolved(plan, WayOut("limit", "highest_risk"))
    assert without.limits.limit("highest_risk") is None
    assert resolved(plan, WayOut("limit", "loss")).limits.preset == "public"


def test_suppression_is_stated_once() -> None:
    plan = plan_of(algorithm={"name": "full-domain", "suppression": 0.01})
    changed = resolved(plan, WayOut("suppression", value=0.1))
    assert changed.allowed_suppression == 0.1
    assert resolved(plan_of(), WayOut("suppression", value=0.1)).suppression == 0.1


def test_attackers_that_forget_a_column_can_be_removed() -> None:
    error = error_of(lambda: plan_of(attackers=[{"knows": ["age"]}]))
    assert error.ways == (WayOut("attackers"),)
    plan = plan_of(attackers=[{"knows": ["age", "sex"]}])
    assert resolved(plan, WayOut("attackers")).attackers == []
