"""Equal records, or people, counted together give the same numbers as the records one by one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan, catalog
from shoal.algorithms._shared.recode import recode
from shoal.io.frames import open_frame
from shoal.losses.nllm import NLLM
from shoal.measures.bounds.lower_bound import lower_bound
from shoal.measures.breakdowns.sensitive_classes import sensitive_facts
from shoal.measures.breakdowns.value_widths import widths
from shoal.measures.exposure import expose
from shoal.measures.information_loss import measure
from shoal.measures.queries.draw import Queries
from shoal.measures.record_counts import row_count
from shoal.measures.risks import risks
from shoal.measures.utility import utility_of
from shoal.models.ir_alpha_beta_anonymity import IRAlphaBetaAnonymity
from shoal.models.ir_kl_anonymity import IRKLAnonymity
from shoal.table import person_order
from shoal.table.encode import Table, encode
from shoal.table.equivalence_classes import Classes, tally
from shoal.table.profiles import Profiles
from shoal.table.published_table import Published, read_published
from shoal.table.recoding import Recoding
from shoal.table.weighted import Weighted
from tests.strategies import first_of

IDENTITY_RESERVED = [
    IRKLAnonymity(column="disease", k=2, l=2),
    IRAlphaBetaAnonymity(column="disease", alpha=0.5, beta=0.9),
]


def frame(seed: int, rows: int = 120, people: bool = False) -> pa.Table:
    """Records, or people with few different ones: one to four each, some of them equal."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(rows), rng.choice([1, 2, 4], rows, p=[0.6, 0.3, 0.1]))
    if people:
        rng.shuffle(who)
        rows = len(who)
    else:
        who = np.arange(rows)
    found = pa.table(
        {
            "who": pa.array(who, mask=rng.random(rows) < 0.05),
            "age": rng.integers(30, 33 if people else 40, rows),
            "sex": rng.choice(["f", "m", None], rows),
            "disease": rng.choice(["flu", "gout", "cold"], rows),
            "note": rng.choice(list("abcdefgh"), rows),
        }
    )
    return found if people else found.drop_columns(["who"])


def plan(people: bool = False, roles: dict | None = None, **change: object) -> Plan:
    diseases = {"tree": {"x": ["flu", "cold"], "y": ["gout"]}}
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [2, 4, 8]}},
        "sex": "quasi",
        "disease": {"role": "sensitive", "hierarchy": diseases},
        "note": "other",
    }
    columns |= {"who": "person"} if people else {}
    columns |= roles or {}
    asked = {"columns": columns, "models": [{"name": "k-anonymity", "k": 4}], "seed": 5}
    return Plan(**asked | change)


def tables(seed: int, people: bool) -> tuple[Table, Table, Recoding, Recoding, Published]:
    """A table, the same weighted, a recoding of both, and what is published."""
    asked, data = plan(people), frame(seed, people=people)
    rows = encode(open_frame(data), asked.columns)
    weighted = Weighted(rows)
    units = weighted.table(together=True)
    found = asked.algorithm.recode(units, asked.models, NLLM(), np.random.default_rng(1))
    released = shoal.anonymize(data, asked).frame
    published = read_published(open_frame(released), asked.columns)
    return rows, units, weighted.of_rows(found, together=True), found, published


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("seed", first_of(8, 3))
def test_all_measures_are_the_same(seed: int, people: bool) -> None:
    asked = plan(people)
    rows, units, of_rows, of_units, published = tables(seed, people)
    together = published.together()
    assert len(units.codes) < len(rows.codes)
    assert len(together.codes) < len(published.codes)
    assert (units.rows, units.person_count) == (rows.rows, rows.person_count)
    assert (together.rows, together.person_count) == (published.rows, published.person_count)
    assert together.missing_cells == published.missing_cells
    assert expose(together, rows).as_dict() == expose(published, rows).as_dict()
    assert expose(together, units).as_dict() == expose(published, rows).as_dict()
    assert widths(asked.columns, together) == widths(asked.columns, published)
    before = measure(rows, published, NLLM(), of_rows)
    assert measure(units, together, NLLM(), of_units) == before
    asking = Queries(number=50)
    models = [*asked.models, *(IDENTITY_RESERVED if people else [])]
    used = utility_of(rows, published, before, models, asking)
    assert utility_of(units, together, before, models, asking) == used
    assert sensitive_facts(together) == sensitive_facts(published)
    assert row_count(together, 9) == row_count(published, 9)
    assert bool(row_count(published, 9)) == people
    assert risks(together, units) == risks(together, rows) == risks(published, rows)
    assert lower_bound(units, 4, NLLM()) == lower_bound(rows, 4, NLLM())


@pytest.mark.parametrize("seed", first_of(4, 2))
def test_rows_that_stand_for_several_are_counted_together_too(seed: int) -> None:
    published = tables(seed, False)[-1]
    every = np.arange(len(published.codes))
    twice = replace(published, weight=1 + every % 3)
    single = replace(
        published,
        codes=np.repeat(published.codes, twice.weight, axis=0),
        sensitive=tuple(
            replace(one, codes=np.repeat(one.codes, twice.weight)) for one in published.sensitive
        ),
    )
    together = twice.together()
    assert len(together.codes) < len(twice.codes)
    assert (together.rows, together.missing_cells) == (single.rows, single.missing_cells)
    assert expose(together).as_dict() == expose(single).as_dict()
    assert sensitive_facts(together) == sensitive_facts(single)
    assert together.class_of_row.tolist() == twice.classes.label.tolist()
    assert together.together() is together


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("seed", first_of(4, 2))
def test_models_see_the_same_classes(seed: int, people: bool) -> None:
    """Of the published values, and of the original ones, where a person is in several classes."""
    rows, units, _, _, published = tables(seed, people)
    assert_same(published.classes, published.together().classes, people)
    start = [tally(one.codes, one.people, one.sensitive, one.weight) for one in (rows, units)]
    assert_same(*start, people)
    assert_same(rows.tally(sensitive=True), units.tally(sensitive=True), people)
    assert_same(rows.as_one_class(), units.as_one_class(), people)


def assert_same(rows: Classes, units: Classes, people: bool) -> None:
    """Every model reaches the same, and its classes have the same levels."""
    assert rows.smallest == units.smallest
    assert rows.size.sum() == units.size.sum()
    assert sorted(map(tuple, by_candidates(rows))) == sorted(map(tuple, by_candidates(units)))
    for name, kind in catalog.models.decided.items():
        if kind.linkage or (kind.needs_person_column and not people):
            continue
        options = dict(kind.loosest)
        if "column" in kind.model_fields:
            options["column"] = "disease"
        model = kind(**options)
        levels = [
            # Sums of floats differ in their last digits with the order of the values.
            np.c_[one.size, one.people, model.levels(one).round(11)].tolist()
            for one in (rows, units)
        ]
        assert sorted(levels[0]) == sorted(levels[1]), name
        assert model.reached(rows) == pytest.approx(model.reached(units), rel=1e-11), name
        assert model.satisfied(rows).sum() == model.satisfied(units).sum()
    for name, person_values in rows.person_values.items():
        other = units.person_values[name]
        assert person_values.person_count == other.person_count
        assert sorted(person_values.total) == sorted(other.total)  # in another order of values
        everywhere = [np.ones(len(one), np.bool_) for one in (rows, units)]
        assert person_values.in_classes(everywhere[0]) == other.in_classes(everywhere[1])


def by_candidates(classes: Classes) -> np.ndarray:
    candidates, people = classes.people_by_candidates
    which, place = np.unique(candidates, return_inverse=True)
    return np.c_[which, np.bincount(place, people)]


@pytest.mark.parametrize("name", [*(n for n, a in catalog.algorithms.decided.items()
                                    if a.counts_together),
                                  {"name": "full-domain", "suppression": 0.3}])  # fmt: skip
@pytest.mark.parametrize("models", [
    [{"name": "k-anonymity", "k": 4}],
    [{"name": "k-anonymity", "k": 3},
     {"name": "distinct-l-diversity", "column": "disease", "l": 2}],
    [{"name": "average-risk", "r": 0.2}],
    [{"name": "ir-k-anonymity", "k": 3},
     {"name": "eir-l-diversity", "column": "disease", "l": 2},
     {"name": "eir-alpha-beta-anonymity", "column": "disease", "alpha": 0.4, "beta": 0.9}],
    [{"name": "k-anonymity", "k": 3}, {"name": "t-closeness", "column": "disease", "t": 0.3}],
])  # fmt: skip
@pytest.mark.parametrize("people", [False, True])
def test_classes_do_not_depend_on_counting_together(
    name: object, models: list[dict], people: bool
) -> None:
    """The recoding of the weighted table is that of its records in the same order."""
    if models[0]["name"].startswith("ir-") and not people:
        pytest.skip("the models need a person column")
    asked = plan(people, models=models, algorithm=name)
    rows = encode(open_frame(frame(3, people=people)), asked.columns)
    others = [model for model in asked.models if model.name not in ("k-anonymity", "average-risk")]
    weighted = Weighted(rows, bool(others))
    one_by_one = weighted.table(together=False)
    algorithm = asked.algorithm
    rng = np.random.default_rng
    found = recode(algorithm, one_by_one, asked.models, NLLM(), rng(1))
    again = recode(algorithm, rows, asked.models, NLLM(), rng(1))
    assert (found.codes() == again.codes()[weighted.order]).all()
    if not any(model.name == "average-risk" for model in asked.models):
        alone = algorithm.recode(one_by_one, asked.models, NLLM(), rng(1))
        assert (alone.codes() == found.codes()).all()
    twice = recode(algorithm, weighted.table(together=True), asked.models, NLLM(), rng(1))
    assert (weighted.of_rows(twice, together=True).codes() == again.codes()).all()


def test_the_weights_are_the_numbers_of_records() -> None:
    rows = encode(open_frame(frame(2)), plan().columns)
    units = Weighted(rows).table(together=True)
    assert units.weight is not None
    assert len({tuple(one) for one in np.c_[units.codes, units.sensitive[0].codes]}) == len(
        units.weight
    )
    again = replace(units, codes=np.repeat(units.codes, units.weight, axis=0), weight=None)
    assert sorted(map(tuple, again.codes)) == sorted(map(tuple, rows.codes))


def profile_of(codes: np.ndarray, people: np.ndarray, who: int) -> tuple:
    return tuple(sorted(map(tuple, codes[people == who].tolist())))


@pytest.mark.parametrize("seed", first_of(6, 2))
@pytest.mark.parametrize("sensitive", [False, True])
def test_people_with_equal_records_are_one_profile(seed: int, sensitive: bool) -> None:
    rows = encode(open_frame(frame(seed, people=True)), plan(people=True).columns)
    assert rows.people is not None
    units = Weighted(rows, sensitive).table(together=True)
    assert units.people is not None
    assert units.person_weight is not None
    values = [
        np.c_[one.codes, *(c.in_order().codes for c in one.sensitive if sensitive)]
        for one in (rows, units)
    ]
    found = Counter(profile_of(values[0], rows.people, who) for who in range(rows.person_count))
    profiles = [profile_of(values[1], units.people, who) for who in range(len(units.person_weight))]
    assert len(set(profiles)) == len(profiles) < rows.person_count
    assert dict(zip(profiles, units.person_weight.tolist(), strict=True)) == found
    again = Weighted(units, sensitive).table(together=True)  # what was counted can be again
    assert (again.codes == units.codes).all()
    assert (again.weight == units.weight).all()


def test_people_whose_hashes_are_equal_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person_order, "_mix", np.zeros_like)
    people = np.array([0, 0, 1, 1, 2, 2])
    profiles = Profiles.of(people, np.array([1, 2, 1, 3, 1, 2]))
    for who in (0, 1, 2):
        place = profiles.row[people == who]
        assert (profiles.first[place] // 2 == profiles.first[place[0]] // 2).all()
    assert profiles.row[0] != profiles.row[2]


@pytest.mark.parametrize("change", [
    {},
    {"models": [{"name": "k-anonymity", "k": 3},
                {"name": "entropy-l-diversity", "column": "disease", "l": 1.5}]},
    {"roles": {"sex": "other"}},
    {"algorithm": {"name": "full-domain", "suppression": 0.2}},
])  # fmt: skip
@pytest.mark.parametrize("people", [False, True])
def test_a_release_has_the_numbers_of_its_records(
    monkeypatch: pytest.MonkeyPatch, change: dict, people: bool
) -> None:
    def numbers() -> dict:
        found = shoal.anonymize(frame(4, people=people), plan(people, **change)).as_dict()
        return {key: found[key] for key in found if key not in ("seconds", "made")}

    together = numbers()
    counted = []

    def one_by_one(self: Published) -> Published:
        counted.append(self.rows)
        return self

    monkeypatch.setattr(Published, "together", one_by_one)
    assert numbers() == together
    assert len(counted) == 2  # the release and its original
