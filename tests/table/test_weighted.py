"""Equal records counted together give the same numbers as the records one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan, catalog
from shoal.algorithms._shared.table_models import recode
from shoal.io.frames import open_frame
from shoal.losses.nllm import NLLM
from shoal.measures.breakdowns.value_widths import widths
from shoal.measures.exposure import expose
from shoal.measures.information_loss import measure
from shoal.measures.lower_bound import lower_bound
from shoal.measures.queries import Queries
from shoal.measures.utility import utility_of
from shoal.table.encode import Table, encode
from shoal.table.published_table import Published, read_published
from shoal.table.recoding import Recoding
from shoal.table.weighted import Weighted


def frame(seed: int, rows: int = 120) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(30, 40, rows),
            "sex": rng.choice(["f", "m", None], rows),
            "disease": rng.choice(["flu", "gout", "cold"], rows),
        }
    )


def plan(**change: object) -> Plan:
    columns = {
        "age": {"role": "quasi", "hierarchy": {"ranges": [2, 4, 8]}},
        "sex": "quasi",
        "disease": "sensitive",
    }
    asked = {"columns": columns, "models": [{"name": "k-anonymity", "k": 4}], "seed": 5}
    return Plan(**asked | change)


def tables(seed: int) -> tuple[Table, Table, Recoding, Recoding, Published]:
    """A table, the same weighted, a recoding of both, and what is published."""
    asked, data = plan(), frame(seed)
    rows = encode(open_frame(data), asked.columns)
    weighted = Weighted(rows)
    units = weighted.table(together=True)
    found = asked.algorithm.recode(units, asked.models, NLLM(), np.random.default_rng(1))
    released = shoal.anonymize(data, asked).frame
    published = read_published(open_frame(released), asked.columns)
    return rows, units, weighted.of_rows(found, together=True), found, published


@pytest.mark.parametrize("seed", range(8))
def test_all_measures_are_the_same(seed: int) -> None:
    asked = plan()
    rows, units, of_rows, of_units, published = tables(seed)
    together = published.together()
    assert len(units.codes) < len(rows.codes)
    assert len(together.codes) < len(published.codes)
    assert (units.rows, units.person_count) == (rows.rows, rows.person_count)
    assert together.rows == published.rows
    assert together.missing_cells == published.missing_cells
    assert expose(together, rows).as_dict() == expose(published, rows).as_dict()
    assert expose(together, units).as_dict() == expose(published, rows).as_dict()
    assert widths(asked.columns, together) == widths(asked.columns, published)
    before = measure(rows, published, NLLM(), of_rows)
    assert measure(units, together, NLLM(), of_units) == before
    asking = Queries(number=50)
    used = utility_of(rows, published, before, asked.models, asking)
    assert utility_of(units, together, before, asked.models, asking) == used
    assert lower_bound(units, 4, NLLM()) == lower_bound(rows, 4, NLLM())


def test_models_see_the_same_classes() -> None:
    _, _, _, _, published = tables(1)
    both = [published.classes, published.together().classes]
    sizes = [sorted(zip(one.size, one.people, strict=True)) for one in both]
    assert sizes[0] == sizes[1]
    for histograms in zip(*(one.histograms.values() for one in both), strict=True):
        rows, units = histograms
        order = [np.lexsort((h.value, h.of_class)) for h in (rows, units)]
        assert (rows.total == units.total).all()
        assert (rows.count[order[0]] == units.count[order[1]]).all()


@pytest.mark.parametrize("name", [n for n, a in catalog.algorithms.decided.items()
                                  if a.counts_together])  # fmt: skip
@pytest.mark.parametrize("models", [
    [{"name": "k-anonymity", "k": 4}],
    [{"name": "k-anonymity", "k": 3},
     {"name": "distinct-l-diversity", "column": "disease", "l": 2}],
    [{"name": "average-risk", "r": 0.2}],
])  # fmt: skip
def test_classes_do_not_depend_on_counting_together(name: str, models: list[dict]) -> None:
    """The recoding of the weighted table is that of its records in the same order."""
    asked = plan(models=models, algorithm=name)
    rows = encode(open_frame(frame(3)), asked.columns)
    weighted = Weighted(rows)
    one_by_one = weighted.table(together=False)
    algorithm = asked.algorithm
    rng = np.random.default_rng
    found = recode(algorithm, one_by_one, asked.models, NLLM(), rng(1))
    again = recode(algorithm, rows, asked.models, NLLM(), rng(1))
    assert (found.codes() == again.codes()[weighted.order]).all()
    if len(models) == 1 and models[0]["name"] == "k-anonymity":
        alone = algorithm.recode(one_by_one, asked.models, NLLM(), rng(1))
        assert (alone.codes() == found.codes()).all()


def test_the_weights_are_the_numbers_of_records() -> None:
    rows = encode(open_frame(frame(2)), plan().columns)
    units = Weighted(rows).table(together=True)
    assert units.weight is not None
    assert len({tuple(one) for one in np.c_[units.codes, units.sensitive[0].codes]}) == len(
        units.weight
    )
    again = replace(units, codes=np.repeat(units.codes, units.weight, axis=0), weight=None)
    assert sorted(map(tuple, again.codes)) == sorted(map(tuple, rows.codes))


@pytest.mark.parametrize("change", [
    {},
    {"models": [{"name": "k-anonymity", "k": 3},
                {"name": "entropy-l-diversity", "column": "disease", "l": 1.5}]},
    {"columns": {"age": {"role": "quasi", "hierarchy": {"ranges": [2, 4, 8]}}, "sex": "other",
                 "disease": "sensitive"}},
    {"algorithm": {"name": "full-domain", "suppression": 0.2}},
])  # fmt: skip
def test_a_release_has_the_numbers_of_its_records(
    monkeypatch: pytest.MonkeyPatch, change: dict
) -> None:
    def numbers() -> dict:
        found = shoal.anonymize(frame(4), plan(**change)).as_dict()
        return {key: found[key] for key in found if key not in ("seconds", "made")}

    together = numbers()
    counted = []

    def one_by_one(self: Published) -> Published:
        counted.append(self.rows)
        return self

    monkeypatch.setattr(Published, "together", one_by_one)
    assert numbers() == together
    assert len(counted) == 2  # the release and its original
