"""What the advice on releases with almost no information says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv

import shoal
from shoal.plan.less_lost import less_lost
from shoal.report.facts import facts
from shoal.report.page import render
from shoal.report.release_report import page


def test_little_left_with_delta_presence_names_the_algorithm_that_keeps_more(tmp_path):
    """Classes of others overlap in the population, and are made one."""
    rng = np.random.default_rng(2)
    people = pa.table({name: rng.integers(0, 8, 800) for name in "abc"})
    pa.csv.write_csv(people, tmp_path / "people.csv")
    columns = {name: {"role": "quasi", "hierarchy": {"ranges": [2, 4]}} for name in "abc"}
    models = [{"name": "k-anonymity", "k": 3}, {"name": "delta-presence", "high": 0.2}]
    plan = shoal.Plan(
        columns=columns,
        models=models,
        population={"data": tmp_path / "people.csv"},
        seed=1,
        algorithm="peel",
    )
    sample = people.slice(0, 40)
    found = {}
    for name in ("peel", "full-domain"):
        release = shoal.anonymize(sample, plan.changed(algorithm=name))
        found[name] = release
    assert found["peel"].after.classes == 1 < found["full-domain"].after.classes
    out = less_lost(found["peel"].plan)
    assert less_lost(found["full-domain"].plan).startswith("weaker requirements")
    assert 'with delta-presence, algorithm = "full-domain" usually keeps more' in out
    less = found["full-domain"].quality.losses["nllm"]
    assert less < found["peel"].quality.losses["nllm"]
    assert "With delta-presence, algorithm = " in render(page(facts(found["peel"])))
