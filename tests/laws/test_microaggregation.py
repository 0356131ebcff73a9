"""Numbers of classes, by every algorithm that forms classes: recomputed from the published rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import catalog
from shoal.base.errors import BadPlan, BadTable
from tests.naive import microaggregation as naive

FREE = [n for n, kind in catalog.algorithms.decided.items() if kind.free]
ON_TREES = [
    name
    for name, kind in catalog.algorithms.decided.items()
    if not kind.free and kind().serves(catalog.models["k-anonymity"](k=3)) and name != "freeform"
]


def people(seed=1, rows=60, missing=False):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, rows).tolist()
    if missing:
        age[:7] = [None] * 7
    return pa.table(
        {
            "age": pa.array(age, pa.int64()),
            "income": np.round(rng.lognormal(8, 1, rows), 1),
            "sex": rng.choice(["f", "m"], rows),
            "job": rng.choice(list("abcd"), rows),
        }
    )


def asked(algorithm, how="mean", free=True, models=(), **settings):
    tree = {} if free else {"hierarchy": {"ranges": [5, 10, 20]}}
    money = {} if free else {"hierarchy": {"ranges": [1000, 8000]}}
    options = {"name": algorithm} if isinstance(algorithm, str) else algorithm
    return {
        "columns": {
            "age": {"role": "quasi", "microaggregate": how, **tree},
            "income": {"role": "quasi", "microaggregate": "median", **money},
            "sex": "quasi",
            "job": "sensitive",
        },
        "models": [{"name": "k-anonymity", "k": 3}, *models],
        "algorithm": options,
        "seed": 1,
        **settings,
    }


def recomputed(table, release, how):
    """Every published number from the originals of the records that look the same."""
    before = table.to_pylist()
    after = release.frame.to_pylist()
    assert len(before) == len(after)
    groups = {}
    for old, new in zip(before, after, strict=True):
        groups.setdefault((new["age"], new["income"], new["sex"]), []).append(old)
    assert min(map(len, groups.values())) >= 3
    for (age, income, _), inside in groups.items():
        for name, shown, kind, places in (("age", age, how, 0), ("income", income, "median", 1)):
            exact = naive.number([one[name] for one in inside], kind)
            if exact is None:
                assert shown is None
            elif shown is not None:
                assert Fraction(str(shown)) == round(exact, places)
    return groups


@pytest.mark.parametrize("how", ["mean", "median"])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FREE)
def test_every_number_is_that_of_its_class(name, how, missing):
    table = people(missing=missing)
    release = shoal.anonymize(table, asked(name, how), keep_order=True)
    groups = recomputed(table, release, how)
    assert len(groups) > 1
    assert release.smallest_class == min(map(len, groups.values()))
    assert release.frame.schema.field("age").type == pa.int64()


@pytest.mark.parametrize("name", ON_TREES)
def test_every_number_is_that_of_its_class_on_trees(name):
    table = people(2)
    release = shoal.anonymize(table, asked(name, free=False), keep_order=True)
    recomputed(table, release, "mean")


def test_models_about_sensitive_values_hold_on_the_numbers():
    model = {"name": "distinct-l-diversity", "column": "job", "l": 3}
    table = people(3)
    release = shoal.anonymize(table, asked("gaa", models=[model]), keep_order=True)
    groups = {}
    for row in release.frame.to_pylist():
        groups.setdefault((row["age"], row["income"], row["sex"]), set()).add(row["job"])
    assert min(map(len, groups.values())) >= 3


def test_the_variance_lost_is_reported(tmp_path):
    table = people(4)
    release = shoal.anonymize(table, asked("gaa"), keep_order=True)
    lost = release.as_dict()["utility"]["microaggregated"]["age"]
    after = release.frame["age"].to_pylist()
    expected = naive.variance_lost(table["age"].to_pylist(), after)
    assert lost["variance_lost"] == pytest.approx(expected)
    assert 0 < expected < 1
    release.report(tmp_path / "report.html")
    said = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "age loses" in said
    assert "of its variance (the mean of each class)" in said
    release.save(tmp_path / "release.csv")
    release.codebook(tmp_path / "codebook.json")
    assert "mean of the original numbers" in (tmp_path / "codebook.json").read_text("utf-8")


def test_an_audit_measures_what_the_run_did_where_the_order_is_kept():
    table, plan = people(5), asked("gaa")
    kept = shoal.anonymize(table, plan, keep_order=True)
    audit = shoal.audit(kept.frame, plan, original=table)
    assert audit.levels["k-anonymity"] == kept.smallest_class
    assert audit.utility.microaggregated == kept.utility.microaggregated
    assert any("do not state what they cover" in note for note in audit.notes)
    assert audit.quality.losses["lm"] >= kept.quality.losses["lm"]
    shuffled = shoal.anonymize(table, plan)
    audit = shoal.audit(shuffled.frame, plan, original=table)
    assert audit.levels["k-anonymity"] == shuffled.smallest_class
    assert audit.utility.microaggregated == ()


def test_a_recoding_computes_the_numbers_of_the_new_table():
    plan = asked("gaa")
    fitted = shoal.anonymize(people(6, 200), plan).recoding
    table = people(7, 200)
    release = fitted.apply(table, keep_order=True)
    groups = {}
    for row in release.frame.to_pylist():
        key = row["age"], row["income"], row["sex"]
        groups[key] = groups.get(key, 0) + 1
    assert min(groups.values()) >= 3
    assert release.frame.schema.field("age").type == pa.int64()


def test_the_seed_and_the_order_of_records_change_no_number():
    table = people(8)
    turned = table.take(np.random.default_rng(0).permutation(len(table)))
    both = [shoal.anonymize(one, asked("gaa")).frame for one in (table, turned)]
    rows = [sorted(map(str, one.to_pylist())) for one in both]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"microaggregate": "mode"}, "age.*mode"),
        ({"microaggregate": "mean", "round": 5}, "'age' has microaggregate and round"),
        ({"microaggregate": "mean", "top": 80}, "'age' has microaggregate and top"),
        (
            {"microaggregate": "mean", "role": "sensitive"},
            "only with the role quasi, not sensitive",
        ),
        ({"microaggregate": "mean", "hierarchy": {"prefixes": True}}, "the hierarchy prefixes"),
        ({"microaggregate": "mean", "hierarchy": {"dates": ["year"]}}, "the hierarchy dates"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change, said):
    with pytest.raises(BadPlan, match=said):
        shoal.Plan(
            columns={"age": {"role": "quasi", **change}},
            models=[{"name": "k-anonymity", "k": 2}],
        )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"models": [{"name": "k-concealment", "k": 3}]}, "satisfied without classes"),
        (
            {"attackers": [{"knows": ["age", "sex"]}, {"knows": ["income"]}]},
            "look alike to an attacker",
        ),
        (
            {"models": [{"name": "k-map", "k": 3}], "population": {"data": "all.csv"}},
            "do not state what they cover",
        ),
    ],
)
def test_what_numbers_cannot_satisfy_is_refused(settings, said):
    with pytest.raises(BadPlan, match=said):
        shoal.anonymize(people(), asked("auto") | settings)


def test_text_is_refused_before_the_work():
    plan = asked("gaa")
    plan["columns"]["sex"] = {"role": "quasi", "microaggregate": "mean"}
    with pytest.raises(BadTable, match=r"column 'sex' has microaggregate.*'f', 'm'"):
        shoal.anonymize(people(), plan)


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_engines_that_do_not_support_it_say_so(engine, tmp_path):
    path = tmp_path / "people.csv"
    shoal.anonymize(people(), asked("gaa")).save(path)
    with pytest.raises(BadPlan, match="does not support microaggregate yet"):
        shoal.anonymize(path, asked("gaa", engine=engine))


def test_anatomy_refuses_it():
    model = {"name": "frequency-l-diversity", "column": "job", "l": 2}
    with pytest.raises(BadPlan, match="microaggregate"):
        shoal.anatomize(people(), asked("auto") | {"models": [model]})
