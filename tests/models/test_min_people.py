"""How many people a class needs is what a model says, never what an option is called."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from pydantic import Field

import shoal
from shoal import Plan, catalog
from shoal.algorithms._shared.requirements import check_reachable
from shoal.base.errors import BadPlan, CannotReach
from shoal.base.settings import AtLeastTwo
from shoal.comparing.compare import with_ks
from shoal.losses.ncp import NCP
from shoal.measures.bounds.lower_bound import lower_bound, scoped
from shoal.measures.record_counts import required_class_size
from shoal.models import Model, min_class_size
from shoal.models.average_risk import AverageRisk
from shoal.models.k_anonymity import KAnonymity
from shoal.models.share_at_risk import ShareAtRisk
from tests.naive.proofs import Meter, least_of_partitions
from tests.random_tables import random_table


class InPopulation(Model):
    """Each class has k people of the population, of whom the table may have one."""

    name: ClassVar[str] = "in-population"
    k: AtLeastTwo = Field(description="people of the population")

    @property
    def required(self) -> float:
        return self.k

    def levels(self, classes):
        return np.full(len(classes), 1000.0)


class Members(Model):
    """Each class has some members."""

    name: ClassVar[str] = "members"
    only_class_size: ClassVar[bool] = True
    size_option: ClassVar[str | None] = "least"
    least: AtLeastTwo = Field(description="smallest class")

    @property
    def required(self) -> float:
        return self.least

    @property
    def min_people(self) -> int:
        return self.least

    def levels(self, classes):
        return classes.people.astype(np.float64)


def test_an_option_called_k_that_counts_something_else_proves_nothing():
    model = InPopulation(k=50)
    assert min_class_size([model]) == 1
    assert min_class_size([model, KAnonymity(k=3)]) == 3
    assert required_class_size([model]) == 0
    check_reachable(random_table(np.random.default_rng(0)), [model])  # fewer than 50 people
    bound = scoped(lower_bound(random_table(np.random.default_rng(0)), 2, NCP()), [model])
    assert bound.does_not_cover == ("in-population",)


def test_compare_does_not_set_an_option_called_k_that_counts_something_else(monkeypatch):
    catalog.models._found  # noqa: B018 (scanned before it is changed)
    known = {**catalog.models._found, "in-population": InPopulation, "members": Members}
    monkeypatch.setattr(catalog.models, "_found", known)
    columns = {"age": {"role": "quasi"}}
    plan = Plan(columns=columns, models=[InPopulation(k=50)])
    with pytest.raises(BadPlan, match="which has no k to compare by"):
        with_ks(plan, [2, 3])
    plan = Plan(columns=columns, models=[InPopulation(k=50), Members(least=4)])
    assert list(with_ks(plan, None)) == [4]
    assert with_ks(plan, [7])[7].models == [InPopulation(k=50), Members(least=7)]


def test_an_option_of_another_name_is_proven():
    model = Members(least=3)
    assert min_class_size([KAnonymity(k=2), model]) == 3
    assert required_class_size([model]) == 3
    for seed in range(20):
        table = random_table(np.random.default_rng(seed), most_rows=6, least_rows=3)
        if table.person_count < 3:
            with pytest.raises(CannotReach, match="members with least=3"):
                check_reachable(table, [model])
            continue
        found = scoped(lower_bound(table, min_class_size([model]), NCP()), [model])
        assert found.covers == ("members",)
        assert found.percent <= least_of_partitions(table, 3, Meter(table, "ncp")) + 1e-9


@pytest.mark.parametrize("name", catalog.models)
def test_every_model_carries_its_own_words(name):
    """What shoal list, the report and compare need stands in the file of the model."""
    kind = catalog.models[name]
    needed = {field for field, info in kind.model_fields.items() if info.is_required()}
    assert needed - {"column"} <= set(kind.loosest), f"{name}.loosest lacks an option"
    assert all(info.description for info in kind.model_fields.values()), f"{name}: describe options"
    assert kind.guarantee is not Model.guarantee, f"{name} has no guarantee in plain words"
    column = {"column": "s"} if "column" in kind.model_fields else {}
    easy = kind(**column, **kind.loosest)
    assert easy.loosened() == easy
    if kind.size_option:
        assert easy.hidden_among == getattr(easy, kind.size_option)


def test_huge_and_tiny_options_are_answered():
    """A threshold near zero, and an l that no array can hold."""
    assert ShareAtRisk(share=1.0, threshold=5e-324).guarantee()
    assert AverageRisk(r=5e-324).sufficient_people > 2**60
    table = pa.table({"who": [1, 2, 3], "age": [1, 2, 3], "s": ["x", "y", "z"]})
    asked = Plan(
        columns={"who": "person", "age": "quasi", "s": "sensitive"},
        models=[{"name": "eir-l-diversity", "column": "s", "l": 10**40}],
    )
    with pytest.raises(CannotReach, match="cannot be reached"):
        shoal.anonymize(table, asked)


def test_a_share_at_risk_that_cannot_be_reached_names_the_threshold():
    table = pa.table({"age": [1, 2, 3]})
    asked = Plan(
        columns={"age": "quasi"},
        models=[{"name": "share-at-risk", "share": 0.1, "threshold": 0.1}],
    )
    with pytest.raises(CannotReach, match="higher threshold"):
        shoal.anonymize(table, asked)
