"""Estimates: the same release as a run, without what nobody looks at."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import Plan
from shoal.algorithms import peel
from shoal.algorithms._shared.repair import QUICK, THOROUGH
from shoal.algorithms.peel import satisfy_models
from shoal.base.errors import BadPlan, CannotReach
from shoal.datasets.hospital import hospital
from shoal.flow.estimate.estimator import OPEN, PRESENCE, Estimator, closed

TABLE = hospital(400, 3)
PLAN = shoal.draft(TABLE).changed(seed=5)
SENSITIVE = next(name for name, one in PLAN.columns.items() if one.role == "sensitive")
QUASI = [name for name, one in PLAN.columns.items() if one.role == "quasi"]
K = {"name": "k-anonymity", "k": 4}


def roles(**changed: str) -> Plan:
    columns = {name: one.changed(role=changed.get(name, one.role)) for name, one in
               PLAN.columns.items()}  # fmt: skip
    return PLAN.changed(columns=columns)


PLANS: dict[str, Plan] = {
    "as drafted": PLAN,
    "another k": PLAN.changed(models=[{"name": "k-anonymity", "k": 9}]),
    "a model about values": PLAN.changed(
        models=[K, {"name": "distinct-l-diversity", "column": SENSITIVE, "l": 2}]
    ),
    "another algorithm": PLAN.changed(algorithm={"name": "full-domain", "suppression": 0.1}),
    "another loss": PLAN.changed(loss="ncp"),
    "fewer columns": roles(**{QUASI[0]: "drop"}),
    "attackers": PLAN.changed(attackers=[{"knows": QUASI[:2]}, {"knows": QUASI[1:]}]),
    "as drafted again": PLAN,
}


def measured(release: Any) -> Any:
    return (
        [(one.model, one.reached, one.holds) for one in release.checks],
        dict(release.losses),
        release.after.all_risks(),
        release.after.attacks,
        release.before.attacks,
        release.suppressed,
        sorted(map(tuple, release.frame.to_pandas().astype(str).to_numpy().tolist())),
    )


def test_estimates_are_what_a_run_would_publish() -> None:
    """One after the other on one estimator: nothing of an earlier plan is left."""
    estimator = Estimator(TABLE)
    for name, plan in PLANS.items():
        estimate = estimator.release(plan)
        assert measured(estimate) == measured(shoal.anonymize(TABLE, plan)), name
        assert estimate.utility.answers is None  # that is what makes it quick


def test_limits_are_not_held_against_an_estimate() -> None:
    plan = PLAN.changed(limits={"highest_risk": 0.0001})
    assert Estimator(TABLE).release(plan).checks[0].holds


def test_open_choices_are_closed_by_their_defaults() -> None:
    plan = PLAN.changed(algorithm="auto", loss="auto")
    release = Estimator(TABLE).release(plan)
    assert release.plan.algorithm.name == "peel"
    assert OPEN in release.notes
    free = {QUASI[0]: {"role": "quasi", "hierarchy": {"free_sets": True}}}
    assert closed(plan.changed(columns={**PLAN.columns, **free})).algorithm.name == "gaa"
    linked = Plan(columns={"age": "quasi"}, models=[{"name": "k-concealment", "k": 2}],
                  algorithm="auto")  # fmt: skip
    assert closed(linked).algorithm.name == "concealment"


def test_errors_are_those_of_a_run() -> None:
    estimator = Estimator(TABLE)
    with pytest.raises(CannotReach, match="the table has"):
        estimator.release(PLAN.changed(models=[{"name": "k-anonymity", "k": 10**6}]))
    with pytest.raises(BadPlan, match="does not support"):
        estimator.release(PLAN.changed(algorithm="concealment"))
    assert estimator.release(PLAN).checks[0].holds  # and nothing is left of them


def test_a_quick_estimate_satisfies_the_models_and_loses_about_as_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    efforts: list[Any] = []

    def satisfied(*given: Any) -> Any:
        efforts.append(given[-1])
        return satisfy_models(*given)

    monkeypatch.setattr(peel, "satisfy_models", satisfied)
    models = [K, {"name": "t-closeness", "column": SENSITIVE, "t": 0.3}]
    plan = PLAN.changed(models=models)
    thorough, quick = (Estimator(TABLE, one).release(plan) for one in (False, True))
    assert efforts == [THOROUGH, QUICK]
    assert all(one.holds for one in quick.checks)
    assert quick.plan == thorough.plan  # nothing else is asked for
    name = plan.loss.name
    assert quick.losses[name] == pytest.approx(thorough.losses[name], rel=0.1)


def test_a_quick_estimate_of_what_needs_no_repair_is_the_same() -> None:
    plan = PLAN.changed(models=[K])
    quick, thorough = (Estimator(TABLE, one).release(plan) for one in (True, False))
    assert measured(quick) == measured(thorough)


def test_a_population_is_read_once_and_again_if_it_changes(tmp_path):
    """The estimate of k-map is the run's, also after the file of the population has changed."""
    people = TABLE.select(QUASI[:2])
    file = tmp_path / "people.parquet"
    columns = {name: PLAN.columns[name] for name in QUASI[:2]}
    asked = Plan(
        columns=columns,
        models=[{"name": "k-map", "k": 3}],
        population={"data": file},
        seed=1,
    )
    small = people.slice(0, 60)
    estimator = Estimator(small)
    reached = []
    for everybody in (people, pa.concat_tables([people] * 3)):
        pq.write_table(everybody, file)
        for plan in (asked, asked.changed(models=[{"name": "k-map", "k": 8}])):
            release = estimator.release(plan)
            run = shoal.anonymize(small, plan)
            assert release.frame.equals(run.frame)
            assert release.checks == run.checks
            reached.append(release.quality.losses["nllm"])
    assert reached[1] != reached[3]  # it was read again


def test_a_presence_is_only_estimated_on_a_sample():
    people = TABLE.select(QUASI[:1])
    asked = Plan(
        columns={QUASI[0]: PLAN.columns[QUASI[0]]},
        models=[{"name": "delta-presence", "high": 0.5}],
        population={"data": people},
        seed=1,
    )
    notes = Estimator(people.slice(0, 50), quick=True).release(asked).notes
    assert PRESENCE in notes
    assert PRESENCE not in Estimator(people.slice(0, 50)).release(asked).notes
