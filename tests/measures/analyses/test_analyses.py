"""Statistics of a release and of its original, against loops over all records."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan, ShoalError
from shoal.io.frames import open_frame
from shoal.measures.analyses.analyses import MOST_PAIRS, analyze
from shoal.measures.analyses.variables import Tables
from shoal.table.encode import encode
from shoal.table.published_table import read_published
from tests.measures.analyses.tables import PATHS, case
from tests.naive import analyses as naive
from tests.strategies import examples

QUASI = ("number", "half", "kind", "sex")


def same(found, wanted):
    """Whether an estimate is (value, low, high)."""
    if wanted is None or found is None:
        return found is None and wanted is None
    return (found.value, found.low, found.high) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def numbers(table, whole):
    """The columns of numbers as pairs (mean, variance within)."""
    return {name: [naive.interval(label, whole[name]) for label in table[name]] for name in whole}


def categories(table):
    """The columns of categories as shares."""
    paths = {
        "kind": PATHS,
        "sex": {v: [v, "*"] for v in ("f", "m")},
        "disease": {v: [v, "*"] for v in ("flu", "cold", "gout")},
        "pay": {str(v): [str(v), "*"] for v in range(5)},
    }
    return {
        name: [naive.shares(label, table[name], paths[name]) for label in table[name]]
        for name in paths
    }


def unchanged(table, plan):
    """A table and itself as a release."""
    frame = open_frame(table)
    original = encode(frame, plan.columns)
    return Tables(plan.columns, [], original, read_published(frame, plan.columns), frame, frame)


@settings(max_examples=examples(60), deadline=None)
@given(seed=st.integers(0, 10**6), linked=st.booleans())
def test_statistics_are_those_of_loops_over_the_records(seed, linked):
    one = case(seed)
    tables = one.release.tables
    found = analyze(tables if linked else replace(tables, recoding=None))
    # Halves may happen to be whole numbers.
    whole = {
        name: all(v is None or float(v).is_integer() for v in one.before[name])
        for name in ("number", "half", "pay")
    }
    was, now = numbers(one.before, whole), numbers(one.after, whole)
    assert [fact.column for fact in found.numbers] == [*whole]
    for fact in found.numbers:
        for table, side in ((was, "before"), (now, "after")):
            mean, variance = naive.moments(table[fact.column])
            assert same(getattr(fact.mean, side), mean)
            assert same(getattr(fact.variance, side), variance)
    pairs = {frozenset(fact.columns) for fact in found.correlations}
    assert pairs == {frozenset(p) for p in combinations(whole, 2) if {*p} & {*QUASI}}
    for fact in found.correlations:
        assert same(fact.correlation.before, naive.correlation(*(was[n] for n in fact.columns)))
        assert same(fact.correlation.after, naive.correlation(*(now[n] for n in fact.columns)))
    left, right = categories(one.before), categories(one.after)
    pairs = {frozenset(fact.columns) for fact in found.associations}
    assert pairs == {frozenset(p) for p in combinations(left, 2) if {*p} & {*QUASI}}
    for fact in found.associations:
        cells = [naive.contingency(*(t[n] for n in fact.columns)) for t in (left, right)]
        for table, got in zip(
            cells, (fact.association.before, fact.association.after), strict=True
        ):
            wanted = naive.cramer(table)
            assert (got is None) == (wanted is None)
            if got is not None:
                assert got.value == pytest.approx(wanted, abs=1e-9)
                assert got.records == pytest.approx(sum(table.values()))
                assert 0 <= got.low <= got.value <= got.high <= 1
        assert fact.distance == pytest.approx(naive.distance(*cells), abs=1e-9)


def test_differences_and_intervals():
    one = case(5)
    found = one.release.analyses
    for each in found.compared:
        if each.before is None or each.after is None:
            assert each.difference is None
            assert each.inside is None
        else:
            assert each.difference == each.after.value - each.before.value
            low, high = each.before.low, each.before.high
            if min(abs(each.after.value - low), abs(each.after.value - high)) > 1e-6:
                assert each.inside == (low < each.after.value < high)
    unchanged = {fact.column: fact for fact in found.numbers}["pay"]
    assert unchanged.mean.difference == 0
    assert unchanged.mean.inside
    assert unchanged.shift == 0


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """Also for values that are far from normally distributed."""
    rng = np.random.default_rng(1)
    inside = np.zeros(4)
    truth = np.array([1.0, 1.0, 0.5, 0.5])  # mean, variance, correlation, association
    for _ in range(40):
        x = rng.exponential(1, 400)
        y = np.where(rng.random(400) < 0.5, x, rng.exponential(1, 400))
        sex = rng.choice(["f", "m"], 400)
        job = np.where(rng.random(400) < 0.5, sex, rng.choice(["f", "m"], 400))
        table = pa.table({"x": x, "y": y, "sex": sex, "job": job})
        plan = Plan(columns={"x": "quasi", "y": "quasi", "sex": "quasi", "job": "quasi"})
        found = analyze(unchanged(table, plan))
        facts = [
            found.numbers[0].mean,
            found.numbers[0].variance,
            found.correlations[0].correlation,
            found.associations[0].association,
        ]
        assert all(fact.inside for fact in facts)  # nothing was generalized
        inside += [f.before.low <= t <= f.before.high for f, t in zip(facts, truth, strict=True)]
    assert (inside / 40 > 0.86).all(), inside
    assert inside.sum() < 4 * 40, inside  # nor more often


def test_the_same_release_gives_the_same_numbers():
    first, again = (case(11).release.analyses.as_dict() for _ in range(2))
    assert json.dumps(first) == json.dumps(again)


def test_json_has_all_of_it_under_utility_and_an_audit_finds_the_same():
    one = case(3, "mondrian")
    mine = one.release.as_dict()["utility"]
    assert mine["learning"] == {}
    theirs = shoal.audit(one.release.frame, one.plan, original=one.original).as_dict()["utility"]
    for key in ("intervals", "numbers", "correlations", "associations", "pairs_left_out"):
        assert mine[key] == theirs[key]
    assert {*mine["information_kept"]} == {*QUASI}
    for name, kept in theirs["information_kept"].items():
        assert kept["at_least"]
        assert not mine["information_kept"][name]["at_least"]
        assert kept["percent"] <= mine["information_kept"][name]["percent"] + 1e-9
    json.dumps(theirs, allow_nan=False)
    assert "analyses" not in shoal.audit(one.release.frame, one.plan).as_dict()


def test_no_value_of_the_original_is_in_the_numbers():
    """Names of categories would show values that are not published."""
    n = 60
    table = pa.table(
        {
            "job": [f"secret{i % 20}" for i in range(n)],
            "town": [f"hidden{i % 45}" for i in range(n)],
            "disease": ["flu", "cold"] * (n // 2),
        }
    )
    plan = Plan(
        columns={"job": "quasi", "town": "quasi", "disease": "sensitive"},
        models=[{"name": "k-anonymity", "k": 10}],
    )
    release = shoal.anonymize(table, plan)
    text = json.dumps(release.as_dict())
    assert "secret" not in text
    assert "hidden" not in text


def test_a_column_that_is_suppressed_has_no_estimate():
    table = pa.table({"age": [str(i) for i in range(8)], "sex": ["f", "m"] * 4})
    plan = Plan(columns={"age": "quasi", "sex": "quasi"}, models=[{"name": "k-anonymity", "k": 4}])
    release = shoal.anonymize(table, plan)
    assert set(release.frame["age"].to_pylist()) == {"*"}
    (fact,) = release.analyses.numbers
    assert fact.mean.before.value == 3.5
    assert fact.mean.after is None
    assert fact.mean.difference is None
    assert fact.as_dict()["mean"]["inside"] is None


def test_equal_records_counted_together_give_the_same_numbers(tmp_path):
    """As an engine has them."""
    one = case(8, "mondrian", rows=60)
    columns = {name: column for name, column in one.plan.columns.items() if name != "pay"}
    quasi = one.plan.changed(columns=columns, engine="duckdb", parts=1)
    memory = quasi.changed(engine="memory")
    rows = pa.concat_tables([one.original.drop_columns(["pay"])] * 3)
    pcsv.write_csv(rows, tmp_path / "rows.csv")
    counted, single = (shoal.anonymize(tmp_path / "rows.csv", p).analyses for p in (quasi, memory))
    assert counted.as_dict()["numbers"].keys() == single.as_dict()["numbers"].keys()
    for a, b in zip(counted.compared, single.compared, strict=True):
        assert a.before.value == pytest.approx(b.before.value)
        assert (a.before.low, a.before.high) == pytest.approx((b.before.low, b.before.high))
        assert a.before.records == b.before.records
    for a, b in zip(counted.kept, single.kept, strict=True):
        assert a.percent == pytest.approx(b.percent)


def test_too_many_pairs_are_left_out_and_counted():
    rng = np.random.default_rng(0)
    names = [f"c{i}" for i in range(14)]
    table = pa.table({name: rng.choice(["x", "y"], 30) for name in names} | {"s": ["a", "b"] * 15})
    plan = Plan(columns=dict.fromkeys(names, "quasi") | {"s": "sensitive"})
    found = shoal.audit(table, plan, original=table).analyses
    assert len(found.associations) == MOST_PAIRS
    assert found.left_out == 15 * 14 // 2 - MOST_PAIRS
    assert all("s" in fact.columns for fact in found.associations[:14])


def test_an_original_that_was_edited_is_noticed():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1, 2, 3, 4], "pay": [5, 6, 7, 8]})
    frame = pandas.concat([frame] * 2)
    columns = {"age": "quasi", "pay": "other"}
    plan = Plan(columns=columns, models=[{"name": "k-anonymity", "k": 2}])
    release = shoal.anonymize(frame, plan)
    assert release.analyses.numbers[1].mean.before.value == 6.5
    release = shoal.anonymize(frame, plan)
    frame["pay"] = frame["pay"].to_numpy()[::-1].copy()
    with pytest.raises(ShoalError, match="the original was changed after the release"):
        _ = release.analyses
