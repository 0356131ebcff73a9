"""What each model says of small tables, and what it says of settings that make no sense."""

from __future__ import annotations

import json
from math import exp, inf, log

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import BadPlan, Plan, catalog
from shoal.models import finite
from shoal.table.equivalence_classes import tally
from shoal.table.sensitive import Sensitive


def classes_of(*groups, people=None):
    """Classes from the texts of their sensitive values; ? is missing."""
    letters = "".join(groups)
    values = sorted(set(letters) - {"?"})
    codes = np.array([-1 if x == "?" else values.index(x) for x in letters], np.int32)
    rows = np.repeat(np.arange(len(groups)), [len(group) for group in groups]).astype(np.int32)
    return tally(rows.reshape(-1, 1), people, [Sensitive.of("s", codes, values)])


def model(name, **options):
    return catalog.models[name](column="s", **options)


def levels(name, *groups, **options):
    return model(name, **options).levels(classes_of(*groups)).tolist()


# Levels


def test_missing_is_a_value_of_its_own():
    assert levels("distinct-l-diversity", "ab?", "aa", "??", l=2) == [3, 1, 1]
    assert levels("p-sensitivity", "ab?", "aa", "a?", p=2) == [3, 1, 2]


@pytest.mark.parametrize("many", [2, 3, 5, 6, 7, 10, 26])
def test_equally_frequent_values_are_exactly_as_diverse(many):
    """exp(ln 2) may come out as 1.9999999999999998, and must not count as 1."""
    letters = "abcdefghijklmnopqrstuvwxyz"[:many]
    for times in (1, 3, 7):
        held = model("entropy-l-diversity", l=many).check(classes_of(letters * times))
        assert held.reached == pytest.approx(many, rel=1e-12)
        assert held.holds
        assert not model("entropy-l-diversity", l=many + 1e-6).check(classes_of(letters)).holds


def test_entropy_is_not_cut_to_a_whole_number():
    (level,) = levels("entropy-l-diversity", "aab", l=1.5)
    assert level == pytest.approx(exp(-(2 / 3) * log(2 / 3) - (1 / 3) * log(1 / 3)))
    assert 1.88 < level < 1.89


def test_frequency_is_one_over_the_largest_share():
    assert levels("frequency-l-diversity", "aab", "abc", "a", l=2) == pytest.approx([1.5, 3, 1])
    assert model("frequency-l-diversity", l=3).satisfied(classes_of("abc", "aab")).tolist() == (
        [True, False]
    )


def test_recursive_takes_the_most_frequent_value_first():
    """r = 5, 3, 1: 5 < c (3 + 1) needs c above 1.25, 5 < c · 1 needs c above 5."""
    group = "aaaaabbbc"
    for c, level in ((1.2, 1), (1.25, 1), (1.26, 2), (5.0, 2), (5.1, 3), (100.0, 3)):
        assert levels("recursive-cl-diversity", group, c=c, l=2) == [level], c


def test_recursive_with_a_huge_c():
    """c times the records is beyond the largest number; a warning would fail this test."""
    assert levels("recursive-cl-diversity", "aab", "a", c=1e308, l=2) == [2, 1]


def test_recursive_is_strict_despite_rounding():
    """7 < 0.28 · 25 is wrong, although 0.28 · 25 is a little above 7 for a computer."""
    assert levels("recursive-cl-diversity", "aaabbb", c=1.0, l=2) == [1]
    assert 0.28 * 25 > 7
    group = "a" * 7 + "bcdef" * 5
    assert levels("recursive-cl-diversity", group, c=0.28, l=2) == [1]
    assert levels("recursive-cl-diversity", group, c=0.281, l=2) == [2]


def test_alpha_k_needs_the_class_size_and_the_share():
    asked = model("alpha-k-anonymity", alpha=0.5, k=3)
    classes = classes_of("abc", "ab", "aab", "aabb", "a")
    assert asked.levels(classes) == pytest.approx([1 / 3, 3 / 2, 2 / 3, 1 / 2, 3])
    assert asked.satisfied(classes).tolist() == [True, False, False, True, False]


def test_alpha_of_one_still_needs_the_class_size():
    asked = model("alpha-k-anonymity", alpha=1.0, k=3)
    assert asked.check(classes_of("aaa", "bcd")).holds
    assert not asked.check(classes_of("aa", "bcd")).holds


def test_alpha_k_counts_people():
    classes = classes_of("abc", people=np.array([0, 0, 1]))
    check = model("alpha-k-anonymity", alpha=0.5, k=3).check(classes)
    assert (check.reached, check.holds) == (1.5, False)


def test_beta_is_the_largest_relative_gain():
    """The table has a share of 1/4 of b; a class that is half b has gained once as much."""
    assert levels("beta-likeness", "aaab", "ab", "aaaaabaaab", beta=1.0)[1] == pytest.approx(
        (1 / 2 - 1 / 4) / (1 / 4)
    )
    assert levels("beta-likeness", "ab", "aabb", beta=1.0) == [0, 0]


def test_enhanced_beta_bounds_frequent_values_more():
    """a has the share q = 1/2, -ln q = 0.69; a class of a only has gained 1, beta would allow."""
    groups = "aa", "bb", "ab"
    assert model("beta-likeness", beta=1.0).satisfied(classes_of(*groups)).all()
    enhanced = model("beta-likeness", beta=1.0, kind="enhanced")
    assert enhanced.satisfied(classes_of(*groups)).tolist() == [False, False, True]
    assert enhanced.levels(classes_of(*groups)) == pytest.approx([1 / log(2), 1 / log(2), 0])


def test_enhanced_beta_with_one_value_only():
    assert levels("beta-likeness", "aa", "a", beta=1.0, kind="enhanced") == [0, 0]


def test_delta_is_infinite_where_a_value_is_absent():
    asked = model("delta-disclosure", delta=5.0)
    classes = classes_of("aab", "aa", "ab")
    assert asked.levels(classes)[1] == inf
    assert asked.satisfied(classes).tolist() == [True, False, True]
    check = asked.check(classes)
    assert (check.reached, check.holds) == (inf, False)
    assert check.as_dict()["reached"] is None
    assert json.loads(json.dumps(check.as_dict(), allow_nan=False))["required"] == 5


def test_delta_looks_at_rarer_and_more_frequent_values():
    """q = 1/2; shares of 1/4 and 3/4 are ln 2 and ln 1.5 away."""
    classes = classes_of("aaab", "abbb")
    assert model("delta-disclosure", delta=1.0).levels(classes) == pytest.approx([log(2)] * 2)


def test_delta_is_strict():
    classes = classes_of("aaab", "abbb")
    assert not model("delta-disclosure", delta=log(2)).check(classes).holds
    assert model("delta-disclosure", delta=log(2) + 1e-6).check(classes).holds


def test_finite_levels_stay_as_they_are():
    assert finite(0.25) == 0.25
    assert finite(inf) is None


@pytest.mark.parametrize(
    ("name", "options", "level"),
    [
        ("distinct-l-diversity", {"l": 2}, 1),
        ("entropy-l-diversity", {"l": 2}, 1),
        ("frequency-l-diversity", {"l": 2}, 1),
        ("recursive-cl-diversity", {"c": 2.0, "l": 2}, 1),
        ("p-sensitivity", {"p": 2}, 1),
        ("alpha-k-anonymity", {"alpha": 0.5, "k": 2}, 1),
        ("t-closeness", {"t": 0.0}, 0),
        ("t-closeness", {"t": 0.0, "distance": "l1"}, 0),
        ("t-closeness", {"t": 0.0, "distance": "ordered"}, 0),
        ("beta-likeness", {"beta": 0.1}, 0),
        ("delta-disclosure", {"delta": 0.1}, 0),
    ],
)
def test_a_sensitive_column_with_one_value(name, options, level):
    check = model(name, **options).check(classes_of("aa", "aaa"))
    assert check.reached == level
    assert check.holds == (level == 0)


def test_a_class_is_compared_with_the_whole_table_whatever_the_batch():
    """The distribution of a table comes from its totals, not from the classes at hand."""
    from tests.laws.test_models import batch

    classes = classes_of("ab", "aa", "bb")
    alone = batch(classes, np.array([1]))
    assert model("t-closeness", t=0.1).levels(alone).tolist() == [0.5]
    assert model("beta-likeness", beta=0.1).levels(alone).tolist() == [1]
    assert model("delta-disclosure", delta=0.1).levels(alone).tolist() == [inf]


# Bad input


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("distinct-l-diversity", {"l": 1}, "distinct-l-diversity needs l of 2 or more, got l=1"),
        ("distinct-l-diversity", {"l": 2.5}, "needs l as a whole number, got l=2.5"),
        (
            "distinct-l-diversity",
            {},
            "distinct-l-diversity needs l (fewest different values in a class), which is not given",
        ),
        ("entropy-l-diversity", {"l": 1}, "needs l above 1 and finite, got l=1"),
        ("entropy-l-diversity", {"l": float("nan")}, "needs l above 1 and finite, got l=nan"),
        ("frequency-l-diversity", {"l": 0.5}, "needs l above 1 and finite, got l=0.5"),
        ("recursive-cl-diversity", {"c": 1.0, "l": 1}, "needs l of 2 or more, got l=1"),
        ("recursive-cl-diversity", {"c": 0, "l": 2}, "needs c above 0 and finite, got c=0"),
        ("recursive-cl-diversity", {"c": inf, "l": 2}, "needs c above 0 and finite, got c=inf"),
        ("p-sensitivity", {"p": 1}, "p-sensitivity needs p of 2 or more, got p=1"),
        ("alpha-k-anonymity", {"alpha": 0.5, "k": 1}, "needs k of 2 or more, got k=1"),
        ("alpha-k-anonymity", {"alpha": 0, "k": 2}, "needs alpha above 0 and at most 1"),
        ("alpha-k-anonymity", {"alpha": 1.1, "k": 2}, "at most 1, got alpha=1.1"),
        ("t-closeness", {"t": -0.1}, "needs t from 0 to 1 with the distance equal, got t=-0.1"),
        ("t-closeness", {"t": 1.5}, "needs t from 0 to 1 with the distance equal, got t=1.5"),
        ("t-closeness", {"t": 2.1, "distance": "l1"}, "needs t from 0 to 2 with the distance l1"),
        ("t-closeness", {"t": float("nan")}, "got t=nan"),
        ("t-closeness", {"t": 0.1, "distance": "kl"}, "distance='kl': input should be"),
        ("t-closeness", {"t": 0.1, "order": ["a"]}, "an order with the distance ordered only"),
        (
            "t-closeness",
            {"t": 0.1, "distance": "ordered", "order": ["1", 1.0]},
            "an order that names no value twice",
        ),
        ("beta-likeness", {"beta": 0}, "needs beta above 0 and finite, got beta=0"),
        ("beta-likeness", {"beta": 1, "kind": "best"}, "kind='best': input should be"),
        ("delta-disclosure", {"delta": -1}, "needs delta above 0 and finite, got delta=-1"),
    ],
)
def test_settings_that_make_no_sense(name, options, message):
    with pytest.raises(BadPlan) as error:
        model(name, **options)
    assert message in str(error.value)


def test_t_of_2_is_fine_with_norm_1():
    assert model("t-closeness", t=2, distance="l1").required == 2


SENSITIVE = [name for name, kind in catalog.models.items() if "column" in kind.model_fields]


@pytest.mark.parametrize("name", SENSITIVE)
def test_needs_a_column(name):
    with pytest.raises(BadPlan, match=rf"{name} needs column \(the sensitive column\), which"):
        catalog.models[name]()


def test_a_column_that_is_not_sensitive_or_not_there():
    table = pa.table({"q": ["x", "x"], "disease": ["a", "b"], "visit": ["a", "b"]})
    roles = {"q": "quasi", "disease": "sensitive", "visit": "other"}
    for column, hint in (("visit", "give it the role sensitive"), ("diseas", "mean 'disease'")):
        asked = {"name": "distinct-l-diversity", "column": column, "l": 2}
        with pytest.raises(BadPlan, match=hint):
            shoal.audit(table, Plan(columns=roles, models=[asked]))


def test_a_plan_file_keeps_the_settings(tmp_path):
    models = [
        {"name": "t-closeness", "column": "s", "t": 0.2, "distance": "ordered", "order": ["b", 1]},
        {"name": "recursive-cl-diversity", "column": "s", "c": 0.5, "l": 3},
        {"name": "beta-likeness", "column": "s", "beta": 1.5, "kind": "enhanced"},
    ]
    plan = Plan(columns={"q": "quasi", "s": "sensitive"}, models=models)
    plan.save(tmp_path / "plan.toml")
    assert Plan.load(tmp_path / "plan.toml").models == plan.models
