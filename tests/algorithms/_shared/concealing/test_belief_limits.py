"""Limits on beliefs, against all perfect matchings."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan
from shoal.algorithms._shared.concealing import belief_limits
from shoal.algorithms.concealment import Concealment
from shoal.attacks import _weighed
from shoal.base.errors import CannotReach
from shoal.base.progress import silent
from shoal.io.frames import open_frame
from shoal.losses.lm import LM
from shoal.models.frequency_l_diversity import FrequencyLDiversity
from shoal.models.k_concealment import KConcealment
from shoal.models.matching_belief import MatchingBelief
from shoal.table.encode import encode
from shoal.table.roles import Column
from tests.algorithms.test_concealment import published
from tests.naive import concealment as naive
from tests.naive import matchings
from tests.strategies import examples, tables


def chances(table, released):
    """The share of all perfect matchings that pair each record and each published one."""
    rows = table.codes.tolist()
    fits = [[naive.covers(table.trees, wide, row) for wide in released] for row in rows]
    return matchings.chances(np.array(fits))


@settings(deadline=None, max_examples=examples(40))
@given(
    tables(most_rows=7, sensitive=True),
    st.integers(2, 3),
    st.floats(0.15, 0.9),
    st.sampled_from([1.2, 1.5, 2.0, 3.0]),
    st.integers(0, 99),
    st.booleans(),
)
def test_beliefs_are_limited_over_all_perfect_matchings(table, k, rho, l, seed, randomized):  # noqa: E741
    """Of records and of sensitive values, by brute force."""
    asked = [KConcealment(k=k), MatchingBelief(belief=rho), FrequencyLDiversity(column="s", l=l)]
    rng = np.random.default_rng(seed) if randomized else None
    most = Counter(table.sensitive[0].codes.tolist()).most_common(1)[0][1]
    if max(k, 1 / rho) > table.rows or most > table.rows / l:
        with pytest.raises(CannotReach):
            published(table, asked, LM(), rng, start="cheapest")
        return
    released = published(table, asked, LM(), rng, start="cheapest")
    assert all(naive.covers(table.trees, *both) for both in zip(released, table.codes, strict=True))
    chance = chances(table, released)
    assert ((chance > 0).sum(axis=1) >= k).all()
    assert chance.max() <= rho + 1e-9
    values = np.eye(len(table.sensitive[0].values))[table.sensitive[0].codes]
    assert (chance @ values).max() <= 1 / l + 1e-9


@pytest.mark.parametrize("belief", [0.3, 0.5])
def test_a_belief_with_missing_values(belief):
    """A missing quasi-identifier is a value of its own, which `*` covers and no other value."""
    rng = np.random.default_rng(2)
    values = np.array(["x", "y", None], object)
    rows = pa.table({name: pa.array(values[rng.integers(0, 3, 9)], pa.string()) for name in "abs"})
    plan = Plan(
        columns={"a": "quasi", "b": "quasi", "s": "sensitive"},
        models=[
            {"name": "k-concealment", "k": 2},
            {"name": "matching-belief", "belief": belief},
            {"name": "frequency-l-diversity", "column": "s", "l": 1.5},
        ],
        algorithm="concealment",
        seed=1,
    )
    wide = shoal.anonymize(rows, plan).frame.to_pylist()
    fits = [
        [all(new[name] in ("*", old[name]) for name in "ab") for new in wide]
        for old in rows.to_pylist()
    ]
    chance = matchings.chances(np.array(fits))
    assert chance.max() <= belief + 1e-9
    held = np.array([[row["s"] == value for value in values] for row in wide])
    assert (chance @ held).max() <= 1 / 1.5 + 1e-9


def test_a_belief_in_a_component_that_is_sampled(monkeypatch):
    """The same release is judged alike, in whatever order its records are."""
    monkeypatch.setattr(_weighed, "EXACT", 0)
    rng = np.random.default_rng(4)
    rows = {"a": rng.integers(0, 8, 60).tolist(), "b": rng.integers(0, 8, 60).tolist()}
    plan = Plan(
        columns=dict.fromkeys(rows, "quasi"),
        models=[{"name": "k-concealment", "k": 3}, {"name": "matching-belief", "belief": 0.3}],
        algorithm="concealment",
        seed=1,
    )
    release = shoal.anonymize(pa.table(rows), plan)
    check = release.checks[1]
    assert check.holds
    assert check.reached <= 0.3
    found = shoal.audit(release.frame, plan, original=pa.table(rows))
    assert found.checks[1].reached == check.reached
    shuffled = release.frame.take(rng.permutation(60))
    assert shoal.audit(shuffled, plan, original=pa.table(rows)).checks[1].reached == check.reached


def test_classes_near_a_limit_are_merged_with_those_that_exceed_it(monkeypatch):
    """By the samples that judge; otherwise they exceed it in a later round, by other samples."""
    rng = np.random.default_rng(1)
    rows = pa.table({name: rng.integers(0, 8, 100) for name in "ab"})
    table = encode(open_frame(rows), {name: Column(role="quasi") for name in "ab"})
    monkeypatch.setattr(_weighed, "EXACT", 0)
    find, seen = belief_limits._exceeding, []

    def noted(linkage, limits, *rest):
        seen.append((linkage, limits))
        return find(linkage, limits, *rest)

    monkeypatch.setattr(belief_limits, "_exceeding", noted)
    models = [KConcealment(k=8), MatchingBelief(belief=0.4)]
    Concealment(randomized=False).recode(table, models, LM(), rng)
    linkage, limits = seen[0]
    alone, near, wide, trial = (
        (monkeypatch.setattr(belief_limits, "NEAR", margin), find(linkage, limits, seed, silent))[1]
        for margin, seed in ((0.0, _weighed.SEED), (3.0, _weighed.SEED), (30.0, _weighed.SEED),
                             (30.0, belief_limits.TRIAL))
    )  # fmt: skip
    assert alone.likely.any()
    assert near.likely[alone.likely].all()
    assert alone.likely.sum() < wide.likely.sum()
    assert trial.likely.sum() < wide.likely.sum()


def test_a_release_in_classes_says_so():
    """Of records along a line, none has a cheap match but its neighbours: classes lose less."""
    rows = pa.table({"a": [*range(12)], "b": [*range(12)]})
    plan = Plan(
        columns={"a": "quasi", "b": "quasi"},
        models=[{"name": "k-concealment", "k": 2}, {"name": "matching-belief", "belief": 0.4}],
        algorithm="concealment",
        seed=1,
    )
    release = shoal.anonymize(rows, plan)
    assert any("in classes of 3 or more" in note for note in release.notes)
    alike = Counter(map(str, release.frame.to_pylist()))
    assert min(alike.values()) >= 3
    assert not any("equally likely" in note for note in release.notes)
    alone = plan.changed(models=[{"name": "k-concealment", "k": 2}])
    notes = shoal.anonymize(rows, alone).notes
    assert not any("in classes of" in note for note in notes)
    assert any("one of them may be almost certain" in note for note in notes)


def test_shares_at_their_limit_in_classes_that_overlap():
    """Half of the records of many classes have a value, and assignments are sampled."""
    rng = np.random.default_rng(3)
    rows = {
        "age": rng.integers(0, 90, 2000),
        "sex": rng.choice(["f", "m"], 2000),
        "disease": rng.choice(["flu", "asthma", "healthy"], 2000, p=[0.3, 0.25, 0.45]),
    }
    plan = Plan(
        columns={
            "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
            "sex": "quasi",
            "disease": "sensitive",
        },
        models=[
            {"name": "k-concealment", "k": 5},
            {"name": "matching-belief", "belief": 0.5},
            {"name": "frequency-l-diversity", "column": "disease", "l": 2},
        ],
        algorithm="concealment",
        seed=1,
    )
    release = shoal.anonymize(pa.table(rows), plan)
    assert all(check.holds for check in release.checks)


@pytest.mark.parametrize(
    "model", [{"name": "matching-belief", "belief": 0.5}, {"name": "max-belief", "rho": 0.5}]
)
def test_one_person_can_only_be_certain(model):
    """No belief below 1 can be had, and 1 cannot be asked for."""
    algorithm = "concealment" if "belief" in model else "freeform"
    asked = Plan(columns={"a": "quasi"}, models=[model], algorithm=algorithm)
    with pytest.raises(CannotReach, match="guarantees nothing; add people") as caught:
        shoal.anonymize(pa.table({"a": [1]}), asked)
    assert [way.action for way in caught.value.ways] == ["remove"]


def test_a_belief_needs_enough_people():
    rows = pa.table({"a": [1, 2, 3, 4]})
    plan = Plan(
        columns={"a": "quasi"},
        models=[{"name": "matching-belief", "belief": 0.2}],
        algorithm="concealment",
    )
    with pytest.raises(CannotReach, match=r"probability 0\.25; ask for 0\.25") as caught:
        shoal.anonymize(rows, plan)
    assert caught.value.best == 0.25
    release = shoal.anonymize(
        rows,
        plan.changed(
            models=[{**plan.models[0].options(), "name": "matching-belief", "belief": 0.25}]
        ),
    )
    assert release.checks[0].reached == pytest.approx(0.25)
