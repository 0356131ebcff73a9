"""The attack by intervals, alone and in releases and audits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from shoal.attacks._numbers import NumberColumn
from shoal.attacks.interval_disclosure import IntervalDisclosure
from shoal.base.errors import BadPlan
from tests.naive.attack_interval_disclosure import find

CELL = st.none() | st.integers(-30, 30)
MODELS = [{"name": "k-anonymity", "k": 3}]


def floats(cells):
    return np.array([np.nan if one is None else float(one) for one in cells])


@given(
    rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=40),
    p=st.sampled_from([Fraction(1, 100), Fraction(5, 100), Fraction(1, 4), Fraction(1)]),
)
def test_agrees_with_its_naive_twin(rows, p):
    before, after = zip(*rows, strict=True)
    assume(any(one is not None for one in before))
    attack = IntervalDisclosure(p=float(p))
    found = attack.finding(NumberColumn("a", floats(before), floats(after)))
    assert found == pytest.approx(find(before, after, p))
    assert set(found) == set(attack.labels)


def people(rows=80):
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "height": rng.integers(150, 200, rows),
            "pay": rng.integers(0, 900, rows),
            "sex": rng.choice(["f", "m"], rows),
        }
    )


COLUMNS = {
    "age": {"role": "quasi", "microaggregate": "mean"},
    "height": {"role": "quasi", "hierarchy": {"ranges": [10, 50]}},
    "pay": {"role": "sensitive", "round": 100, "top": 500},
    "sex": "quasi",
}


def test_a_release_is_compared_with_the_numbers_before_any_coding():
    table = people()
    plan = {"columns": COLUMNS, "models": MODELS, "algorithm": "gaa", "seed": 1}
    release = shoal.anonymize(table, plan, keep_order=True)
    after = release.frame.to_pydict()
    found = release.as_dict()["attacks"]["interval-disclosure"]
    assert set(found) == {"age", "pay"}
    for name in ("age", "pay"):
        assert found[name] == pytest.approx(find(table[name].to_pylist(), after[name]))
    assert 0 < found["pay"]["records"] < 80
    assert "interval-disclosure" not in release.as_dict()["before"]["attacks"]
    audit = shoal.audit(release.frame, plan, original=table)
    assert audit.attacks["interval-disclosure"] == found
    assert "interval-disclosure" not in shoal.audit(release.frame, plan).attacks


def test_the_report_shows_it(tmp_path):
    plan = {"columns": COLUMNS, "models": MODELS, "algorithm": "gaa", "seed": 1}
    shoal.anonymize(people(), plan).report(tmp_path / "report.html")
    said = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "interval disclosure, on age" in said
    assert "records whose original is near by rank" in said


def test_nothing_that_is_not_published_is_disclosed():
    column = NumberColumn("a", np.array([1.0, 2.0, 3.0]), np.full(3, np.nan))
    assert IntervalDisclosure(p=1).finding(column)["records"] == 0


def test_a_limit_on_it_needs_numbers():
    plan = {"columns": {"age": "quasi"}, "models": MODELS}
    with pytest.raises(BadPlan, match="needs classes and a column with microaggregate"):
        shoal.anonymize(people(), plan | {"limits": {"attacks": {"interval-disclosure": 0.1}}})
