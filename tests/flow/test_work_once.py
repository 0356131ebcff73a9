"""A run codes each column once per table, and computes each loss once; counted, not timed."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import Plan, catalog
from shoal.losses import Loss
from shoal.table import coded_columns, coding, published_table

COLUMNS = ["patient", "age", "zip", "sex", "disease", "visit"]
REPORTED = [name for name, kind in catalog.losses.items() if kind.reported]


def patients() -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "patient": np.arange(120) // 2,
            "age": rng.integers(20, 60, 120),
            "zip": [f"{code}" for code in rng.integers(10000, 10040, 120)],
            "sex": rng.choice(["f", "m"], 120),
            "disease": rng.choice(["flu", "cold", "asthma"], 120),
            "visit": rng.integers(0, 99, 120),
        }
    )


def plan(**options) -> Plan:
    return Plan(
        columns={
            "patient": "person",
            "age": {"role": "quasi", "hierarchy": {"ranges": [5, 10, 20]}},
            "zip": {"role": "quasi", "hierarchy": {"prefixes": True}},
            "sex": "quasi",
            "disease": "sensitive",
            "visit": "other",
        },
        models=[
            {"name": "k-anonymity", "k": 3},
            {"name": "distinct-l-diversity", "column": "disease", "l": 2},
        ],
        seed=1,
        **options,
    )


@pytest.fixture
def calls(monkeypatch) -> Counter:
    """How often each loss was computed, a table read as published, and a column coded."""
    counted: Counter = Counter()

    def count(place, name, key):
        original = vars(place)[name]

        def counting(*given, **options):
            counted[key(*given)] += 1
            return original(*given, **options)

        monkeypatch.setattr(place, name, counting)

    for loss in {base for kind in catalog.losses.values() for base in kind.__mro__}:
        if issubclass(loss, Loss) and loss is not Loss and "costs" in vars(loss):
            count(loss, "costs", lambda self, _: f"costs of {self.name}")
    for name in ("anonymize", "audit", "publish", "release"):
        importlib.import_module(f"shoal.flow.{name}")  # a module that is loaded later would keep it
    read = published_table.read_published
    for module in [one for name, one in sys.modules.items() if name.startswith("shoal.")]:
        if vars(module).get("read_published") is read:
            count(module, "read_published", lambda *_: "tables read")
        if vars(module).get("value_codes") is not None:
            assert module in (coding, coded_columns), "columns are coded by coded_columns only"
    count(coded_columns, "value_codes", lambda *_: "columns coded")
    return counted


def test_a_run_with_its_report(calls, tmp_path):
    release = shoal.anonymize(patients(), plan())
    release.report(tmp_path / "report.html", explain=True)
    release.as_dict()
    # The columns of the original, `visit` for what it reveals, then those of the release.
    assert calls.pop("columns coded") == len(COLUMNS) + len(COLUMNS)
    assert calls.pop("tables read") == 2
    assert calls == {f"costs of {name}": 1 for name in REPORTED}


def test_an_audit(calls):
    published = shoal.anonymize(patients(), plan()).frame
    calls.clear()
    shoal.audit(published, plan(), original=patients())
    assert calls.pop("columns coded") == 2 * len(COLUMNS)
    assert calls.pop("tables read") == 1
    assert calls == {f"costs of {name}": 1 for name in REPORTED}


def test_columns_that_auto_makes_free_are_not_coded_again(calls):
    release = shoal.anonymize(patients(), plan(algorithm="auto"))
    assert len(release.tried) > 1
    assert calls["columns coded"] == 2 * len(COLUMNS)


def test_the_file_is_read_again(calls, tmp_path: Path):
    release = shoal.anonymize(patients(), plan())
    calls.clear()
    release.save(tmp_path / "release.csv")
    assert calls["tables read"] == 1
    assert calls["columns coded"] == len(COLUMNS) - 1  # `visit` takes no part in verifying


def test_what_is_verified_is_coded_from_the_frame_that_would_be_published(monkeypatch):
    known = []
    read = published_table.read_published

    def watched(frame, *given):
        known.append((frame.names, bool(frame.memo)))
        return read(frame, *given)

    monkeypatch.setattr("shoal.flow.publish.read_published", watched)
    shoal.anonymize(patients(), plan())
    assert known == [(COLUMNS, False), (COLUMNS, True)]  # the release, then the original
