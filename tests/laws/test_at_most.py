"""Laws of at_most: no algorithm publishes beyond it, and no more is suppressed than must be."""

from __future__ import annotations

import json
import re
from collections import Counter
from math import floor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import CannotReach, Plan, catalog
from shoal.algorithms._shared.recode import recode
from shoal.losses.ncp import NCP
from shoal.losses.nllm import NLLM
from shoal.measures.verify import seen
from shoal.models.average_risk import AverageRisk
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.delta_disclosure import DeltaDisclosure
from shoal.models.delta_presence import DeltaPresence
from shoal.models.k_anonymity import KAnonymity
from shoal.models.k_concealment import KConcealment
from shoal.models.k_map import KMap
from shoal.models.share_at_risk import ShareAtRisk
from shoal.table.match_graph import link
from shoal.table.published_table import preview_release
from shoal.table.recoding import check_covers
from tests.naive import at_most as naive
from tests.naive.proofs import allowed, fewest_suppressed
from tests.naive.requirements import EVERY, Release, combined, satisfies
from tests.random_tables import limited, random_table
from tests.strategies import examples, first_of, inhabited, sampled, tables

ALGORITHMS = list(catalog.algorithms.decided)
FORMING = [name for name in ALGORITHMS if catalog.algorithms[name]().serves(KAnonymity(k=2))]
FREE = [name for name in FORMING if catalog.algorithms[name].free]
ALSO = [
    *EVERY,
    BetaLikeness(column="s", beta=2.0),
    DeltaDisclosure(column="s", delta=1.5),
    AverageRisk(r=0.4),
    ShareAtRisk(share=0.3, threshold=0.34),
    KMap(k=3),
    DeltaPresence(high=0.8),
]
PERSONS = tables(persons=True, sensitive=True)


def published_within(table, recoding):
    """Whether no published value is beyond at_most, by labels and by ways down the trees."""
    for j, tops in enumerate(table.tops):
        for vector in recoding.vectors[np.unique(recoding.record[recoding.record >= 0])]:
            code, tree = int(vector[j]), table.trees[j]
            if tops is None:
                continue
            if code >= tree.size or (tops.at_most.width is not None and code == 0):
                label = recoding.covers[j].labels()[code]
                assert tops.at_most.width is not None
                low, high = map(float, label[1:-1].split(", "))
                assert high - low <= tops.at_most.width
            elif tops.at_most.width is None:
                assert allowed(table, j, code)


def satisfied(table, recoding, models):
    """Whether the published records satisfy the models, as verify sees them."""
    published, part = preview_release(table, recoding)
    linkage = link(part, published) if any(model.linkage for model in models) else None
    return all(model.check(seen(model, published, linkage)).holds for model in models)


@settings(max_examples=examples(80), deadline=None)
@pytest.mark.parametrize("name", ALGORITHMS)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 3))
def test_nothing_beyond_it_is_published_and_no_more_is_suppressed_than_must_be(name, seed, k):
    rng = np.random.default_rng(seed)
    table = limited(random_table(rng, most_rows=7, least_rows=3), rng)
    algorithm = catalog.algorithms[name]()
    model = KAnonymity(k=k)
    if not algorithm.serves(model):
        model = KConcealment(k=k)
        if table.people is not None:
            return
    if not table.tops:
        return
    least = fewest_suppressed(table, k)
    try:
        found = recode(algorithm, table, [model], NCP(), rng, suppression=least / table.rows)
    except CannotReach:
        # Full-domain has one level per column; danonyir may suppress everybody by itself.
        assert least == table.rows or name in ("full-domain", "danonyir")
        return
    check_covers(table, found)
    published_within(table, found)
    assert satisfied(table, found, [model])
    if name != "danonyir":
        assert found.suppressed == least
    if least:
        with pytest.raises(CannotReach, match="at_most"):
            recode(algorithm, table, [model], NCP(), rng, suppression=(least - 1) / table.rows)


@settings(max_examples=examples(60), deadline=None)
@pytest.mark.parametrize("name", FORMING)
@given(
    table=st.one_of(PERSONS, inhabited(PERSONS), sampled(PERSONS)),
    seed=st.integers(0, 99),
    more=st.lists(st.sampled_from(ALSO), max_size=2, unique_by=lambda one: one.name),
)
def test_with_other_requirements(name, table, seed, more):
    """Every other model that the algorithm supports, also those about the whole table."""
    rng = np.random.default_rng(seed)
    table, algorithm = limited(table, rng), catalog.algorithms[name]().suppressing(1.0)
    models = combined(algorithm, table, [KAnonymity(k=2)], more)
    try:
        found = recode(algorithm, table, models, NLLM(), rng)
    except CannotReach:
        return
    check_covers(table, found)
    published_within(table, found)
    assert satisfied(table, found, models)
    assert all(satisfies(Release.of(table, found), model) for model in models)


@settings(max_examples=examples(60), deadline=None)
@pytest.mark.parametrize("name", FREE)
@given(table=tables(persons=True, sensitive=True, free=True), seed=st.integers(0, 99))
def test_free_ranges_and_sets(name, table, seed):
    rng = np.random.default_rng(seed)
    table, models = limited(table, rng), [KAnonymity(k=2)]
    try:
        found = recode(catalog.algorithms[name](), table, models, NCP(), rng)
    except CannotReach:
        return
    check_covers(table, found)
    published_within(table, found)
    assert satisfied(table, found, models)


# Whole releases, read by their labels


def people(seed, rows=90):
    rng = np.random.default_rng(seed)
    months = rng.integers(0, 24, rows)
    return pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "zip": [str(47600 + x) for x in rng.choice([1, 2, 3, 11, 12, 25, 130], rows)],
            "day": [f"202{x // 12}-{x % 12 + 1:02}-0{x % 3 + 1}" for x in months],
            "job": rng.choice(list(naive.JOBS), rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "cold", "none"], rows),
        }
    )


LIMITS = {
    "age": [None, "exact", {"width": 5}, {"width": 10}, {"width": 19}, {"level": 1}, {"level": 3}],
    "zip": [None, "exact", {"level": 2}, {"level": 4}, {"level": 5}],
    "day": [None, {"width": 31}, {"width": 30}, {"width": 92}, {"width": 365}, {"level": 2}],
    "job": [None, "exact", {"width": 1}, {"width": 2}, {"width": 3}, {"level": 1}, {"level": 2}],
    "sex": [None, "exact", {"level": 1}],
}


def plan(columns, **more):
    return Plan(
        columns={**columns, "ill": "sensitive"},
        models=[{"name": "k-anonymity", "k": 3}],
        seed=1,
        **more,
    )


@pytest.mark.parametrize("seed", first_of(12, 3))
@pytest.mark.parametrize("name", FORMING)
def test_releases_read_by_their_labels(name, seed):
    rng = np.random.default_rng([seed, len(name)])
    names = [one for one in LIMITS if rng.random() < 0.7] or ["age"]
    limits = {one: LIMITS[one][rng.integers(len(LIMITS[one]))] for one in names}
    columns = {one: {"role": "quasi", "hierarchy": naive.HIERARCHIES[one]} for one in names}
    for one, limit in limits.items():
        if limit is not None:
            columns[one]["at_most"] = limit
        if rng.random() < 0.5:
            columns[one]["importance"] = float(rng.choice([0.5, 3]))
    table = people(seed).select([*names, "ill"])
    rows = table.to_pylist()
    least = naive.fewest_suppressed(rows, limits, 3)
    share = float(rng.choice([0.0, 0.1, 0.6]))
    made = plan(columns, algorithm=name, suppression=share)
    if least > floor(share * len(rows) + 1e-9):
        said = r"with suppression = (\S+) there are levels|no levels comply"
        if name != "full-domain":
            said = rf"at least {least} of .* (?:allow suppression = (\S+),|use )"
        with pytest.raises(CannotReach, match=said) as error:
            shoal.anonymize(table, made)
        if (enough := re.search(said, str(error.value))[1]) is not None:
            enough = shoal.anonymize(table, made.changed(suppression=float(enough)))
            assert least <= enough.suppressed < len(rows)
        return
    try:
        release = shoal.anonymize(table, made)
    except CannotReach:
        assert name == "full-domain"  # one level per column
        return
    published = release.frame.to_pylist()
    for one, limit in limits.items():
        own = {row[one] for row in rows}
        for label in {str(row[one]) for row in published}:
            assert naive.allowed(one, limit, label, own), (one, limit, label)
    sizes = Counter(tuple(str(row[one]) for one in names) for row in published)
    assert min(sizes.values()) >= 3
    assert release.suppressed == len(rows) - len(published)
    if name not in ("full-domain", "danonyir"):
        assert release.suppressed == least
    assert all(check.holds for check in release.at_most)
    assert release.bound.percent <= release.losses["nllm"] + 1e-9
    assert json.dumps(release.as_dict())  # plain numbers, as JSON has them
    audit = shoal.audit(release.frame, made, original=table)
    assert audit.holds
    assert [one.as_dict() for one in audit.at_most] == [one.as_dict() for one in release.at_most]
