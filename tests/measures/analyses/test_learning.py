"""Models that are trained on a release and tested on originals."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, BadTable, Plan
from shoal.measures.analyses import learning
from shoal.measures.analyses.learning import learn, predicted

pytest.importorskip("sklearn")

COLUMNS = {
    "age": {"role": "quasi", "hierarchy": {"ranges": [5, 20, 40]}},
    "job": {"role": "quasi", "hierarchy": {"tree": {"*": {"AB": ["a", "b"], "CD": ["c", "d"]}}}},
    "disease": "sensitive",
    "pay": "other",
    "name": "identifier",
}


def people(n=600, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    age, job = rng.integers(20, 60, n), rng.choice(["a", "b", "c", "d"], n)
    ill = (age >= 40) ^ (rng.random(n) < noise)
    return pa.table(
        {
            "age": age,
            "job": job,
            "disease": np.where(ill, "flu", "none"),
            "pay": rng.normal(30_000, 5_000, n).round(2),
            "name": [f"person {i}" for i in range(n)],
        }
    )


def with_diseases(values):
    """Diseases that have nothing to do with anything."""
    drawn = np.random.default_rng(1).choice(values, 600)
    return people().set_column(2, "disease", pa.array(drawn))


def release(table, k=5, **columns):
    plan = Plan(columns=COLUMNS | columns, models=[{"name": "k-anonymity", "k": k}], seed=3)
    return shoal.anonymize(table, plan)


def test_what_the_release_still_shows_is_learned():
    """Classes of 5 people: ages remain known to 20 years, which separate the sick."""
    found = release(people()).learn("disease")
    assert (found.values, found.tested, found.trained, found.paired) == (2, 200, 400, True)
    assert found.guessing.accuracy < 0.65
    for one in found.methods:
        assert one.original.accuracy > 0.95
        assert one.release.accuracy > 0.9
        assert one.release.brier < found.guessing.brier


def test_what_is_suppressed_is_not_learned():
    table = people()
    found = release(table, k=400).learn("disease")
    for one in found.methods:
        assert one.original.accuracy > 0.95
        assert one.release.accuracy < 0.65


def test_noise_is_not_learned_from_records_that_are_tested():
    """If tested records were trained on, gradient boosting would be right far more often."""
    table = with_diseases(["x", "y"])
    made = release(table)
    for tables in (made.tables, replace(made.tables, recoding=None)):
        found = learn(tables, "disease")
        assert found.paired == (tables.recoding is not None)
        for one in found.methods:
            for score in (one.original, one.release):
                assert 0.38 < score.accuracy < 0.62


def test_an_audit_comes_to_about_the_same():
    made = release(people(noise=0.1))
    mine = made.learn("disease")
    audit = shoal.audit(made.frame, made.plan, original=people(noise=0.1), target="disease")
    theirs = audit.learning
    assert not theirs.paired
    assert theirs.guessing == mine.guessing
    for one, other in zip(mine.methods, theirs.methods, strict=True):
        assert one.original == other.original
        assert abs(one.release.accuracy - other.release.accuracy) < 0.06
    assert audit.as_dict()["utility"]["learning"]["disease"]["paired"] is False


def test_the_same_release_gives_the_same_numbers():
    first, again = (release(people(noise=0.2)).learn("disease") for _ in range(2))
    assert first == again


def test_scores_by_hand():
    chance = np.array([[0.7, 0.3, 0.0], [0.2, 0.5, 0.3]])
    found = learning._score(chance, np.array([0, 2]))
    assert found.accuracy == 0.5
    first, second = 0.3**2 + 0.3**2, 0.2**2 + 0.5**2 + 0.7**2
    assert found.brier == pytest.approx((first + second) / 2)


def test_calibration_by_hand():
    """Two answers with 0.9 of which one is right, two with 0.6 of which both are."""
    chance = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    found = learning._score(chance, np.array([0, 1, 1, 1]))
    assert found.calibration == pytest.approx((2 * abs(0.9 - 0.5) + 2 * abs(0.6 - 1)) / 4)


@pytest.mark.parametrize("seed", range(5))
def test_calibration_agrees_with_loops(seed):
    rng = np.random.default_rng(seed)
    chance = rng.dirichlet([0.5, 0.5, 0.5], 200)
    right = rng.integers(0, 3, 200)
    bins = [[] for _ in range(learning.BINS)]
    for one, truth in zip(chance.tolist(), right.tolist(), strict=True):
        sure = max(one)
        bins[min(int(sure * learning.BINS), learning.BINS - 1)].append(
            (sure, one.index(sure) == truth)
        )
    off = sum(
        abs(sum(sure for sure, _ in some) - sum(correct for _, correct in some)) for some in bins
    )
    assert learning._score(chance, right).calibration == pytest.approx(off / 200)


def test_guessing_is_the_majority_of_the_training_records():
    table = people(noise=0.3)
    found = release(table).learn("disease")
    values = np.array(table["disease"].to_pylist())
    share = (values == "flu").mean()
    assert found.guessing.accuracy == pytest.approx(max(share, 1 - share), abs=0.05)


def test_numbers_are_predicted_as_above_the_median():
    made = release(people())
    found = made.learn("pay")
    assert found.by_median
    assert found.values == 2
    assert 0.4 < found.guessing.accuracy < 0.6
    assert predicted(found) == "whether pay is above its median"
    assert {*made.learned} == {"pay"}
    assert {*made.as_dict()["utility"]["learning"]} == {"pay"}


def test_most_records_have_the_largest_number():
    assert learning._above_median(np.array([1.0, 2, 3, np.nan]), np.array([2, 1, 9])).tolist() == [
        0,
        0,
        1,
        -1,
    ]
    assert learning._above_median(np.array([1.0, 2, np.nan]), np.array([9, 1])).tolist() == [
        0,
        1,
        -1,
    ]


def test_rare_values_are_predicted_as_one():
    rng = np.random.default_rng(0)
    table = people().set_column(
        2, "disease", pa.array(rng.choice([f"d{i}" for i in range(20)], 600))
    )
    found = release(table).learn("disease")
    assert (found.values, found.merged) == (8, 13)
    assert predicted(found) == "disease (its 7 most frequent values, 13 others as one)"


def test_missing_targets_are_neither_trained_on_nor_tested():
    values = people()["disease"].to_pylist()
    table = people().set_column(2, "disease", pa.array([None, None, *values[2:]]))
    found = release(table).learn("disease")
    assert found.trained + found.tested == 598
    assert found.values == 2


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("diseas", "no column 'diseas' to predict; did you mean 'disease'?"),
        ("age", "'age': it is a quasi-identifier, which is generalized; choose one of 'disease'"),
        ("name", "'name': it is not published"),
    ],
)
def test_columns_that_cannot_be_predicted(target, message):
    made = release(people())
    with pytest.raises(BadPlan, match=message.replace("?", r"\?")):
        made.learn(target)
    with pytest.raises(BadPlan, match=message.replace("?", r"\?")):
        shoal.audit(made.frame, made.plan, original=people(), target=target)


def test_an_audit_needs_the_original():
    with pytest.raises(BadPlan, match="give it \\(--original\\)"):
        shoal.audit(people().drop_columns(["name"]), Plan(columns=COLUMNS), target="disease")


def test_a_single_value_cannot_be_predicted():
    table = people().set_column(2, "disease", pa.array(["flu"] * 600))
    with pytest.raises(BadTable, match="column 'disease' has a single value"):
        release(table).learn("disease")


def test_without_scikit_learn(monkeypatch):
    made = release(people(60))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadPlan, match=r"pip install 'shoal\[learning\]'"):
        made.learn("disease")


def test_no_value_is_in_the_json():
    found = json.dumps(release(people()).learn("disease").as_dict())
    assert "flu" not in found
    assert "none" not in found
