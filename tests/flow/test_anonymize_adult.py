"""Adult: the promised loss, and a second opinion on k."""

from __future__ import annotations

import json
import sys

import pandas as pd
import pytest

import shoal
from shoal import Hierarchy, Plan
from shoal.cli import main as cli
from shoal.datasets import adult
from shoal.datasets.adult import hierarchies

QUASI = list(hierarchies())
# education-num is education in numbers, and relationship reveals sex: they are accepted here.
OTHERS = [name for name in adult().column_names if name not in QUASI]


def adult_plan(k, **change):
    columns = dict.fromkeys(adult().column_names, "other")
    columns |= {
        name: {"role": "quasi", "hierarchy": Hierarchy.from_tree(tree)}
        for name, tree in hierarchies().items()
    }
    models = [{"name": "k-anonymity", "k": k}]
    return Plan(**{"columns": columns, "models": models, "accept": OTHERS, **change})


@pytest.mark.parametrize("k", [2, 5, 25])
def test_pycanon_agrees(k):
    """pycanon counts the classes of the published frame on its own."""
    anonymity = pytest.importorskip("pycanon.anonymity._k_anonymity")
    release = shoal.anonymize(adult().to_pandas(), adult_plan(k))
    assert anonymity.k_anonymity(release.frame, QUASI) == release.smallest_class >= k
    assert release.classes == len(release.frame.groupby(QUASI, dropna=False))


@pytest.mark.parametrize("weight", ["size", "unit"])
@pytest.mark.parametrize("candidates", ["all", "small"])
def test_released_twice_the_loss_is_the_same(weight, candidates):
    plan = adult_plan(10, algorithm={"name": "gaa", "weight": weight, "candidates": candidates})
    table = adult().slice(0, 3000)
    first, second = shoal.anonymize(table, plan), shoal.anonymize(table, plan)
    assert first.losses == second.losses
    assert first.smallest_class >= 10


def test_loss_at_five_with_our_hierarchies():
    release = shoal.anonymize(adult(), adult_plan(5, loss="nllm"))
    assert release.rows == 30_162
    assert release.losses["nllm"] < 7.0


def test_the_command_line_at_five(shared, tmp_path, monkeypatch):
    """`shoal anonymize` on Adult at k = 5, loss nllm, weights by size: below 7.0."""
    adult().to_pandas().to_csv(tmp_path / "adult.csv", index=False)
    folder = shared / "adult" / "hierarchies" / "arx"
    columns = {}
    for name in adult().column_names:
        columns[name] = {"role": "quasi" if name in QUASI else "other"}
        if name == "age":
            ages = pd.read_csv(folder / "age.csv", sep=";", header=None, dtype=str)
            rows = ages[ages[0].astype(int).between(17, 90)].to_numpy().tolist()
            columns[name]["hierarchy"] = Hierarchy.from_levels(rows)
        elif name in QUASI:
            columns[name]["hierarchy"] = folder / f"{name}.csv"
    models = [{"name": "k-anonymity", "k": 5}]
    plan = Plan(columns=columns, models=models, loss="nllm", accept=OTHERS)
    plan.save(tmp_path / "plan.toml")
    monkeypatch.chdir(tmp_path)
    words = "shoal anonymize adult.csv --plan plan.toml --out r.csv --json r.json"
    monkeypatch.setattr(sys, "argv", words.split())
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert not end.value.code
    numbers = json.loads((tmp_path / "r.json").read_text())
    assert numbers["losses"]["nllm"] < 7.0
    assert numbers["smallest_class"] >= 5
    published = pd.read_csv(tmp_path / "r.csv", dtype=str, keep_default_na=False)
    assert published.groupby(QUASI).size().min() == numbers["smallest_class"]
