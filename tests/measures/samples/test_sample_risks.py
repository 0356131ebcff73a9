"""Risks in the population, from weights or a sampling fraction: figures, twins, laws, bad input."""

from __future__ import annotations

import json
from collections import Counter
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import BadPlan, BadTable, anonymize, audit
from shoal.measures.samples.individual import counts_with_any
from tests.naive import populations as naive
from tests.naive import sharing

# The published example (../shared/risk.md).
TABLE = {
    "A": [2, 3, 2, 2, 3, 3, 1, 2],
    "B": [3, 3, 3, 3, 3, 3, 4, 3],
    "C": [1, 3, 1, 2, 1, 1, 1, 1],
    "w": [18, 45.5, 39, 17, 92, 8, 123.5, 51],
}
RISKS = [
    0.01355297, 0.08579129, 0.01355297, 0.17707583, 0.01877883, 0.01877883, 0.03931625, 0.01355297,
]  # fmt: skip
COLUMNS = {"A": "quasi", "B": "quasi", "C": "quasi", "w": "weight"}


def sampled(table=TABLE, columns=COLUMNS, **settings):
    return audit(pa.table(table), {"columns": columns, **settings}).sample


def flat(numbers, front=""):
    found = {}
    for key, one in numbers.items():
        found |= flat(one, f"{front}{key}.") if isinstance(one, dict) else {front + key: one}
    return found


def with_weights(weights):
    return {**TABLE, "w": weights}


def test_the_published_example():
    found = sampled()
    assert found.individual.of_record == pytest.approx(RISKS, abs=5e-9)
    near = [0.01369863 if risk == 0.01355297 else risk for risk in RISKS]
    assert found.individual.approximate == pytest.approx(near, abs=5e-9)
    numbers = found.as_dict()
    assert numbers["individual_risk"]["highest_approximate"] == pytest.approx(0.17707583, abs=5e-9)
    assert numbers["population"] == sum(TABLE["w"])
    risks = numbers["individual_risk"]
    assert risks["highest"] == pytest.approx(max(RISKS), abs=5e-9)
    assert risks["expected_reidentifications"] == pytest.approx(sum(RISKS), abs=5e-8)
    assert risks["mean"] == pytest.approx(sum(RISKS) / 8, abs=5e-9)


def test_a_missing_value_may_be_any():
    """f = 3 1 4 2 2 2 1 3 and F̂ = 108 45.5 125 56 100 100 123.5 108."""
    table = {**TABLE, "C": [1, 3, None, 2, 1, 1, None, 1]}
    found = sampled(table, population={"missing": "any"}).individual.of_record
    f = [3, 1, 4, 2, 2, 2, 1, 3]
    people = [108, 45.5, 125, 56, 100, 100, 123.5, 108]
    pairs = zip(f, people, strict=True)
    assert found == pytest.approx([naive.risk_by_sum(*pair) for pair in pairs], rel=1e-6)


def test_missing_on_both_sides_counts_once():
    """Against all pairs of records, for tuples that lack different values."""
    rng = np.random.default_rng(5)
    cells = rng.integers(0, 3, (60, 3))
    cells[rng.random((60, 3)) < 0.2] = -1
    columns = [[None if c < 0 else int(c) for c in column] for column in cells.T]
    weights = rng.integers(1, 40, 60).tolist()
    table = dict(zip("ABC", columns, strict=True)) | {"w": weights}
    found = sampled(table, population={"missing": "any"}).individual.of_record
    for i, one in enumerate(cells):
        alike = [
            j for j, other in enumerate(cells)
            if all(a < 0 or b < 0 or a == b for a, b in zip(one, other, strict=True))
        ]  # fmt: skip
        people = max(sum(weights[j] for j in alike), len(alike))
        assert found[i] == pytest.approx(naive.risk(len(alike), people, 2000), rel=1e-3)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda q: st.lists(
            st.tuples(*[st.integers(-1, 2)] * q, st.integers(1, 30)), min_size=1, max_size=25
        )
    )
)
def test_counts_with_any_are_those_of_all_pairs(rows):
    """By grouping, against comparing every pair."""
    codes, weights = [row[:-1] for row in rows], [float(row[-1]) for row in rows]
    found = counts_with_any(np.array(codes, np.int32), np.array(weights))
    f, people = sharing.counts_with_any(codes, weights)
    assert found.sample[found.label].tolist() == f
    assert found.population[found.label].tolist() == people


@pytest.mark.parametrize("settings", [{"fraction": 0.05}, {"size": 160}])
def test_without_weights_everybody_stands_for_as_many(settings):
    table = {name: cells for name, cells in TABLE.items() if name != "w"}
    columns = dict.fromkeys(table, "quasi")
    found = sampled(table, columns, population=settings)
    counts = Counter(zip(*table.values(), strict=True))
    f = [counts[one] for one in zip(*table.values(), strict=True)]
    assert found.population == 160
    assert found.individual.of_record == pytest.approx(
        [naive.risk_by_sum(one, one * 20) for one in f], rel=1e-9
    )


@pytest.mark.parametrize("stated", [{"size": 1182}, {"fraction": 8 / 1182}])
def test_a_stated_population_overrules_the_sum_of_the_weights(stated):
    """Weights then say only how many more people one record stands for than another."""
    found = sampled(population=stated)
    rows = list(zip(*(TABLE[name] for name in "ABC"), strict=True))
    f = [rows.count(one) for one in rows]
    people = [
        sum(w for w, other in zip(TABLE["w"], rows, strict=True) if other == one) for one in rows
    ]
    scaled = [1182 * one / sum(TABLE["w"]) for one in people]
    expected = [naive.risk_by_sum(*pair) for pair in zip(f, scaled, strict=True)]
    assert found.individual.of_record == pytest.approx(expected, rel=1e-6)
    assert found.population == pytest.approx(1182)
    assert found.fraction == pytest.approx(8 / 1182)
    assert found.basis in stated
    [note] = [one for one in found.notes if "weights" in one]
    assert "add up to 394 people" in note
    assert "1,182 people of [population]" in note
    own = sampled(population={"size": 394})  # the sum of the weights
    assert own.individual.of_record.tolist() == sampled().individual.of_record.tolist()
    assert not any("weights" in one for one in own.notes)


@pytest.mark.parametrize("missing", ["value", "any"])
def test_weights_of_one_with_a_size_are_as_no_weights(missing):
    table = {"age": [30, 30, 30, 40, 50, None], "w": [1] * 6}
    population = {"size": 6000, "missing": missing}
    columns = {"age": "quasi", "w": "weight"}
    found = sampled(table, columns, population=population)
    del table["w"], columns["w"]
    without = sampled(table, columns, population=population)
    assert found.individual.as_dict() == without.individual.as_dict()
    assert found.individual.people.max() < 0.01


def test_scaled_weights_of_people_with_several_records_and_of_households():
    """The weight of a person is the mean over the records, and these means add up."""
    both = {name: [*cells, cells[0]] for name, cells in TABLE.items()} | {"who": [*range(8), 0]}
    both["w"][8] = 54.0  # the mean of 18 and 54 is 36
    both["home"] = [1, 1, 2, 2, 2, 3, 4, 4, 1]
    columns = {**COLUMNS, "who": "person", "home": "household"}
    found = sampled(both, columns, population={"size": 824}).individual
    times = 824 / (sum(TABLE["w"]) - 18 + 36)
    assert times == 2
    table = {**TABLE, "w": [72, *(2 * w for w in TABLE["w"][1:])], "home": both["home"][:8]}
    once = sampled(table, {**COLUMNS, "home": "household"}).individual
    assert found.of_record[:8] == pytest.approx(once.of_record)
    assert found.of_household[:8] == pytest.approx(once.of_household)


def test_a_plan_without_a_population_estimates_nothing():
    table = {name: cells for name, cells in TABLE.items() if name != "w"}
    found = audit(pa.table(table), {"columns": dict.fromkeys(table, "quasi")})
    assert found.sample is None
    assert found.as_dict()["sample"] is None


def test_a_person_counts_once():
    """Two records of a person in a class are one person, and the weight is the person's."""
    twice = {name: [*cells, cells[0]] for name, cells in TABLE.items()}
    twice["who"] = [*range(8), 0]
    columns = {**COLUMNS, "who": "person"}
    found = sampled(twice, columns).individual
    assert found.of_record[:8] == pytest.approx(RISKS, abs=5e-9)
    assert found.approximate[0] == pytest.approx(0.01369863, abs=5e-9)


def test_the_risk_of_a_household():
    """1 − Π (1 − r) over its members; a person with two records is one member."""
    homes = [1, 1, 2, 2, 2, 3, 4, 4]
    table = {**TABLE, "home": homes}
    found = sampled(table, {**COLUMNS, "home": "household"}).individual
    expected = [
        1 - prod(1 - r for r, home in zip(RISKS, homes, strict=True) if home == mine)
        for mine in homes
    ]
    assert found.of_household == pytest.approx(expected, abs=5e-8)
    assert found.as_dict()["household"]["households"] == 4
    both = {name: [*cells, cells[0]] for name, cells in table.items()} | {"who": [*range(8), 0]}
    again = sampled(both, {**COLUMNS, "home": "household", "who": "person"}).individual
    assert again.of_household[:8] == pytest.approx(expected, abs=5e-8)


def test_weights_that_were_scaled_to_one_are_noted():
    found = sampled(with_weights([1.0] * 8))
    assert found.fraction == 1.0
    assert any("scaled to a mean of 1" in note for note in found.notes)


def test_an_estimator_that_does_not_converge_is_noted():
    [note] = [one for one in sampled().notes if "pitman" in one]
    assert "could not be estimated" in note
    assert "stands in for it" in note


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0, *TABLE["w"][1:]], r"column 'w' has weights that are zero or negative: '0' \(row 1\)"),
        ([-3.5, *TABLE["w"][1:]], r"zero or negative: '-3.5' \(row 1\)"),
        ([1e308, *TABLE["w"][1:]], r"below 1e-09 or above 1e\+15: '1e\+308' \(row 1\)"),
        ([1e-320, *TABLE["w"][1:]], r"below 1e-09 or above 1e\+15"),
        ([None, *TABLE["w"][1:]], r"column 'w': 1 record has no weight \(row 1\)"),
        (["many", *map(str, TABLE["w"][1:])], r"weights that are no numbers: 'many' \(row 1\)"),
        ([float("inf"), *TABLE["w"][1:]], r"no numbers: 'inf' \(row 1\)"),
        ([""] * 8, r"8 records have no weight \(rows 1, 2, 3, 4, 5 and 3 more\)"),
    ],
)
def test_weights_that_cannot_be_weights(weights, message):
    plan = {"columns": COLUMNS, "models": [{"name": "k-anonymity", "k": 2}]}
    with pytest.raises(BadTable, match=message):
        audit(pa.table(with_weights(weights)), plan)
    with pytest.raises(BadTable, match=message):  # before the work
        anonymize(pa.table(with_weights(weights)), plan)


@pytest.mark.parametrize(
    ("population", "message"),
    [
        ({"fraction": 1.5}, r"\[population\] needs fraction .*got fraction=1.5"),
        ({"fraction": 0}, r"\[population\] needs fraction"),
        ({"size": 0}, r"\[population\] needs size"),
        ({"size": 7}, r"size = 7, and the table has 8 people"),
        ({"size": 100, "fraction": 0.1}, "state one of them"),
        ({"sise": 100}, "did you mean 'size'"),
        (0.1, r"\[population\] is a table of settings"),
    ],
)
def test_populations_that_cannot_be(population, message):
    with pytest.raises(BadPlan, match=message):
        sampled(population=population)


def test_two_weight_columns():
    with pytest.raises(BadPlan, match="can have one weight column, but has A, w"):
        sampled(columns={**COLUMNS, "A": "weight"})


def test_a_release_has_the_same_estimates_and_weighted_losses(tmp_path):
    plan = {"columns": COLUMNS, "models": [{"name": "k-anonymity", "k": 2}], "seed": 1}
    release = anonymize(pa.table(TABLE), plan)
    again = audit(release.frame, plan, original=pa.table(TABLE))
    numbers, others = release.as_dict(), again.as_dict()
    assert flat(numbers["sample"]) == pytest.approx(flat(others["sample"]))
    assert numbers["weighted_losses"] == pytest.approx(others["weighted_losses"])
    # Three records of 17, 123.5 and 45.5 lose all of their values.
    assert numbers["weighted_losses"]["lm"] == pytest.approx(100 * 186 / 394)
    json.dumps(numbers)
    hidden = {**plan, "columns": {**COLUMNS, "w": {"role": "weight", "publish": False}}}
    other = anonymize(pa.table(TABLE), hidden)
    assert "w" not in other.frame.column_names
    assert flat(other.as_dict()["sample"]) == pytest.approx(flat(numbers["sample"]))
    report = tmp_path / "report.html"
    release.report(report)
    assert "Risk in the population" in report.read_text(encoding="utf-8")


def test_weights_count_records_as_often_as_they_say():
    """Repeating each record by its weight gives the same loss."""
    table = with_weights([2, 1, 3, 1, 1, 2, 1, 4])
    plan = {"columns": COLUMNS, "models": [{"name": "k-anonymity", "k": 2}], "seed": 1}
    release = anonymize(pa.table(table), plan)
    often = table["w"]
    repeated = {
        n: [c for c, w in zip(x, often, strict=True) for _ in range(w)] for n, x in table.items()
    }
    shown = release.frame.to_pydict()
    out = {
        n: [c for c, w in zip(x, shown["w"], strict=True) for _ in range(w)]
        for n, x in shown.items()
    }
    again = audit(pa.table(out), plan, original=pa.table(repeated))
    found = again.quality
    assert release.weighted_losses["lm"] == pytest.approx(found.losses["lm"])
    weighted = release.as_dict()["utility"]["weighted_queries"]
    assert weighted == pytest.approx(again.as_dict()["utility"]["queries"])
    assert weighted != pytest.approx(release.as_dict()["utility"]["queries"])
    assert release.weighted_losses["entropy"] != pytest.approx(release.quality.losses["entropy"])


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 50), st.integers(0, 5)),
        min_size=1,
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=25, deadline=None)
def test_the_order_of_records_does_not_matter(rows, random):
    """Each record has the same risk wherever it is; a household at least that of each member."""
    names = ("A", "B", "w", "home")
    plan = {"columns": {"A": "quasi", "B": "quasi", "w": "weight", "home": "household"}}
    order = list(range(len(rows)))
    random.shuffle(order)
    found = [
        audit(pa.table(dict(zip(names, map(list, zip(*some, strict=True)), strict=True))), plan)
        for some in (rows, [rows[i] for i in order])
    ]
    one, other = (audited.sample.individual for audited in found)
    assert one.of_record[order] == pytest.approx(other.of_record, rel=1e-12)
    assert one.of_household[order] == pytest.approx(other.of_household, rel=1e-12)
    assert (one.of_household >= one.of_record * (1 - 1e-12)).all()
    assert found[0].sample.uniqueness.uniqueness == found[1].sample.uniqueness.uniqueness
