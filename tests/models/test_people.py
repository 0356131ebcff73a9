"""Models about people with several records: the paper's tables, and brute force."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Plan, catalog
from shoal.base.errors import BadPlan
from shoal.kernels.hitting import hitting_sizes
from shoal.table.equivalence_classes import tally
from shoal.table.sensitive import Sensitive
from tests.naive import hitting
from tests.strategies import examples, tables

# Tables 3 and 4 of Wang 2018: class, person, disease.
HYPERTENSION = [("Hypertension", "Heart"), ("Hypertension",), ("Hypertension", "Diabetes")]
TABLE_3 = {
    "F 1007*": {2: ["Cancer"], 5: ["HIV"], 6: ["Leukaemia", "Heart"], 7: ["Syphilis"]},
    "* 1008*": dict(zip((1, 3, 4), map(list, HYPERTENSION), strict=True)),
}
TABLE_4 = {
    "F [33, 34]": {4: ["Hypertension", "Diabetes"], 6: ["Leukaemia", "Heart"], 7: ["Syphilis"]},
    "{M, F} [36, 38]": {
        1: ["Hypertension", "Heart"], 2: ["Cancer"], 3: ["Hypertension"], 5: ["HIV"],
    },
}  # fmt: skip

PAPER = [{1, 3}, {1, 3, 5}, {1, 6}, {3, 5}, {5, 7}, {4}, {4, 5}, {4, 6}]


def frame(table):
    rows = [
        (published, who, disease)
        for published, people in table.items()
        for who, diseases in people.items()
        for disease in diseases
    ]
    return pa.table(
        dict(zip(("group", "who", "disease"), map(list, zip(*rows, strict=True)), strict=True))
    )


def levels(table, **names):
    models = [{"name": name, "column": "disease", **options} for name, options in names.items()]
    plan = Plan(columns={"group": "quasi", "who": "person", "disease": "sensitive"}, models=models)
    return shoal.audit(frame(table), plan)


ASKED = {
    "ir-kl-anonymity": {"k": 3, "l": 3},
    "ir-alpha-beta-anonymity": {"alpha": 0.4, "beta": 0.6},
    "eir-l-diversity": {"l": 3},
    "eir-alpha-beta-anonymity": {"alpha": 0.4, "beta": 0.6},
}


def test_table_3_holds_ir_and_not_eir():
    checks = {check.model: check for check in levels(TABLE_3, **ASKED).checks}
    assert checks["ir-kl-anonymity"].holds
    assert checks["ir-alpha-beta-anonymity"].holds
    assert checks["ir-alpha-beta-anonymity"].reached == pytest.approx(0.6)
    assert not checks["eir-l-diversity"].holds
    assert checks["eir-l-diversity"].reached == 1  # everyone with Mike has hypertension
    assert not checks["eir-alpha-beta-anonymity"].holds
    assert checks["eir-alpha-beta-anonymity"].reached == 1.0


def test_mike_s_hypertension_is_found_in_table_3():
    found = levels(TABLE_3).attacks["homogeneity"]["disease"]
    assert found["classes"] == 1
    assert found["records"] == 5
    assert levels(TABLE_4).attacks["homogeneity"]["disease"]["classes"] == 0


def test_table_4_holds_all():
    audit = levels(TABLE_4, **ASKED)
    assert audit.holds
    assert audit.levels["eir-l-diversity[disease]"] == 3
    assert audit.levels["eir-alpha-beta-anonymity[disease]"] == pytest.approx(0.5)


def test_the_paper_s_example_of_hitting_sets():
    found = hitting.bhs(PAPER)
    assert found == {frozenset({1, 4, 5}), frozenset({3, 4, 5, 6}), frozenset({3, 4, 6, 7})}
    grown = set()
    for one in PAPER:
        grown = hitting.add_person(grown, one)
    assert grown == found | {frozenset({1, 3, 4, 7})}  # which BHS loses in its line 7
    assert min(map(len, grown)) == min(map(len, found)) == 3
    assert sizes([PAPER]) == [3]


def sizes(classes, limit=100):
    people = [sorted(one) for people in classes for one in people]
    first = np.append(0, np.cumsum([len(one) for one in people])).astype(np.int64)
    value = np.array([v for one in people for v in one], np.int32)
    start = np.append(0, np.cumsum([len(people) for people in classes])).astype(np.int64)
    values = int(value.max()) + 1
    limits = np.full(len(classes), limit)
    return hitting_sizes(start, first, value, limits, values, np.array([1 << 62])).tolist()


FAMILIES = st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=4), min_size=1, max_size=9)


@settings(deadline=None, max_examples=examples(300))
@given(st.lists(FAMILIES, min_size=1, max_size=3), st.integers(0, 5))
def test_the_search_is_exact(classes, limit):
    exact = [hitting.smallest(people) for people in classes]
    assert sizes(classes) == exact
    assert sizes(classes, limit) == [min(size, limit + 1) for size in exact]
    for people, size in zip(classes, exact, strict=True):
        assert min(map(len, hitting.bhs(people))) == size


def min_class_size(people, values=60, each=4, seed=0):
    """Everyone has some values; finding the smallest hitting set exactly would take hours."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), each)
    diseases = [rng.choice(values, each, replace=False) for _ in range(people)]
    return pa.table(
        {
            "who": who,
            "group": ["a"] * len(who),
            "disease": [f"d{v}" for v in np.concatenate(diseases)],
        }
    )


@pytest.mark.parametrize("people", [200, 1000])
def test_hundreds_of_people_are_decided(people):
    """A level above the required one is reported as far as it can be proven, and never too high."""
    plan = Plan(
        columns={"group": "quasi", "who": "person", "disease": "sensitive"},
        models=[{"name": "eir-l-diversity", "column": "disease", "l": 6}],
    )
    table = min_class_size(people)
    audit = shoal.audit(table, plan)
    assert audit.holds
    (reported,) = audit.levels.values()
    sets = [set(table["disease"].to_pylist()[i : i + 4]) for i in range(0, 4 * people, 4)]
    greedy = 0
    while sets:
        often = Counter(v for one in sets for v in one)
        value = max(often, key=often.get)
        sets = [one for one in sets if value not in one]
        greedy += 1
    assert 6 <= reported <= greedy


def test_a_budget_that_is_spent_leaves_no_traces():
    first = np.array([0, 2, 4, 6, 8])
    value = np.array([0, 1, 1, 2, 0, 2, 3, 4], np.int32)  # four people with two values each
    start = np.array([0, 4])
    args = (start, first, value, np.array([9]), 5)
    for budget in range(40):
        found = hitting_sizes(*args, np.array([budget])).tolist()
        assert found in ([-1], [3])
    assert found == [3]
    both = np.array([0, 4, 4 + 4])
    twice = np.concatenate([first, first[1:] + 8])
    sizes_of = hitting_sizes(
        both, twice, np.concatenate([value, value]), np.array([9, 9]), 5, np.array([10])
    )
    assert sizes_of[0] == -1


@settings(deadline=None, max_examples=examples(150))
@given(tables(persons=True, sensitive=True, most_rows=10))
def test_levels_against_all_reasoning_sets(table):
    people = np.arange(table.rows) if table.people is None else table.people
    classes = tally(table.codes, people, table.sensitive)
    codes = table.sensitive[0].codes
    for c in range(len(classes)):
        inside = np.flatnonzero(classes.label == c)
        records = {}
        for i in inside:
            records.setdefault(int(people[i]), []).append(int(codes[i]))
        sets = list(hitting.reasoning_sets(records.values()))
        values = Counter(codes[inside].tolist())
        person = max(map(len, records.values())) / len(inside)
        value = max(values.values()) / len(inside)
        fewest = min(len(set(one)) for one in sets)
        share = max(max(Counter(one).values()) / len(one) for one in sets)

        def level(name, c=c, **options):
            model = catalog.models[name](column="s", **options)
            assert model.satisfied(classes)[c] == model.holds(model.levels(classes)[c])
            return model.levels(classes)[c]

        assert level("eir-l-diversity", l=2) == fewest
        assert level("eir-l-diversity", l=3) == fewest
        both = {"alpha": 0.5, "beta": 0.5}
        worst = 1 + person if person > 0.5 else share
        assert level("eir-alpha-beta-anonymity", **both) == pytest.approx(worst)
        worst = 1 + person if person > 0.5 else value
        assert level("ir-alpha-beta-anonymity", **both) == pytest.approx(worst)
        few = len(records) / 2 if len(records) < 2 else len(values)
        assert level("ir-kl-anonymity", k=2, l=2) == few
        assert catalog.models["ir-k-anonymity"](k=2).levels(classes)[c] == len(records)


@settings(deadline=None, max_examples=examples(60))
@given(tables(persons=True, sensitive=True), st.integers(1, 4))
def test_person_values_add_up_when_classes_merge(table, parts):
    people = np.arange(table.rows) if table.people is None else table.people
    start = tally(table.unified, people, table.sensitive)
    into = np.arange(len(start)) % parts  # the class that each one ended up in
    ids = np.unique(into)
    summed = start.merged(into, ids)
    whole = tally(into[start.label][:, None].astype(np.int32), people, table.sensitive)
    for name in ("eir-l-diversity", "ir-kl-anonymity"):
        options = {"l": 2, "column": "s"} | ({"k": 2} if "k" in name else {})
        model = catalog.models[name](**options)
        order = np.argsort(into[start.label[whole.first]])
        assert model.levels(summed).tolist() == model.levels(whole)[order].tolist()


def test_a_plan_without_a_person_column():
    columns = {"group": "quasi", "who": "identifier", "disease": "sensitive"}
    for name, options in ASKED.items():
        with pytest.raises(BadPlan, match=f"needs a person column for {name}"):
            Plan(columns=columns, models=[{"name": name, "column": "disease", **options}])
    model = catalog.models["eir-l-diversity"](column="s", l=2)
    column = Sensitive("s", np.zeros(2, np.int32), ("flu",))
    with pytest.raises(BadPlan, match="no person column"):
        model.reached(tally(np.zeros((2, 1), np.int32), None, [column]))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ir-alpha-beta-anonymity", {"alpha": 1.0, "beta": 0.5}, "above 0 and below 1"),
        ("eir-alpha-beta-anonymity", {"alpha": 0.5, "beta": 0.0}, "above 0 and below 1"),
        ("eir-l-diversity", {"l": 1}, "l of 2 or more"),
        ("ir-kl-anonymity", {"k": 1, "l": 2}, "needs k of 2 or more"),
    ],
)
def test_thresholds_out_of_range(name, options, message):
    with pytest.raises(BadPlan, match=message):
        catalog.models[name](column="s", **options)


def test_gaa_satisfies_them():
    """Every algorithm that forms classes does, as people come together only whole."""
    rng = np.random.default_rng(1)
    n = 300
    people = pa.table(
        {
            "who": rng.integers(0, 120, n),
            "age": rng.integers(20, 60, n),
            "disease": rng.choice(list("abcdef"), n),
        }
    )
    plan = Plan(
        columns={
            "who": "person",
            "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
            "disease": "sensitive",
        },
        models=[
            {"name": "ir-k-anonymity", "k": 4},
            {"name": "eir-l-diversity", "column": "disease", "l": 3},
            {"name": "eir-alpha-beta-anonymity", "column": "disease", "alpha": 0.5, "beta": 0.7},
        ],
    )
    release = shoal.anonymize(people, plan)
    assert all(check.holds for check in release.checks)
    numbers = release.frame["who"].to_pylist()
    assert sorted(set(numbers)) == list(range(len(set(numbers))))
