"""Lower bounds of a comparison: where they are shown, and why there is none."""

from __future__ import annotations

import csv
import io
from functools import partial
from importlib import import_module

import pyarrow as pa
import pytest

from shoal.cli.screens.comparison_table import show_comparison
from shoal.io.frames import open_frame
from shoal.measures.bounds.lower_bound import Bound
from shoal.table.encode import encode
from tests.cli.test_console import printed
from tests.comparing.tables import compare, plan, table

compare_module = import_module("shoal.comparing.compare")


def test_a_lower_bound_has_its_line(several, tmp_path):
    assert all(several.lower_bounds[k] > 0 for k in (2, 6))
    out = printed(show_comparison, several)
    assert out.count("proven lower bound") == 2
    assert f"{several.lower_bounds[6]:.2f}" in out
    numbers = several.as_dict()
    assert numbers["lower_bounds"] == {str(k): several.lower_bounds[k] for k in (2, 6)}
    assert numbers["bound"]["6"] == several.bounds[6].as_dict()
    assert numbers["bound"]["6"]["value"] == numbers["bound"]["6"]["percent"]
    assert numbers["bound"]["6"]["covers"] == ["k-anonymity"]
    assert numbers["bound"]["6"]["k"] == 6
    for row in csv.DictReader(io.StringIO(several.csv())):
        assert float(row["bound"]) == pytest.approx(several.lower_bounds[int(row["k"])], 1e-5)
    several.plot(tmp_path / "c.svg")
    assert "proven lower bound" in (tmp_path / "c.svg").read_text()


def weights(by_sex, by_age):
    """Own weights for a table of age and sex."""
    tree = encode(open_frame(table()), plan().columns, "value", [""]).trees[0]
    ages = {str(label): by_age for label in tree.labels[1:]}
    return {"name": "weights", "edge_weights": {"sex": {"f": by_sex, "m": by_sex}, "age": ages}}


LOSSES = [
    (["nllm"], "nllm"),
    (["entropy"], "entropy"),
    ([weights(1.0, 0.001)], "weights"),
    ([weights(0.001, 1.0)], "weights"),
    ([weights(1.0, 0.001), weights(0.001, 1.0)], "mean"),
    (["ncp", weights(1.0, 0.001)], "mean"),
    (["auto"], "mean"),
]


@pytest.mark.parametrize(("losses", "judge"), LOSSES)
@pytest.mark.parametrize("own", ["nllm", pytest.param(weights(0.001, 1.0), marks=pytest.mark.slow)])
def test_no_run_loses_less_than_the_bound(losses, judge, own):
    """The bound is by the loss that judges, whatever loss the plan names."""
    found = compare(table(), plan(loss=own), k=[2, 4], algorithms=["peel", "gaa"], losses=losses)
    assert found.yardstick == judge
    assert not found.failed()
    for k in found.ks:
        assert 0 <= found.lower_bounds[k] <= found.best(k).lost(judge) + 1e-9
    assert found.lower_bounds[4] > 0


def test_guides_of_one_name_are_distinguished():
    both = [weights(1.0, 0.001), weights(0.001, 1.0)]
    found = compare(table(), plan(), algorithms=["gaa"], losses=both)
    assert sorted(found.guides) == ["weights 1", "weights 2"]
    assert len({found.name(line) for line in found.lines}) == 2


def test_why_there_is_no_bound_is_reported():
    linked = plan(models=[{"name": "k-concealment", "k": 3}], algorithm="concealment")
    free = {"age": {"role": "quasi", "hierarchy": {"free_ranges": True}}, "sex": "quasi"}
    skewed = {"role": "quasi", "hierarchy": {"tree": {"*": {"told": ["f", "m"], "not": ["?"]}}}}
    cases = {
        "k-concealment does not form classes": compare(table(), linked),
        "may be published as free": compare(
            table(), plan(columns={**free, "disease": "sensitive"}), algorithms=["gaa"]
        ),
        "can cost less, so no bound is known": compare(
            table().set_column(1, "sex", pa.array(["f", "m"] + ["?"] * 58)),
            plan(columns={**dict(plan().columns), "sex": skewed}),
            algorithms=["gaa"],
            losses=["entropy"],
        ),
    }
    for reason, found in cases.items():
        assert not found.lower_bounds
        assert found.as_dict()["lower_bounds"] == {}
        assert reason in found.as_dict()["bound"]["3"]["reason"]
        assert any("no lower bound for k = 3" in n and reason in n for n in found.notes)
        told = " ".join(printed(show_comparison, found).split())
        assert "proven lower bound" not in told
        assert "no lower bound for k = 3" in told
        assert found.table()[0]["bound"] is None


def test_a_search_that_was_stopped_is_reported(monkeypatch):
    short = partial(compare_module.lower_bound_for, most=200)
    monkeypatch.setattr(compare_module, "lower_bound_for", short)
    found = compare(table(), plan(), algorithms=["gaa"])
    assert found.bounds[3].reason
    assert found.bounds[3].reason in found.notes[-1]


def test_each_bound_is_computed_once_and_reports_progress(monkeypatch):
    asked, told = [], []

    def counted(table, k, loss, progress, known, models):
        asked.append((k, loss.name))
        progress("bounding", 0.5)
        return Bound(1.0, k=k)

    monkeypatch.setattr(compare_module, "lower_bound_for", counted)
    compare(table(), plan(), k=[2, 6], algorithms=["gaa", "peel"], losses=["ncp", "total"],
            progress=lambda *words: told.append(words))  # fmt: skip
    assert asked == [(2, "mean"), (6, "mean")]
    assert ("proving a lower bound, k = 6", 0.5) in told
    stages = {stage for stage, _ in told}
    assert "run 2 of 8: peel, k = 2, guided by ncp" in stages
    assert "run 2 of 8: peel, k = 2, guided by ncp: compiling or loading kernels" in stages
    assert "run 6 of 8: peel, k = 6, guided by ncp: compiling or loading kernels" not in stages
