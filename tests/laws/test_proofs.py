"""What is called proven, best or a lower bound is compared with brute force, loss by loss.

The other side is `tests.naive.proofs`: its own losses, all combinations of levels, all partitions.
"""

from __future__ import annotations

import re
from math import floor

import numpy as np
import pytest

from shoal import catalog
from shoal.algorithms.full_domain import FullDomain
from shoal.base.errors import CannotReach
from shoal.measures.bounds.lower_bound import lower_bound
from shoal.measures.information_loss import measure
from shoal.models.k_anonymity import KAnonymity
from shoal.table.published_table import preview_release
from shoal.table.recoding import SUPPRESSED, Recoding
from tests.naive.full_domain import discernibility
from tests.naive.proofs import Meter, average_class_size, least_of_partitions, releases
from tests.random_tables import limited, random_loss, random_table, weighted

LOSSES = sorted(catalog.losses)
SHARES = (0.0, 0.0, 0.15, 0.4, 1.0)
RNG = np.random.default_rng(0)  # full-domain is not random
CLOSE = {"rel": 5.1e-6, "abs": 1e-9}  # six digits are written in a note


def shown(recoding):
    """What is published of every record; None: suppressed."""
    return [
        None if at == SUPPRESSED else tuple(int(v) for v in recoding.vectors[at])
        for at in recoding.record
    ]


def recoding_of(published):
    """The recoding that publishes this."""
    vectors = sorted({one for one in published if one is not None})
    record = [SUPPRESSED if one is None else vectors.index(one) for one in published]
    return Recoding(np.array(vectors, np.int32), np.array(record, np.int64))


def reported(table, loss, recoding):
    """The loss of a recoding as an audit measures it."""
    return measure(table, preview_release(table, recoding)[0], loss, recoding).losses[loss.name]


def value_in(note):
    """The value of the objective that full-domain writes into its note."""
    return float(re.search(r"objective .* is ([\d,.e+-]+)", note)[1].replace(",", ""))


def best_levels(name, seed, objective="loss", importance=False, at_most=False):
    """Compare full-domain with the best of all combinations of levels."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, least_rows=6, most_rows=20)
    table = weighted(table, rng) if importance else table
    table = limited(table, rng) if at_most else table
    loss, weights = random_loss(name, table, rng)
    k, share = int(rng.integers(2, 5)), float(rng.choice(SHARES))
    nodes = list(releases(table, k, floor(share * table.rows + 1e-9)))
    algorithm = FullDomain(suppression=share, objective=objective)
    if not nodes:
        with pytest.raises(CannotReach):
            algorithm.recode(table, [KAnonymity(k=k)], loss, RNG)
        return False
    worth = {
        "loss": Meter(table, name, weights).percent,
        "discernibility": discernibility,
        "average-class-size": lambda published: average_class_size(published, k),
    }[objective]
    best = min(map(worth, nodes))
    found = algorithm.recode(table, [KAnonymity(k=k)], loss, RNG)
    assert shown(found) in nodes
    assert worth(shown(found)) == pytest.approx(best, abs=1e-9)
    assert value_in(found.notes[0]) == pytest.approx(best, **CLOSE)
    if objective == "loss":
        assert reported(table, loss, found) == pytest.approx(best, abs=1e-9)
    return True


def bound_holds(name, seed, importance=False, at_most=False):
    """Compare the lower bound with the best of all partitions; returns whether there is one."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, most_rows=int(rng.choice([4, 5, 5, 6, 7])), least_rows=3)
    table = weighted(table, rng) if importance else table
    table = limited(table, rng) if at_most else table
    loss, weights = random_loss(name, table, rng)
    k = int(rng.integers(2, 4))
    found = lower_bound(table, k, loss)
    if found.percent is None:
        assert table.person_count < k or (name == "entropy" and "can cost less" in found.reason)
        return False
    assert found.percent <= least_of_partitions(table, k, Meter(table, name, weights)) + 1e-9
    return True


@pytest.mark.parametrize("name", LOSSES)
def test_issue_12_item_1_full_domain_is_the_best_of_all_levels(name):
    for seed in range(150 if name == "entropy" else 50):  # it alone may fall on the way up
        best_levels(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
def test_full_domain_is_the_best_of_all_levels_of_a_thousand_tables(name):
    for seed in range(1000, 2200):
        best_levels(name, seed)


@pytest.mark.parametrize("objective", ["discernibility", "average-class-size"])
def test_issue_12_item_2_other_objectives_are_the_best_of_all_levels(objective):
    for seed in range(5000, 5100):
        best_levels("nllm", seed, objective)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["discernibility", "average-class-size"])
def test_other_objectives_are_the_best_of_all_levels_of_a_thousand_tables(objective):
    for seed in range(6000, 8000):
        best_levels("nllm", seed, objective)


@pytest.mark.parametrize("name", LOSSES)
def test_the_note_of_full_domain_is_the_least_that_an_audit_measures(name):
    """By the package's own measure of every node, as `audit` would print it."""
    for seed in range(3000, 3010):
        rng = np.random.default_rng(seed)
        table = random_table(rng)
        loss, _ = random_loss(name, table, rng)
        nodes = list(releases(table, 2, floor(0.3 * table.rows + 1e-9)))
        if nodes:
            found = FullDomain(suppression=0.3).recode(table, [KAnonymity(k=2)], loss, RNG)
            least = min(reported(table, loss, recoding_of(one)) for one in nodes)
            assert value_in(found.notes[0]) == pytest.approx(least, **CLOSE)


@pytest.mark.parametrize("name", LOSSES)
def test_issue_16_item_6_proofs_hold_for_columns_of_different_importance(name):
    for seed in range(20):
        best_levels(name, seed, importance=True)
    assert sum(bound_holds(name, seed, importance=True) for seed in range(20)) >= 7


@pytest.mark.parametrize("name", LOSSES)
def test_issue_16_item_6_proofs_hold_within_at_most(name):
    """Also for columns of different importance."""
    found = [best_levels(name, seed, importance=True, at_most=True) for seed in range(30)]
    assert 8 <= sum(found) < 30
    held = [bound_holds(name, seed, importance=seed % 2, at_most=True) for seed in range(30)]
    assert sum(held) >= 10


@pytest.mark.parametrize("objective", ["discernibility", "average-class-size"])
def test_other_objectives_are_the_best_within_at_most(objective):
    seeds = range(5000, 5060)
    assert sum(best_levels("nllm", seed, objective, at_most=True) for seed in seeds) > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
def test_proofs_within_at_most_hold_for_a_thousand_tables(name):
    for seed in range(1000, 2000):
        best_levels(name, seed, importance=True, at_most=True)
        bound_holds(name, seed, importance=seed % 2, at_most=True)


@pytest.mark.parametrize("name", LOSSES)
def test_no_partition_loses_less_than_the_lower_bound(name):
    assert sum(bound_holds(name, seed) for seed in range(40)) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
def test_no_partition_of_a_thousand_tables_loses_less_than_the_lower_bound(name):
    assert sum(bound_holds(name, seed) for seed in range(1000, 2600)) >= 500
